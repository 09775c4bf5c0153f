//! Budget shares of a pack's sections, by intent.

use serde::Serialize;

use crate::recall::Intent;

/// Default budget of a pack in tokens.
pub const DEFAULT_TOKENS: usize = 1_800;

/// Maximum number of tokens for the description of the user.
pub(super) const WHO_TOKENS: usize = 120;

/// A section of the changing part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Open goals, tasks and problems.
    Goals,
    /// Values, preferences and rules the user lives by, and reflective notes the user agreed with.
    SelfModel,
    /// Quotations and the statements read from them, in chronological order.
    Found,
}

impl Section {
    /// All sections, in printing order.
    pub(super) const ALL: [Self; 3] = [Self::Goals, Self::SelfModel, Self::Found];

    /// Its fixed heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Goals => "Goals and open tasks",
            Self::SelfModel => "Lived by",
            Self::Found => "Found",
        }
    }
}

/// Sections of an intent with the percentage of the budget they may spend before the others.
pub(super) fn floors(intent: Intent) -> &'static [(Section, usize)] {
    match intent {
        Intent::Plan => &[(Section::Goals, 12), (Section::SelfModel, 8)],
        Intent::Decide | Intent::Reflect => &[(Section::SelfModel, 12), (Section::Goals, 8)],
        Intent::Nudge => &[(Section::SelfModel, 20), (Section::Goals, 20)],
        Intent::Recall => &[],
    }
}

/// Percentage of the budget an intent may spend; a nudge is kept short.
pub(super) fn percent(intent: Intent) -> usize {
    if intent == Intent::Nudge { 25 } else { 100 }
}
