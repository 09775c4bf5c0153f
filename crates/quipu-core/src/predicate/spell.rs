//! Normal forms of values.

use std::collections::BTreeMap;

/// The form of a value for comparison: lower case, without leading articles, punctuation at word edges and repeated
/// spaces.
pub fn normal(value: &str) -> String {
    let lower = value.to_lowercase();
    let edges = |c: char| c.is_whitespace() || (c.is_ascii_punctuation() && !"+#%&".contains(c)) || "’“”‘…".contains(c);
    let mut words: Vec<&str> = lower.split_whitespace().map(|word| word.trim_matches(edges)).collect();
    words.retain(|word| !word.is_empty());
    while words.len() > 1 && matches!(words[0], "a" | "an" | "the" | "my" | "some") {
        words.remove(0);
    }
    each(&mut words);
    words.join(" ")
}

/// Equates "twice a week" and "twice weekly".
fn each(words: &mut Vec<&str>) {
    let unit = |word: &str| match word {
        "day" => Some("daily"),
        "week" => Some("weekly"),
        "month" => Some("monthly"),
        "year" => Some("yearly"),
        _ => None,
    };
    let counted = |word: &str| matches!(word, "once" | "twice" | "times");
    let found = words.windows(3).position(|three| {
        counted(three[0]) && matches!(three[1], "a" | "per" | "each" | "every") && unit(three[2]).is_some()
    });
    if let Some(at) = found
        && let Some(adverb) = unit(words[at + 2])
    {
        words.splice(at + 1..at + 3, [adverb]);
    }
}

/// A value with its qualifiers.
type QualifiedValue<'a> = (&'a str, &'a BTreeMap<String, String>);

/// True if one value only names a kind and the other is a name of that kind: "a puppy" and "Biscuit", both with the
/// qualifier `species=dog`.
pub fn is_named_by((kind, of_kind): QualifiedValue<'_>, (name, of_name): QualifiedValue<'_>) -> bool {
    let same =
        ["species", "relation"].iter().any(|key| of_kind.get(*key).is_some_and(|is| of_name.get(*key) == Some(is)));
    let last = kind.rsplit(' ').next().unwrap_or_default();
    let is_one = !kind.starts_with(|c: char| c.is_numeric()) && !last.ends_with('s');
    same && is_one && !kind.contains(char::is_uppercase) && name.starts_with(char::is_uppercase)
}

/// A text as a path component or name: lower-case letters, digits and underscores.
pub fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    slug.truncate(slug.trim_end_matches('_').len());
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_meet() {
        for (one, other) in [
            ("Greek yogurt", "greek  yogurt."),
            ("the cello", "Cello"),
            ("“Dune”", "dune"),
            ("Porto!", "porto"),
            ("C++", "c++"),
            ("St. Gallen", "St Gallen"),
            ("three times a week", "three times weekly"),
            ("Twice per day", "twice daily"),
        ] {
            assert_eq!(normal(one), normal(other), "{one:?} {other:?}");
        }
        for (one, other) in [("C", "C++"), ("Porto", "Portugal"), ("the", "a"), ("twice a week", "twice a day")] {
            assert_ne!(normal(one), normal(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_name_says_more_than_a_kind() {
        let of = |species: &str| BTreeMap::from([("species".to_owned(), species.to_owned())]);
        for (kind, name, expected) in [
            (("puppy", "dog"), ("Biscuit", "dog"), true),
            (("old cat", "cat"), ("Mia", "cat"), true),
            (("puppy", "dog"), ("Mia", "cat"), false),
            (("two dogs", "dog"), ("Biscuit", "dog"), false),
            (("Leo", "dog"), ("Biscuit", "dog"), false),
            (("puppy", "dog"), ("old dog", "dog"), false),
        ] {
            let (of_kind, of_name) = (of(kind.1), of(name.1));
            assert_eq!(is_named_by((kind.0, &of_kind), (name.0, &of_name)), expected, "{kind:?} {name:?}");
        }
    }

    #[test]
    fn slugs_are_plain_words() {
        assert_eq!(slug("Post-dinner  glucose!"), "post_dinner_glucose");
        assert_eq!(slug("??"), "");
    }
}
