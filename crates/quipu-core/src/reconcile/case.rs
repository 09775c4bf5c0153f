//! What a decision is made on.

use jiff::Timestamp;

use super::OutcomeKind;
use crate::core_document::Registry;
use crate::extract::{FactCandidate, Reading};
use crate::id::ItemId;
use crate::item::Evidence;
use crate::memory::Memory;
use crate::predicate::Predicates;

/// One source to decide on, and what is known when it is decided.
#[derive(Clone, Copy)]
pub struct ReconcileInput<'a> {
    /// The memory as it is.
    pub memory: &'a Memory,
    /// What relations mean.
    pub predicates: &'a Predicates,
    /// What the core document may hold.
    pub registry: &'a Registry,
    /// The knobs.
    pub policy: &'a Policy,
    /// The source.
    pub source: ItemId,
    /// Its text as it was read.
    pub reading: Reading<'a>,
    /// Its class and trust.
    pub standing: OutcomeKind,
    /// When this is decided; stands in where nobody knows when something was said.
    pub now: Timestamp,
    /// Sentences the user was shown from memory: they are not read again.
    pub shown: &'a dyn Fn(&str) -> bool,
    /// The item nearest to a sentence, and its cosine; `None` where nothing can be compared.
    pub nearest: &'a dyn Fn(&FactCandidate) -> Option<(ItemId, f32)>,
}

impl ReconcileInput<'_> {
    /// When it was said, as far as anybody knows.
    pub fn said_at(&self) -> Timestamp {
        self.reading.said_at.unwrap_or(self.now)
    }

    pub(super) fn evidence(&self, span: &std::ops::Range<usize>) -> Evidence {
        let place = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        Evidence { source: self.source, start: place(span.start), end: place(span.end) }
    }

    pub(super) fn quote(&self, span: &std::ops::Range<usize>) -> &str {
        self.reading.text.get(span.clone()).unwrap_or_default()
    }
}

/// The knobs of writing, with their defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Least confidence of a candidate; default 0.7.
    pub confidence_min: f64,
    /// From this cosine on a candidate is the item it resembles; default 0.92.
    pub novelty_cosine_max: f32,
    /// Least confidence at which a fact changes the core document without a person; default 0.8.
    pub core_confidence_min: f64,
    /// A source that is less credible by this much does not end what is known: it contests it; default 0.2.
    pub contest_gap: f64,
    /// Keep sensitive statements (religion, orientation, …); default no.
    pub keep_sensitive: bool,
    /// From this importance on a conflict is put to the user as a question; default 0.5.
    pub question_importance_min: f64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            confidence_min: 0.7,
            novelty_cosine_max: 0.92,
            core_confidence_min: 0.8,
            contest_gap: 0.2,
            keep_sensitive: false,
            question_importance_min: 0.5,
        }
    }
}
