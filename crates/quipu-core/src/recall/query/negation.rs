//! Negation and exclusions in a question: "what do I not like?", "where do I no longer live?", "who besides Anna …?".

use std::ops::Range;

use serde::Serialize;

use crate::text::tokens::{self, TextToken};

/// Negation and exclusions in a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Negation {
    /// True if it asks for what is not so; the opposite predicate is meant.
    pub denied: bool,
    /// True if it asks for a past state.
    pub over: bool,
    /// What it excludes, as written: "Anna" in "who besides Anna".
    pub besides: Vec<String>,
    /// Ranges of the exclusions, with the preceding words.
    #[serde(skip)]
    pub(in crate::recall) places: Vec<Range<usize>>,
}

/// Phrases for something that is over.
const OVER: [&[&str]; 10] = [
    &["no", "longer"],
    &["anymore"],
    &["any", "more"],
    &["any", "longer"],
    &["not", "these", "days"],
    &["used", "to"],
    &["use", "to"],
    &["previous"],
    &["previously"],
    &["formerly"],
];

/// Phrases before an exclusion.
const BESIDES: [&[&str]; 8] = [
    &["besides"],
    &["except", "for"],
    &["except"],
    &["apart", "from"],
    &["aside", "from"],
    &["other", "than"],
    &["excluding"],
    &["not", "counting"],
];

/// Words after a "not" that is no denial: "not only tea", "not sure".
const NOT_DENIED: [&str; 6] = ["only", "just", "sure", "even", "yet", "necessarily"];

impl Negation {
    pub(in crate::recall) fn of(text: &str, words: &[TextToken]) -> Self {
        let places = (0..words.len()).filter_map(|at| left_out(text, words, at)).collect::<Vec<_>>();
        let besides =
            places.iter().map(|(_, named)| text[words[named.start].start..words[named.end - 1].end].to_owned());
        let over = OVER.iter().any(|phrase| tokens::has_phrase(words, phrase)) || ends_before(words);
        Self {
            denied: !over && (0..words.len()).any(|at| denies(text, words, at)),
            over,
            besides: besides.collect(),
            places: places.iter().map(|(whole, _)| whole.clone()).collect(),
        }
    }

    /// Returns true if there is no negation or exclusion.
    pub fn is_none(&self) -> bool {
        !self.denied && !self.over && self.besides.is_empty()
    }

    /// Returns true if a text mentions something excluded.
    pub(in crate::recall) fn leaves_out(&self, text: &str) -> bool {
        let speaks_of = |one: &String| {
            let wanted: Vec<String> = tokens::words(one).into_iter().map(|word| word.lower).collect();
            tokens::has_phrase(&tokens::words(text), &wanted.iter().map(String::as_str).collect::<Vec<_>>())
        };
        self.besides.iter().any(speaks_of)
    }
}

/// Returns true for "Where did I live before?". "Have I been there before?" is a yes-no question, which may still hold.
fn ends_before(words: &[TextToken]) -> bool {
    let is = |word: &TextToken, of: &[&str]| of.contains(&word.lower.as_str());
    let asks = words.first().is_some_and(|first| is(first, &["where", "what", "who", "which", "how"]));
    asks && words.last().is_some_and(|last| is(last, &["before"]))
        && words.iter().any(|word| is(word, &["did", "was", "were"]))
}

/// Returns true if the word at `at` denies what is asked. An opening negation does not: "Don't I live in Porto?"
fn denies(text: &str, words: &[TextToken], at: usize) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    // "don't" is tokenised as "don" and "t".
    let contracted = word(at) == "t" && at > 1 && text[..words[at].start].ends_with(['\'', '\u{2019}']);
    match word(at) {
        "not" => at > 1 && word(at - 1) != "why" && !NOT_DENIED.contains(&word(at + 1)) && word(at + 1) != "counting",
        "cannot" | "never" => at > 0,
        "t" => contracted && word(at - 2) != "why",
        _ => false,
    }
}

/// An exclusion at `at`: the range of all its words, and of those that name it. A run of capitalised words is a name;
/// otherwise it extends to the end of the clause.
fn left_out(text: &str, words: &[TextToken], at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let phrase = BESIDES.iter().find(|phrase| {
        words.len() - at > phrase.len() && phrase.iter().zip(&words[at..]).all(|(wanted, word)| word.lower == *wanted)
    })?;
    let start = at + phrase.len();
    let is_capital = |at: usize| text[words[at].start..].starts_with(char::is_uppercase);
    let parts = |at: usize| text[words[at - 1].end_possessive..words[at].start].contains([',', ';', '.', '?', '!']);
    let clause = (start + 1..words.len()).find(|at| parts(*at)).unwrap_or(words.len());
    let end =
        if is_capital(start) { (start + 1..clause).find(|at| !is_capital(*at)).unwrap_or(clause) } else { clause };
    Some((at..end, start..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_question_says_no_to() {
        for (text, denied, over, besides) in [
            ("What do I not like?", true, false, vec![]),
            ("What don't I eat?", true, false, vec![]),
            ("Which fruit does Anna never buy?", true, false, vec![]),
            ("Where do I no longer live?", false, true, vec![]),
            ("Where don't I work anymore?", false, true, vec![]),
            ("Where did I live before?", false, true, vec![]),
            ("What was my previous job?", false, true, vec![]),
            ("Where did I use to swim?", false, true, vec![]),
            ("Who besides Anna likes tea?", false, false, vec!["Anna"]),
            ("Besides Porto, where have I lived?", false, false, vec!["Porto"]),
            ("Where have I lived other than Porto and Lyon?", false, false, vec!["Porto"]),
            ("What do I drink apart from green tea?", false, false, vec!["green tea"]),
            // negatives
            ("Don't I live in Porto?", false, false, vec![]),
            ("Isn't Anna a nurse?", false, false, vec![]),
            ("Have I been to Porto before?", false, false, vec![]),
            ("Where did I live before Porto?", false, false, vec![]),
            ("Why not go to Porto?", false, false, vec![]),
            ("Do I like not only tea?", false, false, vec![]),
            ("Which other than", false, false, vec![]),
            ("What is the knot for?", false, false, vec![]),
            ("Where did Tom put the T-shirt?", false, false, vec![]),
        ] {
            let found = Negation::of(text, &tokens::words(text));
            assert_eq!((found.denied, found.over, found.besides.clone()), (denied, over, owned(&besides)), "{text:?}");
            assert_eq!(found.is_none(), !denied && !over && besides.is_empty());
        }
        let found = Negation::of("Who besides Anna Lee?", &tokens::words("Who besides Anna Lee?"));
        assert!(found.leaves_out("Anna Lee likes tea") && !found.leaves_out("Anna likes tea"));
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}
