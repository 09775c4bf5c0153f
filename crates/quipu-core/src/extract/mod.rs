//! Extraction: what can be read in a source. Candidates only; nothing here decides what is kept.

mod candidate;

pub use candidate::{Extraction, FactCandidate, PassedOver, Reading, Stance, TaskCandidate, TaskKind, TaskNews, USER};
