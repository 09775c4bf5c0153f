//! Objects as they read in a sentence.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What is going to be done, after "plans": "to fly to Oslo", "on seeing a flat", "to be in Rome", "a trip".
pub(super) fn to_do(object: &str) -> String {
    let first = first(object);
    let is_doing = first.strip_suffix("ing").is_some_and(|stem| stem.contains(['a', 'e', 'i', 'o', 'u', 'y']));
    match first.as_str() {
        "off" | "in" | "on" | "at" | "away" | "out" | "back" => format!("to be {object}"),
        "a" | "an" | "the" | "my" | "our" | "another" => object.to_owned(),
        _ if is_doing => format!("on {object}"),
        _ => format!("to {object}"),
    }
}

/// One of a kind with its article: "a flower shop". What may be a name, several or no countable thing stays as it is.
pub(super) fn with_article(object: &str) -> String {
    const COUNTED: [&str; 19] = [
        "a", "an", "the", "my", "our", "his", "her", "their", "another", "some", "several", "many", "no", "one", "two",
        "three", "four", "five", "six",
    ];
    const MASSES: [&str; 13] = [
        "furniture",
        "luggage",
        "equipment",
        "money",
        "cash",
        "land",
        "property",
        "insurance",
        "jewellery",
        "jewelry",
        "software",
        "gear",
        "stuff",
    ];
    let first = first(object);
    let last = object.rsplit(' ').next().unwrap_or_default();
    let is_several = last.ends_with('s') && !last.ends_with("ss") && !last.ends_with("us");
    let is_small = object.starts_with(|c: char| c.is_lowercase());
    if !is_small || is_several || COUNTED.contains(&first.as_str()) || MASSES.contains(&last) {
        return object.to_owned();
    }
    let sounds_long =
        first.starts_with("uni") || first.starts_with("use") || first.starts_with("eu") || first.starts_with("one");
    let article = if first.starts_with(['a', 'e', 'i', 'o', 'u']) && !sounds_long { "an" } else { "a" };
    format!("{article} {object}")
}

/// Words of the first person, in lower case, and what stands for them.
static PERSONS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the table is part of the program and covered by tests")]
    toml::from_str(include_str!("../languages/en/persons.toml")).expect("the built-in table is well formed")
});

/// What somebody says of themselves, as others say it of them: "their second tournament" for "my second tournament".
pub(super) fn in_third_person(object: &str) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut said = String::with_capacity(object.len());
    for piece in object.split_inclusive(|c: char| !is_of_word(c)) {
        let end = piece.trim_end_matches(|c: char| !is_of_word(c)).len();
        let (word, rest) = piece.split_at(end);
        let plain = word.replace('’', "'");
        // "I" at the end is a numeral, and "My" with a capital stands in a name.
        let is_name = match plain.strip_prefix('I') {
            Some("") => rest != " ",
            Some(_) => false,
            None => plain.starts_with(char::is_uppercase),
        };
        let other = PERSONS.get(&plain.to_lowercase()).filter(|_| !is_name);
        said.push_str(other.map_or(word, String::as_str));
        said.push_str(rest);
    }
    said
}

fn first(object: &str) -> String {
    object.split_whitespace().next().unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_say_it_of_them() {
        for (said, reads) in [
            ("my second tournament", "their second tournament"),
            ("kayaking with Tom on my birthday", "kayaking with Tom on their birthday"),
            ("a café where I met my wife", "a café where they met their wife"),
            ("what we've built for ourselves", "what they've built for themselves"),
            ("My Chemical Romance", "My Chemical Romance"),
            ("World War I", "World War I"),
            ("the US army, Myanmar", "the US army, Myanmar"),
            ("grandma’s ring she gave me.", "grandma’s ring she gave them."),
        ] {
            assert_eq!(in_third_person(said), reads);
        }
    }

    #[test]
    fn plans_read_as_english() {
        for (plan, reads) in [
            ("fly to Oslo", "to fly to Oslo"),
            ("bring a cake", "to bring a cake"),
            ("seeing a flat", "on seeing a flat"),
            ("in Rome", "to be in Rome"),
            ("away", "to be away"),
            ("a trip to Lisbon", "a trip to Lisbon"),
            ("", "to "),
        ] {
            assert_eq!(to_do(plan), reads);
        }
    }

    #[test]
    fn one_of_a_kind_has_an_article() {
        for (thing, reads) in [
            ("flat", "a flat"),
            ("old guitar", "an old guitar"),
            ("used car", "a used car"),
            ("unicycle", "a unicycle"),
            ("savings", "savings"),
            ("canvas bag", "a canvas bag"),
            ("cactus", "a cactus"),
            ("garden furniture", "garden furniture"),
            ("four phones", "four phones"),
            ("the blue bike", "the blue bike"),
            ("Honda Civic", "Honda Civic"),
            ("2012 Yaris", "2012 Yaris"),
            ("", ""),
        ] {
            assert_eq!(with_article(thing), reads);
        }
    }
}
