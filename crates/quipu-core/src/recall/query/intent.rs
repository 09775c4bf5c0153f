//! What a question is for: the pack mixes memories by it (seed 1).

use serde::{Deserialize, Serialize};

use crate::recall::index::tokens::{TextToken, has_phrase};

/// What the answer will be used for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// To make a plan: goals, rules, what happened lately, what stands in the way.
    Plan,
    /// To look back: the self-model, what was before and after.
    Reflect,
    /// To know: the episodes and facts that answer.
    #[default]
    Recall,
    /// To choose: rules and goals, decisions like it, how they came out.
    Decide,
    /// To be moved to act: a rule or two, a trend, one suggestion.
    Nudge,
}

/// Phrases that tell an intent, the first that is met counts.
const PHRASES: [(Intent, &[&[&str]]); 4] = [
    (
        Intent::Nudge,
        &[
            &["nudge"],
            &["motivate"],
            &["encourage"],
            &["remind", "me", "why"],
            &["accountable"],
            &["get", "me", "going"],
        ],
    ),
    (
        Intent::Decide,
        &[
            &["should", "i"],
            &["should", "we"],
            &["decide"],
            &["choose"],
            &["is", "it", "worth"],
            &["better", "to"],
            &["which", "one"],
            &["pros", "and", "cons"],
        ],
    ),
    (
        Intent::Plan,
        &[
            &["plan"],
            &["schedule"],
            &["organise"],
            &["organize"],
            &["prepare"],
            &["what", "next"],
            &["my", "week"],
            &["to", "do", "list"],
        ],
    ),
    (
        Intent::Reflect,
        &[
            &["reflect"],
            &["why", "do", "i"],
            &["how", "have", "i"],
            &["how", "am", "i", "doing"],
            &["pattern"],
            &["patterns"],
            &["progress"],
            &["look", "back"],
            &["learned"],
            &["learnt"],
            &["changed"],
        ],
    ),
];

impl Intent {
    /// Every intent.
    pub const ALL: [Self; 5] = [Self::Plan, Self::Reflect, Self::Recall, Self::Decide, Self::Nudge];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Reflect => "reflect",
            Self::Recall => "recall",
            Self::Decide => "decide",
            Self::Nudge => "nudge",
        }
    }

    /// What a question is for, as far as its words tell; else it wants to know.
    pub(in crate::recall) fn of(words: &[TextToken]) -> Self {
        // "What should I do this week?" asks for a plan, "What should I choose?" for a decision.
        let to_do = has_phrase(words, &["should", "i", "do"]) && !has_phrase(words, &["should", "i", "do", "it"]);
        if to_do || has_phrase(words, &["should", "we", "do"]) {
            return Self::Plan;
        }
        // "What did Anna plan?" and "When did she decide?" want to know.
        let told = has_phrase(words, &["did"]) || has_phrase(words, &["when"]) || has_phrase(words, &["who"]);
        let says = |phrases: &&[&[&str]]| phrases.iter().any(|phrase| has_phrase(words, phrase));
        let found = PHRASES.iter().find(|(_, phrases)| says(phrases)).map(|(intent, _)| *intent);
        found.filter(|_| !told).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::index::tokens::words;

    #[test]
    fn words_tell_what_a_question_is_for() {
        for (text, expected) in [
            ("Where does Ana live?", Intent::Recall),
            ("What did Anna plan for the summer?", Intent::Recall),
            ("When did I decide to move?", Intent::Recall),
            ("Help me plan the week", Intent::Plan),
            ("What should I do today?", Intent::Plan),
            ("Should I take the job in Lisbon?", Intent::Decide),
            ("Is it worth buying a car?", Intent::Decide),
            ("Why do I sleep so badly?", Intent::Reflect),
            ("How have I been eating?", Intent::Reflect),
            ("Motivate me to run", Intent::Nudge),
            ("", Intent::Recall),
        ] {
            assert_eq!(Intent::of(&words(text)), expected, "{text:?}");
        }
    }
}
