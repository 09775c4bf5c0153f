//! The operations of the memory engine, in modules by purpose, and the ports that concrete stores and models implement.
//!
//! The engine decides with `quipu-core` and stores its decisions through its [`ports`]. It reads no settings, depends
//! on no concrete store or model, and takes time and randomness from its ports only. Operations are blocking functions
//! that take an [`Engine`], which can be shared between threads.

mod admin;
mod context;
mod engine;
mod error;
pub mod files;
mod growth;
mod history;
pub mod lock;
mod memory;
pub mod ports;
mod process;
mod read;
mod review;
mod sessions;
mod transfer;
mod write;

pub use admin::{keys, status};
pub use history::{erase, fork, log, revert, verify, versions};
pub use transfer::{backup, bundle, export, import, migrate, move_ledgers};
pub use write::{agent_files, ingest, memories, ready_made};

pub use admin::gauges::{Gauges, gauges};
pub use admin::status::{Status, doctor, status, users};
pub use context::block::{ContextOptions, JudgedContext, context, judged_context};
pub use context::pack_id::{Reproduced, reproduce};
pub use context::reply::{ReplyContext, ReplyContextOptions, reply_context};
pub use context::session::{SessionContext, SessionContextOptions, session_context};
pub use engine::{Engine, EngineParts, EngineRules, OptionalParts};
pub use error::{Error, Result};
pub use files::{VaultOptions, VaultReport};
pub use growth::compact::{CompactReport, compact};
pub use growth::consolidate::{ConsolidateOptions, ConsolidateReport, ConsolidationEvent};
pub use growth::evolve::{
    CategoryShown, Evolution, EvolveOptions, Pattern, PromoteReport, PromoteRequest, PromotionPreview, evolve, promote,
    schema,
};
pub use growth::reflect::reflect;
pub use history::announce::{Announced, Announcement, announce_deletion, announce_erasure};
pub use history::blame::{BlameStep, blame};
pub use history::diff::diff;
pub use history::erase::{ErasurePreview, ErasureReceipt, ErasureTarget, erase, preview_erase};
pub use history::erasure_epoch::{ErasureEpoch, erasure_epoch, texts_kept};
pub use history::fork::{chosen, fork, pick};
pub use history::item_versions::{Version, versions_of};
pub use history::log::{LogOptions, log};
pub use history::revert::{preview_revert, revert};
pub use history::verify::{VerifyReport, verify};
pub use history::versions::{core_at, show};
pub use memory::checkpoint::{Rebuilt, rebuild, snapshot};
pub use memory::entry_point::{EnteredItems, EntryPoint, entered, users_entered};
pub use memory::{Freshness, MemoryRef, OpenLimits, Progress, Receipt, Watch, commit::recorded_at};
pub use process::extract_with_model::{
    ExtractWithModelOptions, ModelReading, ReadingCost, extract_with_model, reading_cost,
};
pub use process::maintain::{
    Due, MaintainOptions, MaintenanceReport, MaintenanceStep, StepReport, due, maintain, maintain_while, maintained_at,
};
pub use process::pipeline::{Budget, Processed, Until, process};
pub use process::reread::{Reread, RereadPreview, preview_reread, reread};
pub use read::answers::{Answer, OmittedAnswer, Quote};
pub use read::hits::{flush_hits, keep_hits};
pub use read::items::{Item, ItemPage, ItemReceipts, ListOptions, get, list, mark, why, words};
pub use read::list::{
    Conflict, FactOptions, FactShown, ItemHistory, ItemView, conflicts, episodes, episodes_about, facts, history, look,
    notes, tasks, tenets,
};
pub use read::recall::{RecallDecision, RecallOptions, RecallReport, Timing, recall};
pub use review::delegated::relay_decision;
pub use review::propose::{ProposedAction, propose};
pub use review::queue::{Reviews, ReviewsAsked, Waiting, decide_review, review_page, reviews, undo_review, waiting};
pub use sessions::base_truth::{Consolidated, SessionEnd, consolidate, end_session, set_base_truth, unset_base_truth};
pub use sessions::episodes::tell_episodes;
pub use sessions::overview::{
    SessionShown, SessionState, TruthShown, TurnShown, session, session_artifacts, session_snapshots, sessions,
};
pub use sessions::summarize::{SummarizeOptions, SummarizeReport, summarize};
pub use transfer::migrate::{MigrateOptions, Migration, migrate};
pub use write::core_document::{CoreEdit, PatchOptions, edit_core};
pub use write::ingest::{IngestOptions, IngestReport, NamedContent, ingest, ingest_given};
pub use write::memories::first_foreign;
pub use write::origins::{ImportOrigin, origins};
pub use write::ready_made::{WriteReport, WriteRequest, write};
pub use write::remember::{RememberOptions, Utterance, remember, remember_all};
pub use write::retract::{close_fact, correct_fact, merge, retract, score_fact, set_task_status};
pub use write::reword::reword;
