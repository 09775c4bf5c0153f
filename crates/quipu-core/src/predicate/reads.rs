//! Grammatical forms of objects in a sentence.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The plan after "plans": "to fly to Oslo", "on seeing a flat", "to be in Rome", "a trip".
pub(super) fn to_do(object: &str) -> String {
    let first = first(object);
    let is_doing = first.strip_suffix("ing").is_some_and(|stem| stem.contains(['a', 'e', 'i', 'o', 'u', 'y']));
    match first.as_str() {
        "off" | "in" | "on" | "at" | "away" | "out" | "back" => format!("to be {object}"),
        "a" | "an" | "the" | "my" | "our" | "another" => object.to_owned(),
        "dinner" | "lunch" | "breakfast" | "brunch" | "supper" | "drinks" | "coffee" | "tea" => object.to_owned(),
        "party" | "trip" | "holiday" | "vacation" | "wedding" | "meeting" | "appointment" | "picnic" | "barbecue"
        | "bbq" | "concert" | "gig" | "date" | "flight" | "interview" | "exam" | "game" | "weekend" => {
            with_article(object)
        }
        _ if is_doing => format!("on {object}"),
        _ if object.starts_with(char::is_uppercase) => format!("to go to {object}"),
        _ => format!("to {object}"),
    }
}

/// A singular noun with its article: "a flower shop". Possible names, plurals and uncountable nouns are unchanged.
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
    // The head noun precedes its complement: "keys to the flat" is a plural.
    const MORE: [&str; 8] = ["to", "of", "for", "with", "in", "from", "on", "at"];
    let last = object.split(' ').take_while(|word| !MORE.contains(word)).last().unwrap_or_default();
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

/// An occupation as a predicate: "works as a nurse", "teaches yoga" for "teach yoga", "sells boats for a living".
pub(super) fn of_work(object: &str) -> String {
    const DONE: [&str; 22] = [
        "teach",
        "drive",
        "repair",
        "fix",
        "sell",
        "run",
        "build",
        "make",
        "clean",
        "paint",
        "write",
        "design",
        "cut",
        "bake",
        "grow",
        "breed",
        "translate",
        "install",
        "restore",
        "deliver",
        "train",
        "take",
    ];
    const OFFICES: [&str; 8] = ["head", "director", "chief", "president", "captain", "chair", "dean", "vice"];
    let mut words = object.split_whitespace().map(str::to_lowercase);
    let (one, two) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let bare = ["es", "s", ""].iter().find_map(|end| one.strip_suffix(end).filter(|bare| DONE.contains(bare)));
    // Matches "drives a bus" and "repair clocks", but not "train driver" or "design lead".
    let takes = matches!(two.as_str(), "a" | "an" | "the" | "people" | "kids" | "children")
        || (two.ends_with('s') && !two.ends_with("ss"));
    match bare {
        Some(bare) if one == bare && takes => {
            let end = if bare.ends_with("ch") || bare.ends_with('x') { "es" } else { "s" };
            return format!("{one}{end}{}", &object[one.len()..]);
        }
        Some(bare) if one != bare && !two.is_empty() => return object.to_owned(),
        _ if one == "taught" || object.ends_with(" for a living") => return object.to_owned(),
        _ => {}
    }
    let is_office = OFFICES.contains(&one.as_str()) && object.contains(" of ");
    format!("works as {}", if is_office { object.to_owned() } else { with_article(object) })
}

/// Words of the first person in lower case, and their replacements.
static PERSONS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the table is part of the program and covered by tests")]
    toml::from_str(include_str!("../languages/en/persons.toml")).expect("the built-in table is well formed")
});

/// Replacements for a speaker who talks about somebody else; `{}` is the speaker.
const OF_SPEAKER: [(&str, &str); 6] =
    [("me", "{}"), ("my", "{}'s"), ("mine", "{}'s"), ("i", "{}"), ("i'm", "{} is"), ("i've", "{} has")];

/// Converts the first person to the third: "their second tournament" for "my second tournament". With `speaker`, the
/// speaker is named: "Joanne plans on moving in with User".
pub(super) fn in_third_person(object: &str, speaker: Option<&str>) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut said = String::with_capacity(object.len());
    for piece in object.split_inclusive(|c: char| !is_of_word(c)) {
        let end = piece.trim_end_matches(|c: char| !is_of_word(c)).len();
        let (word, rest) = piece.split_at(end);
        let plain = word.replace('’', "'");
        // A final "I" is a numeral, and a capitalised "My" is part of a name.
        let is_name = match plain.strip_prefix('I') {
            Some("") => rest != " ",
            Some(_) => false,
            None => plain.starts_with(char::is_uppercase),
        };
        let lower = plain.to_lowercase();
        let of_speaker = speaker.and_then(|speaker| {
            let (_, third) = OF_SPEAKER.iter().find(|(first, _)| *first == lower)?;
            Some(third.replace("{}", speaker))
        });
        let other = of_speaker.or_else(|| PERSONS.get(&lower).cloned()).filter(|_| !is_name);
        said.push_str(other.as_deref().unwrap_or(word));
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
            assert_eq!(in_third_person(said, None), reads);
        }
    }

    #[test]
    fn what_is_said_of_others_names_who_says_it() {
        for (said, speaker, reads) in [
            ("moving in with me", "User", "moving in with User"),
            ("my old car", "User", "User's old car"),
            ("showing my paintings", "Melanie", "showing Melanie's paintings"),
        ] {
            assert_eq!(in_third_person(said, Some(speaker)), reads);
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
            ("dinner with Tom", "dinner with Tom"),
            ("trip to Lisbon", "a trip to Lisbon"),
            ("Lisbon", "to go to Lisbon"),
            ("", "to "),
        ] {
            assert_eq!(to_do(plan), reads);
        }
    }

    #[test]
    fn work_reads_as_english() {
        for (work, reads) in [
            ("nurse", "works as a nurse"),
            ("engineer on a ferry", "works as an engineer on a ferry"),
            ("an accountant", "works as an accountant"),
            ("teaches yoga", "teaches yoga"),
            ("taught maths", "taught maths"),
            ("drives a taxi", "drives a taxi"),
            ("repair clocks", "repairs clocks"),
            ("teach kids", "teaches kids"),
            ("sells insurance for a living", "sells insurance for a living"),
            ("train driver", "works as a train driver"),
            ("design lead", "works as a design lead"),
            ("sales assistant", "works as a sales assistant"),
            ("head of marketing", "works as head of marketing"),
            ("vice president of sales", "works as vice president of sales"),
            ("CTO", "works as CTO"),
        ] {
            assert_eq!(of_work(work), reads);
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
            ("keys to the flat", "keys to the flat"),
            ("house with two gardens", "a house with two gardens"),
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
