//! Conversations: their base truth, their turn logs and their episodes.

pub(crate) mod base_truth;
pub(crate) mod episodes;
pub(crate) mod overview;
pub(crate) mod summarize;
pub(crate) mod window;
