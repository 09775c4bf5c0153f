//! Processes recorded sources in the background: embedding, extraction, summaries, maintenance.

pub(crate) mod deadline;
pub(crate) mod extract_with_model;
pub(crate) mod maintain;
pub(crate) mod pipeline;
pub(crate) mod reread;
pub(crate) mod understand;
pub(crate) mod unread;
