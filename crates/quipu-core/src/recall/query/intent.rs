//! The intent of a question, by which a pack mixes memories.

use serde::{Deserialize, Serialize};

use crate::text::tokens::{TextToken, has_phrase};

/// The purpose of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Make a plan: goals, rules, recent events, obstacles.
    Plan,
    /// Look back: the self-model, the past and its consequences.
    Reflect,
    /// Know something: the episodes and facts that answer.
    #[default]
    Recall,
    /// Choose: rules and goals, similar decisions and their outcomes.
    Decide,
    /// Be moved to act: a rule or two, a trend, one suggestion.
    Nudge,
}

/// Phrases that show an intent; the first match wins.
const PHRASES: [(Intent, &[&[&str]]); 4] = [
    (
        Intent::Nudge,
        &[
            &["nudge", "me"],
            &["a", "nudge"],
            &["motivate", "me"],
            &["encourage", "me"],
            &["remind", "me", "why"],
            &["me", "accountable"],
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

    /// The intent as a lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Reflect => "reflect",
            Self::Recall => "recall",
            Self::Decide => "decide",
            Self::Nudge => "nudge",
        }
    }

    /// The intent a question's words show; defaults to recall.
    pub(in crate::recall) fn of(words: &[TextToken]) -> Self {
        // "What should I do this week?" asks for a plan, "What should I choose?" for a decision.
        let to_do = has_phrase(words, &["should", "i", "do"]) && !has_phrase(words, &["should", "i", "do", "it"]);
        if to_do || has_phrase(words, &["should", "we", "do"]) {
            return Self::Plan;
        }
        // "What did Anna plan?" and "When did she decide?" ask for facts.
        let told = [&["did"][..], &["when"], &["who"], &["what", "time"], &["how", "much"], &["how", "many"]];
        let told = told.iter().any(|phrase| has_phrase(words, phrase));
        let says = |phrases: &&[&[&str]]| phrases.iter().any(|phrase| has_phrase(words, phrase));
        let found = PHRASES.iter().find(|(_, phrases)| says(phrases)).map(|(intent, _)| *intent);
        found.filter(|_| !told).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::words;

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
            ("Which gift would encourage a healthy life?", Intent::Recall),
            ("What time should I leave for the airport?", Intent::Recall),
            ("", Intent::Recall),
        ] {
            assert_eq!(Intent::of(&words(text)), expected, "{text:?}");
        }
    }
}
