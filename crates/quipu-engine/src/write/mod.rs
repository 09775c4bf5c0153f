//! Verbs that record: what was said, what a person edits or takes back, and what other programs hand in.

pub mod agent_files;
pub(crate) mod core_document;
pub(crate) mod entry_point;
pub(crate) mod hand_words;
pub mod ingest;
pub(crate) mod novelty;
pub(crate) mod origins;
pub mod ready_made;
pub(crate) mod remember;
pub(crate) mod replayed_answer;
pub(crate) mod retract;
pub(crate) mod reword;
