//! Grounding: the object of a candidate must occur in its span.

use std::collections::BTreeSet;

use crate::extract::FactCandidate;

/// Why a candidate is not grounded in its span; `None` if it is.
///
/// Numbers and capitalised names of the object must occur in the span exactly. This catches years and names that a
/// model made up; a rule can fail it only by a bug.
pub(super) fn doubt(candidate: &FactCandidate, span: &str) -> Option<String> {
    let there = words(span);
    let missing = |word: &&str| {
        let lower = word.to_lowercase();
        !there.contains(&lower) && !there.iter().any(|other| other.strip_suffix('s') == Some(&lower))
    };
    let telling = candidate.object.split(|c: char| !c.is_alphanumeric()).filter(|word| is_telling(word));
    let missing: Vec<&str> = telling.filter(missing).collect();
    match missing.as_slice() {
        [] => None,
        [first, ..] => Some(format!("{first:?} does not occur in the text it was read from")),
    }
}

/// True for numbers and capitalised words.
fn is_telling(word: &str) -> bool {
    word.chars().next().is_some_and(|first| first.is_ascii_digit() || first.is_uppercase())
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::doubt;
    use crate::extract::{FactCandidate, Stance, USER};

    #[test]
    fn made_up_names_and_numbers_are_doubted() {
        for (object, span, grounded) in [
            ("Porto", "I live in Porto now.", true),
            ("Porto", "I live in PORTO", true),
            ("Lisbon", "I live in Porto now.", false),
            ("type 2 diabetes", "I have type 2 diabetes", true),
            ("type 1 diabetes", "I have type 2 diabetes", false),
            ("greek yogurt", "I like yogurt from Greece", true),
            ("3 cats", "we have cats", false),
            ("", "I quit", true),
            ("Müller", "my boss is Frau Müller", true),
            ("Nikes", "I wear Nike", false),
            ("Nike", "I wear Nikes", true),
        ] {
            let candidate = FactCandidate {
                subject: USER.to_owned(),
                predicate: "x".to_owned(),
                object: object.to_owned(),
                span: 0..span.len(),
                stance: Stance::Holds,
                valid_from: None,
                valid_to: None,
                confidence: 0.9,
                qualifiers: Default::default(),
            };
            assert_eq!(doubt(&candidate, span).is_none(), grounded, "{object:?} in {span:?}");
        }
    }
}
