//! Equality of values.

use crate::items::figure;
use crate::predicate::normal;
use crate::text::tokens;

/// Stop words that change the meaning of a value.
const TURNING: [&str; 37] = [
    "not", "no", "nor", "never", "without", "against", "before", "after", "above", "below", "over", "under", "up",
    "down", "in", "out", "on", "off", "from", "to", "more", "most", "few", "only", "than", "until", "between",
    "through", "while", "if", "because", "during", "again", "further", "other", "each", "both",
];

/// Words that can be dropped at the start of a value: "in Porto" equals "Porto".
const LEADING: [&str; 3] = ["in", "on", "to"];

/// True if two objects are one value: equal in spelling or stems, a list in another order, or one equal to the other
/// plus a place after a comma.
pub(super) fn same_value(one: &str, other: &str) -> bool {
    if normal(one) == normal(other) {
        return true;
    }
    let a = parts(one);
    if !a.is_empty() && a == parts(other) {
        return true;
    }
    let before_comma = |text: &str| text.split_once(',').map(|(first, _)| normal(first));
    before_comma(one) == Some(normal(other)) || before_comma(other) == Some(normal(one))
}

/// The parts of a list, each as its words. The order of parts is ignored, that of words is not.
fn parts(text: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for piece in text.split_inclusive([',', '&', ' ', '\n', '\t']) {
        let word = normal(piece);
        let ends = piece.ends_with([',', '&']);
        if matches!(word.as_str(), "and" | "or" | "&") {
            all.push(Vec::new());
            continue;
        }
        let Some(part) = all.last_mut() else { continue };
        if TURNING.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t") {
            if !(part.is_empty() && LEADING.contains(&word.as_str())) {
                part.push(word);
            }
        } else if word.ends_with(['+', '#', '%']) || is_letter(&word) && (word != "a" || text.ends_with(piece)) {
            part.push(word);
        } else {
            tokens::for_each_term(&word, |term| part.push(term.to_owned()));
        }
        if ends {
            all.push(Vec::new());
        }
    }
    all.retain(|part| !part.is_empty());
    all.sort_unstable();
    all
}

/// True for a letter that stands for something: "vitamin D", "blood type O".
fn is_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() && c != 'i') && letters.next().is_none()
}

/// A dose, if it is another one than the known one, with its unit unless it has one of its own.
pub(super) fn other_dose(told: &str, known: Option<&str>) -> Option<String> {
    let (amount, unit) = figure(told)?;
    let (known_amount, known_unit) = known.and_then(figure).unwrap_or_default();
    if known.is_some() && amount == known_amount && (unit.is_empty() || unit == known_unit) {
        return None;
    }
    Some(if unit.is_empty() { format!("{told} {known_unit}").trim().to_owned() } else { told.to_owned() })
}

/// Words of a dose that was changed for good.
const CHANGED_DOSE: [&str; 20] = [
    "now",
    "doctor",
    "doc",
    "gp",
    "nurse",
    "consultant",
    "upped",
    "raised",
    "increased",
    "doubled",
    "halved",
    "reduced",
    "lowered",
    "changed",
    "switched",
    "cut",
    "bumped",
    "put",
    "dropped",
    "new",
];

/// True for words that say that a dose was changed.
pub(super) fn tells_change(quote: &str) -> bool {
    let quote = normal(quote);
    let mut words = quote.split(' ');
    // "Just took 400 mg now" is one dose.
    !quote.split(' ').any(|word| word == "took") && words.any(|word| CHANGED_DOSE.contains(&word))
}

/// True if a text has a negation.
pub(super) fn negates(text: &str) -> bool {
    words(text).iter().any(|word| is_negation(word))
}

/// The words of a text, in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

pub(super) fn is_negation(word: &str) -> bool {
    matches!(word, "not" | "no" | "never" | "without" | "nobody" | "nothing" | "none") || word.ends_with("n't")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_said_twice() {
        for (one, other) in [
            ("oysters", "the oyster"),
            ("Porto", "Porto, Portugal"),
            ("in Porto", "Porto"),
            ("swimming in the sea", "swim in the sea"),
            ("coffee and tea", "tea and coffee"),
            ("tea, coffee", "coffee and tea"),
            ("very spicy food", "spicy food"),
            ("support-group", "support group"),
            ("an aisle seat", "aisle seats"),
            ("a walk in a park", "walk in the park"),
            ("C++", "c++"),
        ] {
            assert!(same_value(one, other) && same_value(other, one), "{one:?} {other:?}: {:?}", parts(one));
        }
    }

    #[test]
    fn another_value_in_nearly_the_same_words() {
        for (one, other) in [
            ("C", "C++"),
            ("C", "C#"),
            ("C#", "C++"),
            ("spicy food", "not spicy food"),
            ("coffee with milk", "coffee without milk"),
            ("coffee before lunch", "coffee after lunch"),
            ("the train from Porto to Lisbon", "the train from Lisbon to Porto"),
            ("dogs that chase cats", "cats that chase dogs"),
            ("working from home", "working at home"),
            ("food that isn't spicy", "food that is spicy"),
            ("10", "10%"),
            ("vitamin D", "vitamin B"),
            ("vitamin A", "vitamin"),
            ("A negative", "O negative"),
            ("the", "a"),
        ] {
            assert!(!same_value(one, other) && !same_value(other, one), "{one:?} {other:?}: {:?}", parts(one));
        }
    }

    #[test]
    fn another_dose_is_another_figure_or_unit() {
        for (told, known, expected) in [
            ("75", Some("50 mcg"), Some("75 mcg")),
            ("75 mcg", Some("50 mcg"), Some("75 mcg")),
            ("500mg", Some("500 mg"), None),
            ("500 mg", Some("500mg"), None),
            ("10 mg", None, Some("10 mg")),
            ("a spoon", Some("10 ml"), None),
        ] {
            assert_eq!(other_dose(told, known).as_deref(), expected, "{told} {known:?}");
        }
    }
}
