//! Restrictions on what a recall may return.

use std::sync::Arc;

use crate::id::ItemKind;

/// Restricts the results. An empty list means no restriction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only items of these sessions.
    pub sessions: Vec<Arc<str>>,
    /// Only items of these kinds.
    pub kinds: Vec<ItemKind>,
    /// Only what was said from the first of these days to the last, in days since 1970 on the speaker's clock.
    pub days: Option<(i32, i32)>,
}

impl Filter {
    /// Returns true if nothing is restricted.
    pub fn is_open(&self) -> bool {
        self.sessions.is_empty() && self.source_kinds().is_empty() && self.days.is_none()
    }

    /// The kinds of sources allowed. If derived items are requested, every source may support them.
    pub(in crate::recall) fn source_kinds(&self) -> &[ItemKind] {
        let drawn =
            |kind: &ItemKind| !matches!(kind, ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import);
        if self.kinds.iter().any(drawn) { &[] } else { &self.kinds }
    }

    /// Returns true if something said on this day may be returned.
    pub(in crate::recall) fn admits_day(&self, day: i32) -> bool {
        self.days.is_none_or(|(first, last)| (first..=last).contains(&day))
    }

    /// Returns true if items of this kind may be returned.
    pub fn admits_kind(&self, kind: ItemKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}
