//! The queue of everything that waits for a person's decision.

pub(crate) mod delegated;
pub(crate) mod propose;
pub(crate) mod queue;
