//! Where a member goes in its category.

use super::mine::Candidate;
use super::words::{camel, english, key_words, says_something, stem};

/// The list of what fits nowhere else.
pub(super) const NOTES: &str = "notes";

/// A field of a category.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    pub(super) name: String,
    /// It holds a list, however few there are.
    pub(super) list: bool,
}

/// The field of a sentence: what its key says besides the pattern, else the first cue in it, else the notes.
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

/// The field of anything else: it keeps a name of its own.
pub(super) fn of_value(candidate: &Candidate, key: &str) -> String {
    let name = rest_of_key(candidate, key).unwrap_or_else(|| camel(&key_words(key)));
    if name.is_empty() { NOTES.to_owned() + "Of" } else { name }
}

/// What a key says besides the pattern: `sleep_duration` is the duration of sleep. A key that is the pattern says nothing
/// more.
fn rest_of_key(candidate: &Candidate, key: &str) -> Option<String> {
    if key == candidate.key {
        return None;
    }
    let pattern: Vec<String> = key_words(&candidate.key).iter().map(|word| stem(word)).collect();
    let mut rest = key_words(key);
    rest.retain(|word| says_something(word) && !pattern.contains(&stem(word)));
    (!rest.is_empty()).then(|| camel(&rest))
}
