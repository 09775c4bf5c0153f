//! Matches texts with base truth entries, and checks whether a text is grounded in an exchange.

use std::collections::BTreeSet;

use crate::episode;
use crate::item::Truth;
use crate::predicate::normal;

/// Least share of common content words of two related texts.
const SIMILAR_FROM: f64 = 0.5;
/// Least share of a proposed entry's content words that must occur in its evidence.
const GROUNDED_FROM: f64 = 0.6;
/// Longest key phrase, in words; more words before a colon are prose.
const KEY_WORDS_MAX: usize = 6;
/// Fewest words of a text that can identify an entry by being a part of it.
const PART_WORDS_MIN: usize = 2;

/// The key phrase of an entry: the text before its first colon.
pub(super) fn key(text: &str) -> Option<String> {
    let (key, value) = text.split_once(':')?;
    let words = key.split_whitespace().count();
    let is_key =
        (1..=KEY_WORDS_MAX).contains(&words) && value.starts_with(char::is_whitespace) && !value.trim().is_empty();
    is_key.then(|| normal(key)).filter(|key| !key.is_empty())
}

/// Jaccard similarity of the content words of two texts, 0 to 1.
pub(super) fn similarity(one: &str, other: &str) -> f64 {
    let (one, other) = (episode::stems(one), episode::stems(other));
    let all = one.union(&other).count();
    if all == 0 { 0.0 } else { one.intersection(&other).count() as f64 / all as f64 }
}

/// True if the content words of one text are a non-empty subset of the other's.
pub(super) fn is_within(one: &str, other: &str) -> bool {
    let (one, other) = (episode::stems(one), episode::stems(other));
    !one.is_empty() && one.is_subset(&other)
}

/// The entry that an update refers to: the one with the same key phrase, or else the most similar one.
pub(super) fn updated<'a>(base_truth: &[&'a Truth], text: &str) -> Option<&'a Truth> {
    if let Some(key) = key(text) {
        // Different keys refer to different things, however similar their values are.
        let starts = |truth: &&&Truth| normal(&truth.text).starts_with(&key);
        return base_truth
            .iter()
            .find(|truth| self::key(&truth.text).as_ref() == Some(&key))
            .or_else(|| base_truth.iter().filter(|truth| self::key(&truth.text).is_none()).find(starts))
            .copied();
    }
    most_similar(base_truth, text)
}

/// The entries that a removal refers to: the equal one, or else those that contain the text, or else the most similar
/// one.
pub(super) fn removed<'a>(base_truth: &[&'a Truth], text: &str) -> Vec<&'a Truth> {
    let wanted = normal(text);
    if wanted.is_empty() {
        return Vec::new();
    }
    if let Some(same) = base_truth.iter().find(|truth| normal(&truth.text) == wanted) {
        return vec![same];
    }
    let spaced = format!(" {wanted} ");
    let contains = |truth: &&&Truth| format!(" {} ", normal(&truth.text)).contains(&spaced);
    let parts: Vec<&Truth> = base_truth.iter().filter(contains).copied().collect();
    if !parts.is_empty() && wanted.split_whitespace().count() >= PART_WORDS_MIN {
        return parts;
    }
    most_similar(base_truth, text).into_iter().collect()
}

fn most_similar<'a>(base_truth: &[&'a Truth], text: &str) -> Option<&'a Truth> {
    let scored = base_truth.iter().map(|truth| (similarity(&truth.text, text), *truth));
    let similar = scored.filter(|(score, _)| *score >= SIMILAR_FROM);
    // The older entry wins a tie.
    similar.reduce(|best, one| if one.0 > best.0 { one } else { best }).map(|(_, truth)| truth)
}

/// Why a text is not grounded in another one; `None` if it is.
///
/// Numbers, names and code identifiers must occur exactly, and so must most content words.
pub(super) fn doubt(text: &str, ground: &str) -> Option<String> {
    let there = words(ground);
    if let Some(strange) = telling(text).into_iter().find(|word| !there.contains(&word.to_lowercase())) {
        return Some(format!("{strange:?} does not occur in the exchange"));
    }
    let (own, other) = (episode::stems(text), stems_of_all(ground));
    let known = own.intersection(&other).count();
    let plausible = own.is_empty() || known as f64 >= GROUNDED_FROM * own.len() as f64;
    (!plausible).then(|| "most of its words do not occur in the exchange".to_owned())
}

/// Why a summary is not grounded: it may use other words, but no other names and numbers.
pub(super) fn summary_doubt(text: &str, ground: &str) -> Option<String> {
    let there = words(ground);
    let strange = telling(text).into_iter().find(|word| !there.contains(&word.to_lowercase()))?;
    Some(format!("{strange:?} does not occur in the exchange"))
}

/// The stems of a text including its code.
fn stems_of_all(text: &str) -> BTreeSet<String> {
    // Without fences a block is read like prose.
    episode::stems(&text.replace("```", " "))
}

/// Words that could be made up: with a digit, capitalised within a sentence, or spelled as in code.
fn telling(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut opens = true;
    for token in text.split_whitespace() {
        for word in token.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let mut letters = word.chars();
            let Some(first) = letters.next() else { continue };
            let inner_capital = letters.clone().any(char::is_uppercase);
            let is_code = word.contains('_') || word.chars().any(|c| c.is_ascii_digit()) || inner_capital;
            if is_code || (first.is_uppercase() && !opens && word.chars().count() > 1) {
                found.push(word);
            }
            opens = false;
        }
        opens = token.ends_with(['.', '!', '?', ':', ';']);
    }
    found
}

fn words(text: &str) -> BTreeSet<String> {
    let split = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    split.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}
