//! Extraction: what can be read in a source. Candidates only; nothing here decides what is kept.
//!
//! [`Rules`] reads without a model: a text is cut into sentences and clauses, what is not a claim is left alone, and the
//! verb of each clause is matched against patterns. Every word of a language stands in a data file, none in the code.

mod candidate;
mod rules;
pub mod window;

mod claim;
mod keep;
mod object;
mod persons;
mod plain;
mod reader;
mod settle;
mod split;
mod standing;
mod statement;
mod updates;
mod verb;
mod when;

pub use candidate::{
    Extraction, FactCandidate, NoteCandidate, PassedOver, REMARK, Reading, ReadyMadeDetails, Stance, TaskCandidate,
    TaskKind, TaskNews, TenetCandidate, USER, UpdateCandidate, UpdateNews,
};
pub use rules::compiled::LanguageRules;
pub use when::SpokenDate;

#[cfg(test)]
mod tests;
