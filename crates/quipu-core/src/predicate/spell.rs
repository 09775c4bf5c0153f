//! Two spellings of one value are one value.

/// The value as it is compared: lower case, without articles, punctuation at the ends and doubled spaces.
pub fn normal(value: &str) -> String {
    let lower = value.to_lowercase();
    let edges = |c: char| c.is_whitespace() || (c.is_ascii_punctuation() && !"+#%&".contains(c)) || "’“”‘…".contains(c);
    let mut words: Vec<&str> = lower.split_whitespace().map(|word| word.trim_matches(edges)).collect();
    words.retain(|word| !word.is_empty());
    while words.len() > 1 && matches!(words[0], "a" | "an" | "the" | "my" | "some") {
        words.remove(0);
    }
    words.join(" ")
}

/// A word for a path or a name: lower case letters, digits and underscores.
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
        ] {
            assert_eq!(normal(one), normal(other), "{one:?} {other:?}");
        }
        for (one, other) in [("C", "C++"), ("Porto", "Portugal"), ("the", "a")] {
            assert_ne!(normal(one), normal(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn slugs_are_plain_words() {
        assert_eq!(slug("Post-dinner  glucose!"), "post_dinner_glucose");
        assert_eq!(slug("??"), "");
    }
}
