//! Which memories a pack mixes for which intent, and what each section may cost (seed 1; caps of seed 3).

use serde::Serialize;

use crate::recall::Intent;

/// What a pack costs at most if nobody says otherwise.
pub const DEFAULT_TOKENS: usize = 1_800;

/// The user's profile, whatever the intent.
pub(super) const PROFILE_TOKENS: usize = 200;

/// A section whose content depends on the intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Goals, tasks and problems that are open.
    Goals,
    /// Values, preferences, rules the user lives by, and reflective notes that agree.
    SelfModel,
    /// Statements.
    Facts,
    /// Small stories.
    Episodes,
    /// The words themselves.
    Said,
}

impl Section {
    /// Its heading, always the same.
    pub fn title(self) -> &'static str {
        match self {
            Self::Goals => "Goals and open tasks",
            Self::SelfModel => "Lived by",
            Self::Facts => "Facts",
            Self::Episodes => "Episodes",
            Self::Said => "What was said",
        }
    }
}

/// What one section may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) section: Section,
    /// Of a block of [`DEFAULT_TOKENS`].
    pub(super) tokens: usize,
    pub(super) lines: usize,
}

const fn share(section: Section, tokens: usize, lines: usize) -> Share {
    Share { section, tokens, lines }
}

/// Goals and rules, what stands in the way, what happened lately.
const PLAN: [Share; 5] = [
    share(Section::Goals, 240, 8),
    share(Section::SelfModel, 180, 6),
    share(Section::Facts, 400, 12),
    share(Section::Episodes, 400, 6),
    share(Section::Said, 200, 6),
];
/// The self-model, and episodes from before and after.
const REFLECT: [Share; 5] = [
    share(Section::SelfModel, 240, 8),
    share(Section::Goals, 120, 4),
    share(Section::Episodes, 500, 6),
    share(Section::Facts, 300, 10),
    share(Section::Said, 240, 8),
];
/// The best three to five episodes with what supports them.
const RECALL: [Share; 3] =
    [share(Section::Facts, 400, 16), share(Section::Episodes, 240, 5), share(Section::Said, 700, 24)];
/// Rules and goals, decisions like it and how they came out.
const DECIDE: [Share; 5] = [
    share(Section::SelfModel, 240, 8),
    share(Section::Goals, 160, 5),
    share(Section::Episodes, 400, 5),
    share(Section::Facts, 400, 12),
    share(Section::Said, 240, 8),
];
/// A rule or two, one thing to do, little else.
const NUDGE: [Share; 4] = [
    share(Section::SelfModel, 100, 2),
    share(Section::Goals, 80, 1),
    share(Section::Facts, 160, 4),
    share(Section::Episodes, 120, 1),
];

/// The sections of an intent, in their order.
pub(super) fn of(intent: Intent) -> &'static [Share] {
    match intent {
        Intent::Plan => &PLAN,
        Intent::Reflect => &REFLECT,
        Intent::Recall => &RECALL,
        Intent::Decide => &DECIDE,
        Intent::Nudge => &NUDGE,
    }
}

/// A share of a block of another size.
pub(super) fn scaled(tokens: usize, total: usize) -> usize {
    tokens * total / DEFAULT_TOKENS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mix_leaves_room_for_what_is_always_in() {
        for intent in Intent::ALL {
            let sum: usize = of(intent).iter().map(|share| share.tokens).sum();
            assert!(sum + PROFILE_TOKENS <= DEFAULT_TOKENS - 120, "{intent:?}: {sum}");
        }
    }
}
