//! Records: messages, imports, edits and retractions by a person, and items from other programs.

pub mod agent_files;
pub(crate) mod core_document;
pub(crate) mod documents;
pub(crate) mod hand_words;
pub mod ingest;
pub mod memories;
pub(crate) mod novelty;
pub(crate) mod origins;
pub mod ready_made;
pub(crate) mod remember;
pub(crate) mod replayed_answer;
pub(crate) mod retract;
pub(crate) mod reword;
