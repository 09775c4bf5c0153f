//! Chooses the field of a category that a member moves to.

use super::mine::Candidate;
use std::collections::BTreeSet;

use super::words::{camel, english, key_words, says_something, sentence_stems, stem};

/// The field for sentences that fit no other.
pub(super) const NOTES: &str = "notes";

/// A field of a category.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    pub(super) name: String,
    /// True if it is always a list.
    pub(super) list: bool,
}

/// The field of a sentence: the rest of its key besides the pattern, or else the first matching cue, or else the notes.
pub(super) fn of_sentence(candidate: &Candidate, key: &str, sentence: &str) -> Field {
    if let Some(name) = rest_of_key(candidate, key) {
        let cue = english().fields.iter().find(|cue| cue.name == name);
        return Field { list: cue.is_some_and(|cue| cue.list), name };
    }
    let cue = english().fields.iter().find(|cue| cue.fits(sentence));
    cue.map_or_else(
        || Field { name: NOTES.to_owned(), list: true },
        |cue| Field { name: cue.name.clone(), list: cue.list },
    )
}

/// Longest field name that a model may propose, in bytes.
const PROPOSED_BYTES_MAX: usize = 40;

/// A field that a model proposed for a sentence, if the sentence supports it. A key that names its own field takes
/// precedence. A field known to the rules is accepted, except an amount for a sentence without one; any other name must
/// consist of words of the sentence.
pub(super) fn borne_out(candidate: &Candidate, key: &str, sentence: &str, proposed: &str) -> Option<Field> {
    if rest_of_key(candidate, key).is_some() {
        return None;
    }
    let words = key_words(proposed);
    let name = camel(&words);
    if name.is_empty() || name.len() > PROPOSED_BYTES_MAX {
        return None;
    }
    if name == NOTES {
        return Some(Field { name, list: true });
    }
    if let Some(cue) = english().fields.iter().find(|cue| cue.name == name) {
        return (!cue.amount || cue.fits(sentence)).then_some(Field { name, list: cue.list });
    }
    let said = sentence_stems(sentence);
    let pattern: BTreeSet<String> = key_words(&candidate.key).iter().map(|word| stem(word)).collect();
    let stands = words.iter().all(|word| says_something(word) && said.contains(&stem(word)));
    let more = words.iter().any(|word| !pattern.contains(&stem(word)));
    (stands && more).then_some(Field { name, list: false })
}

/// The field of a value that is not a sentence: its own name.
pub(super) fn of_value(candidate: &Candidate, key: &str) -> String {
    let name = rest_of_key(candidate, key).unwrap_or_else(|| camel(&key_words(key)));
    if name.is_empty() { NOTES.to_owned() + "Of" } else { name }
}

/// The words of a key besides the pattern: `sleep_duration` gives the duration for sleep. None if the key is the
/// pattern.
fn rest_of_key(candidate: &Candidate, key: &str) -> Option<String> {
    if key == candidate.key {
        return None;
    }
    let pattern: Vec<String> = key_words(&candidate.key).iter().map(|word| stem(word)).collect();
    let mut rest = key_words(key);
    rest.retain(|word| says_something(word) && !pattern.contains(&stem(word)));
    (!rest.is_empty()).then(|| camel(&rest))
}
