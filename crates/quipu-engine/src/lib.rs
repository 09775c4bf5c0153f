//! What memory does: one file a verb, and the ports a concrete store or model plugs into.
//!
//! The engine decides with `quipu-core` and keeps what it decided through its [`ports`]. It reads no settings, names no
//! concrete store or model, and asks nobody but its ports for the time or for randomness. Verbs are plain functions
//! over an [`Engine`]; they block until done, and an engine may be shared between threads.

pub mod ports;

mod announce;
mod answered;
mod base_truth;
mod blame;
mod compact;
mod context;
mod core_document;
mod derived;
mod diff;
mod drawn;
mod engine;
mod entry_point;
mod episodes;
mod erasure_epoch;
mod error;
mod evolve;
mod grow;
mod hand_words;
mod hits;
mod items;
mod kept;
mod late;
pub mod lock;
mod meaning;
mod memory;
mod naming;
mod novelty;
mod offers;
mod origins;
mod pack_id;
mod process;
mod propose;
mod recall;
mod reflect;
mod relay;
mod remember;
mod reply_context;
mod rerank;
mod retold;
mod retract;
mod review;
mod reword;
mod scan;
mod session_context;
mod sessions;
mod standing;
mod summarize;
mod tend;
mod understand;
mod unread;

mod answers;
pub mod backup;
pub mod bundle;
pub mod erase;
pub mod export;
mod extract_with_model;
pub mod fork;
pub mod import;
pub mod ingest;
pub mod keys;
pub mod log;
pub mod memories;
pub mod migrate;
mod restore;
pub mod revert;
pub mod shelf;
pub mod status;
pub mod vault;
pub mod verify;
pub mod versions;
mod window;
pub mod write;

pub use announce::{Announced, Announcement, announce_deletion, announce_erasure};
pub use answers::{Answer, LeftOut, Quote};
pub use base_truth::{Consolidated, SessionEnd, consolidate, end_session, set_base_truth, unset_base_truth};
pub use blame::{Step, blame};
pub use compact::{CompactReport, compact};
pub use context::{ContextOptions, JudgedContext, context, judged_context};
pub use core_document::{Edit, PatchOptions, edit_core};
pub use diff::diff;
pub use drawn::{
    Conflict, FactOptions, FactShown, Look, Story, conflicts, episodes, episodes_about, facts, history, look, notes,
    tasks, tenets,
};
pub use engine::{Aids, Engine, Parts, Rules};
pub use entry_point::{Entered, EntryPoint, entered, first_foreign, users_entered};
pub use episodes::tell_episodes;
pub use erase::{ErasurePreview, ErasureReceipt, Going, erase, preview_erase};
pub use erasure_epoch::{ErasureEpoch, erasure_epoch, texts_kept};
pub use error::{Error, Result};
pub use evolve::{
    CategoryShown, Evolution, EvolveOptions, Pattern, Preview, PromoteReport, PromoteRequest, evolve, promote, schema,
};
pub use extract_with_model::{ExtractWithModelOptions, ModelReading, ReadingCost, extract_with_model, reading_cost};
pub use fork::{chosen, fork, pick};
pub use grow::{GrowOptions, GrowReport, Grown};
pub use hits::{flush_hits, keep_hits};
pub use ingest::{Given, IngestOptions, IngestReport, ingest, ingest_given};
pub use items::{Item, ItemPage, ListOptions, Why, get, list, mark, why, words};
pub use log::{LogOptions, log};
pub use memory::checkpoint::{Rebuilt, rebuild, snapshot};
pub use memory::{MemoryRef, OpenLimits, Progress, Receipt, Watch, commit::recorded_at};
pub use migrate::{MigrateOptions, Migration, migrate};
pub use origins::{Origin, origins};
pub use pack_id::{Reproduced, reproduce};
pub use process::{Budget, Processed, Until, process};
pub use propose::{Wanted, propose};
pub use recall::{Decision, RecallOptions, RecallReport, Timing, recall};
pub use reflect::reflect;
pub use relay::relay_decision;
pub use remember::{RememberOptions, Utterance, remember, remember_all};
pub use reply_context::{ReplyContext, ReplyContextOptions, reply_context};
pub use retold::{Version, versions_of};
pub use retract::{close_fact, correct_fact, merge, retract, score_fact};
pub use revert::{preview_revert, revert};
pub use review::{Reviews, ReviewsAsked, Waiting, decide_review, review_page, reviews, undo_review, waiting};
pub use reword::reword;
pub use session_context::{SessionContext, SessionContextOptions, session_context};
pub use sessions::{
    SessionShown, SessionState, TruthShown, TurnShown, session, session_artifacts, session_snapshots, sessions,
};
pub use standing::{Standing, standing};
pub use status::{Status, doctor, status, users};
pub use summarize::{SummarizeOptions, SummarizeReport, summarize};
pub use tend::{Due, StepReport, TendOptions, TendReport, TendStep, due, maintained_at, tend, tend_while};
pub use understand::{Reread, reread};
pub use vault::{VaultOptions, VaultReport};
pub use verify::{VerifyReport, verify};
pub use versions::{core_at, show};
pub use write::{WriteReport, WriteRequest, write};
