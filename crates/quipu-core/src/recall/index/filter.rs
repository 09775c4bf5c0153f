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
}

impl Filter {
    /// Returns true if nothing is restricted.
    pub fn is_open(&self) -> bool {
        self.sessions.is_empty() && self.source_kinds().is_empty()
    }

    /// The kinds of sources allowed. If derived items are requested, every source may support them.
    pub(in crate::recall) fn source_kinds(&self) -> &[ItemKind] {
        let drawn =
            |kind: &ItemKind| !matches!(kind, ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import);
        if self.kinds.iter().any(drawn) { &[] } else { &self.kinds }
    }

    /// Returns true if items of this kind may be returned.
    pub fn admits_kind(&self, kind: ItemKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}
