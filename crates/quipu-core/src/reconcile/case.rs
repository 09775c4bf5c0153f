//! The input of reconciliation.

use jiff::Timestamp;

use super::OutcomeKind;
use crate::core_document::Registry;
use crate::extract::{FactCandidate, Reading};
use crate::id::ItemId;
use crate::item::Evidence;
use crate::memory::Memory;
use crate::predicate::Predicates;

/// A source to reconcile, with its context.
#[derive(Clone, Copy)]
pub struct ReconcileInput<'a> {
    /// The current memory.
    pub memory: &'a Memory,
    /// The predicate registry.
    pub predicates: &'a Predicates,
    /// The category registry.
    pub registry: &'a Registry,
    /// The options.
    pub policy: &'a Policy,
    /// The source.
    pub source: ItemId,
    /// What was extracted from it.
    pub reading: Reading<'a>,
    /// Its kind and trust.
    pub standing: OutcomeKind,
    /// The time of the decision; used where no other time is known.
    pub now: Timestamp,
    /// True for sentences shown from memory recently, which are not read again.
    pub shown: &'a dyn Fn(&str) -> bool,
    /// The item nearest to a candidate, with its cosine similarity; `None` if there is no comparison.
    pub nearest: &'a dyn Fn(&FactCandidate) -> Option<(ItemId, f32)>,
}

impl ReconcileInput<'_> {
    /// When it was said by the speaker's clock, or else the time of the decision. What holds is judged by it.
    pub fn said_at(&self) -> Timestamp {
        self.reading.said_at.unwrap_or_else(|| self.memory.local(self.now))
    }

    /// The moment at which it was said, or else that of the decision. It dates when something was told.
    pub(super) fn told_at(&self) -> Timestamp {
        self.moment().unwrap_or(self.now)
    }

    /// The moment at which it was said, if known.
    pub(super) fn moment(&self) -> Option<Timestamp> {
        let source = self.memory.get(self.source).map(|held| &held.source);
        source.filter(|source| source.utc_offset().is_some()).map_or(self.reading.said_at, |source| source.said_at)
    }

    /// The time of the decision by the user's clock, or that of the words if a clock is wrong.
    pub(super) fn present(&self) -> Timestamp {
        self.memory.local(self.now).max(self.said_at())
    }

    pub(super) fn evidence(&self, span: &std::ops::Range<usize>) -> Evidence {
        let place = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        Evidence { source: self.source, start: place(span.start), end: place(span.end) }
    }

    pub(super) fn quote(&self, span: &std::ops::Range<usize>) -> &str {
        self.reading.text.get(span.clone()).unwrap_or_default()
    }

    /// The sentences that a span is part of, to their punctuation or the ends of their lines.
    pub(super) fn sentences(&self, span: &std::ops::Range<usize>) -> &str {
        const ENDS: [char; 4] = ['.', '!', '?', '\n'];
        let text = self.reading.text;
        let (Some(before), Some(after)) = (text.get(..span.start), text.get(span.end..)) else { return "" };
        let start = before.rfind(ENDS).map_or(0, |at| at + 1);
        let end = after.find(ENDS).map_or(text.len(), |at| span.end + at);
        &text[start..end]
    }
}

/// The options of reconciliation, with their defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Least confidence of a candidate; default 0.7.
    pub confidence_min: f64,
    /// Cosine similarity from which on a candidate equals the known item; default 0.92.
    pub novelty_cosine_max: f32,
    /// Least confidence at which a fact changes the core document without a review; default 0.8.
    pub core_confidence_min: f64,
    /// A source less credible by at least this much contests a known fact instead of ending it; default 0.2.
    pub contest_gap: f64,
    /// Stores sensitive statements (religion, orientation, …); default no.
    pub keep_sensitive: bool,
    /// Importance from which on a conflict opens a review; default 0.5.
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
