//! Detects whether a passage names a time and whether a question asks for one.

use crate::text::tokens::{TextToken, has_phrase};

/// Words that name a time.
const TIMES: [&str; 40] = [
    "yesterday",
    "today",
    "tonight",
    "tomorrow",
    "ago",
    "since",
    "recently",
    "lately",
    "soon",
    "week",
    "weeks",
    "weekend",
    "month",
    "months",
    "year",
    "years",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "morning",
    "afternoon",
    "evening",
    "night",
    "spring",
    "autumn",
    "christmas",
];

/// Words that name a month or a season only after one of `BEFORE_A_MONTH` or before a number.
const DOUBTFUL: [&str; 3] = ["march", "may", "fall"];
const BEFORE_A_MONTH: [&str; 7] = ["in", "last", "this", "next", "since", "of", "early"];

/// Phrases of a question that asks for a time.
const ASKS: [&[&str]; 11] = [
    &["how", "long"],
    &["what", "date"],
    &["what", "day"],
    &["what", "month"],
    &["what", "time"],
    &["what", "year"],
    &["which", "date"],
    &["which", "day"],
    &["which", "month"],
    &["which", "year"],
    &["since", "when"],
];

/// Returns true if the words name a time: a day, a month, a year, a season or an interval.
pub(in crate::recall) fn says_when(words: &[TextToken]) -> bool {
    let names = |at: usize| {
        let word = words[at].lower.as_str();
        let led = || at > 0 && BEFORE_A_MONTH.contains(&words[at - 1].lower.as_str());
        let dated = || words.get(at + 1).is_some_and(|next| next.lower.starts_with(|c: char| c.is_ascii_digit()));
        TIMES.contains(&word) || is_year(word) || DOUBTFUL.contains(&word) && (led() || dated())
    };
    (0..words.len()).any(names)
}

/// Returns true if the words ask for a time.
pub(in crate::recall) fn asks_when(words: &[TextToken]) -> bool {
    words.first().is_some_and(|first| first.lower == "when") || ASKS.iter().any(|phrase| has_phrase(words, phrase))
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && (word.starts_with("19") || word.starts_with("20")) && word.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::words;

    #[test]
    fn times_are_told_from_other_words() {
        for (text, expected) in [
            ("We went there last week.", true),
            ("It was in May, I think", true),
            ("May 7 it was", true),
            ("I may go", false),
            ("They march on", false),
            ("back in 2019", true),
            ("room 2500", false),
            ("Two summers past", false),
            ("I fall asleep", false),
            ("this fall", true),
            ("", false),
        ] {
            assert_eq!(says_when(&words(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn questions_for_a_time_are_told_from_others() {
        for (text, expected) in [
            ("When did she move?", true),
            ("In which month did he marry?", true),
            ("How long has Ana lived there?", true),
            ("What does she do when it rains?", false),
            ("Who came?", false),
        ] {
            assert_eq!(asks_when(&words(text)), expected, "{text:?}");
        }
    }
}
