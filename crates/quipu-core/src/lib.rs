//! The pure core of Quipu: events, the fold, decisions, and the stages of recall and packing.
//!
//! No I/O, clock, randomness or async: time and ids are arguments. `quipu-engine` executes the decisions.

pub mod artifact;
pub mod beginning;
pub mod calendar;
pub mod core_document;
pub mod difference;
pub mod episode;
pub mod event;
pub mod evolve;
pub mod extract;
pub mod growth;
pub mod guard;
pub mod history;
pub mod id;
pub mod item;
pub mod items;
pub mod ledger;
pub mod limit;
pub mod memory;
pub mod pack;
pub mod predicate;
pub mod recall;
pub mod reconcile;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod recorded;
pub mod refusal;
#[cfg(feature = "schema")]
pub mod schema;
pub mod session;
pub mod source;
mod text;

pub use memory::Memory;
pub use refusal::Refusal;
