//! Report of an import: counts, and what was skipped or repaired.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use quipu_core::limit;
use quipu_core::source::Source;

/// Something that was skipped or repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Place in the input: `line 12, message 3`, `conv-26 D3:4`.
    pub place: String,
    /// What was wrong, and what was done.
    pub reason: String,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// Counts of what was delivered so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Batches delivered.
    pub batches: u64,
    /// Sources delivered.
    pub sources: u64,
    /// Delivered sources without a time.
    pub undated: u64,
    /// The earliest known time.
    pub earliest: Option<Timestamp>,
    /// The latest known time.
    pub latest: Option<Timestamp>,
    /// The first `limit::IMPORT_NOTICES_MAX` notices.
    pub notices: Vec<Notice>,
    /// Number of further notices.
    pub notices_more: u64,
    /// What was left out, counted by reason. Some of it is also in the notices.
    pub left_out: BTreeMap<Cow<'static, str>, u64>,
}

impl Report {
    pub(crate) fn notice(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        if self.notices.len() < limit::IMPORT_NOTICES_MAX {
            self.notices.push(Notice { place: place.into(), reason: reason.into() });
        } else {
            self.notices_more += 1;
        }
    }

    /// Counts something that was not imported. Reasons are plural nouns that follow a number.
    pub(crate) fn leave_out(&mut self, reason: impl Into<Cow<'static, str>>, count: u64) {
        if count > 0 {
            *self.left_out.entry(reason.into()).or_default() += count;
        }
    }

    /// The counts of a batch.
    pub(super) fn of(sources: &[Source]) -> Self {
        Self {
            batches: 1,
            sources: sources.len() as u64,
            undated: sources.iter().filter(|source| source.said_at.is_none()).count() as u64,
            earliest: sources.iter().filter_map(|source| source.said_at).min(),
            latest: sources.iter().filter_map(|source| source.said_at).max(),
            ..Self::default()
        }
    }

    /// Adds the counts of another report, but not its notices.
    pub(super) fn count(&mut self, other: &Self) {
        self.batches += other.batches;
        self.sources += other.sources;
        self.undated += other.undated;
        self.earliest = self.earliest.into_iter().chain(other.earliest).min();
        self.latest = self.latest.into_iter().chain(other.latest).max();
    }
}
