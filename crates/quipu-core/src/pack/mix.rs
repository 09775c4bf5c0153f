//! What a pack keeps room for, by what it is for.

use serde::Serialize;

use crate::recall::Intent;

/// What a pack costs at most if nobody says otherwise.
pub const DEFAULT_TOKENS: usize = 1_800;

/// What may be said of who the user is, before any question.
pub(super) const WHO_TOKENS: usize = 120;

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Goals, tasks and problems that are open.
    Goals,
    /// Values, preferences, rules the user lives by, and reflective notes that agree.
    SelfModel,
    /// What was said and what was understood of it, in the order of time.
    Found,
}

impl Section {
    /// Every section, in the order in which they are printed.
    pub(super) const ALL: [Self; 3] = [Self::Goals, Self::SelfModel, Self::Found];

    /// Its heading, always the same.
    pub fn title(self) -> &'static str {
        match self {
            Self::Goals => "Goals and open tasks",
            Self::SelfModel => "Lived by",
            Self::Found => "Found",
        }
    }
}

/// Sections of an intent that may spend so many percent of what there is before anything else does.
pub(super) fn floors(intent: Intent) -> &'static [(Section, usize)] {
    match intent {
        Intent::Plan => &[(Section::Goals, 12), (Section::SelfModel, 8)],
        Intent::Decide | Intent::Reflect => &[(Section::SelfModel, 12), (Section::Goals, 8)],
        Intent::Nudge => &[(Section::SelfModel, 20), (Section::Goals, 20)],
        Intent::Recall => &[],
    }
}

/// What of a budget an intent may spend, in percent: who is to be moved to act reads little.
pub(super) fn percent(intent: Intent) -> usize {
    if intent == Intent::Nudge { 25 } else { 100 }
}
