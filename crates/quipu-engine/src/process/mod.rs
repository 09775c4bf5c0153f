//! What is made of words after they are durable: indexing, extraction, maintenance.

pub(crate) mod deadline;
pub(crate) mod extract_with_model;
pub(crate) mod maintain;
pub(crate) mod pipeline;
pub(crate) mod understand;
pub(crate) mod unread;
