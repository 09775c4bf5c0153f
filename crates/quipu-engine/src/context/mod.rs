//! Builds blocks of memory for a model's prompt, within a token budget.

pub(crate) mod block;
pub(crate) mod offers;
pub(crate) mod pack_id;
pub(crate) mod reply;
pub(crate) mod session;
pub(crate) mod stable_part;
