//! Sessions: their base truth, turn logs, episodes, and the windows shown to language models.

pub(crate) mod base_truth;
pub(crate) mod episodes;
pub(crate) mod overview;
pub(crate) mod summarize;
pub(crate) mod window;
