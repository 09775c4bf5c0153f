//! Extraction of candidates from a source. The gate decides which of them are stored.
//!
//! [`LanguageRules`] extracts without a model: it splits a text into sentences and clauses, skips what is not a claim,
//! and matches the verb of each clause against patterns. All words of a language are in a data file, none in the code.

mod candidate;
mod rules;
pub mod window;

mod claim;
mod keep;
mod language;
mod language_rules;
mod object;
mod persons;
mod plain;
mod reader;
mod settle;
mod split;
mod standing;
mod updates;
mod verb;
mod when;

pub use candidate::{
    CONSTRAINT, Extraction, FactCandidate, NoteCandidate, PassedOver, REMARK, Reading, ReadyMadeDetails, Stance,
    TaskCandidate, TaskKind, TaskNews, TenetCandidate, USER, UpdateCandidate, UpdateNews,
};
pub use language_rules::LanguageRules;
pub use when::SpokenDate;

#[cfg(test)]
mod tests;
