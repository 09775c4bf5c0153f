//! Plain files: renders a memory as a folder that people can read, compare and archive.
//!
//! There are three layers, each built from the one below without changing it: **entries** (the sources and items of one
//! day about one topic; never rewritten once closed), **topic memories** (from the entries' summaries alone), and the
//! **global memory** (from the topic memories alone). The folder also holds the ledger lines and an audit log.
//! Everything is derived from the ledger: the same ledger gives the same bytes.

mod audit;
mod edits;
mod entry;
mod gather;
mod global;
mod markdown;
mod name;
mod page;
mod rows;
mod schema;
mod sentences;
mod topic;

#[cfg(test)]
mod tests;

pub use audit::{AuditStatus, audit_line, segment_of};
pub(crate) use edits::new_value;
pub use edits::{PageEdit, edits_of_json, edits_of_page, propose};
pub(crate) use edits::{clipped, reworded};
pub use entry::{ArtifactEntry, Meta, SourceLine, Summary};
pub use gather::{Day, entries};
pub use global::{FactGroup, GlobalMemory, NoteLine, PermanentFact, Snapshot, TenetLine, Tier};
pub use markdown::{escape, unescape};
pub use name::{Slug, VaultPath, folder_of, topic_slug};
pub use page::{block_id, fact_of_block, global_page, raw_page, topic_page};
pub use rows::{EpisodeRow, FactRow, NoteRow, QuestionRow, TaskRow, TenetRow};
pub use schema::{
    ENTRY_META, ENTRY_SUMMARY, FileSchema, GLOBAL_MEMORY, SchemaUpgrade, Schemas, TOPIC_MEMORY, VAULT, to_page,
};
pub use topic::{EntryLine, State, TopicMemory};
