//! Finds the person a question is about, so that statements about others are not taken for an answer.

use std::ops::Range;

use crate::extract::USER;
use crate::item::Fact;
use crate::recall::index::names::NamedPerson;
use crate::recall::index::when::says_when;
use crate::text::tokens::{TextToken, has_phrase, is_stop_word};

/// The person a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// In lower case, as subjects of facts; [`USER`] for the user.
    names: Vec<String>,
    /// True if statements about others can be ruled out.
    sure: bool,
}

impl About {
    /// Finds the person the words are about. `named` are the people they name, `aliases` the user's names beside
    /// [`USER`], `aside` the words of an event that gives a time: they count only if no one else is named.
    pub(in crate::recall) fn of(
        words: &[TextToken],
        named: &[NamedPerson],
        aliases: &[String],
        aside: Option<&Range<usize>>,
    ) -> Option<Self> {
        let everywhere = Self::within(words, 0..words.len(), named, aliases);
        let Some(aside) = aside else { return everywhere.ok().flatten() };
        let mut found = Vec::new();
        for part in [0..aside.start, aside.end..words.len()] {
            match Self::within(words, part, named, aliases) {
                Ok(one) => found.extend(one),
                Err(SeveralPeople) => return None,
            }
        }
        match found.as_slice() {
            [] => everywhere.ok().flatten(),
            [first, rest @ ..] => rest.iter().all(|one| one.names == first.names).then(|| first.clone()),
        }
    }

    fn within(
        words: &[TextToken],
        part: Range<usize>,
        named: &[NamedPerson],
        aliases: &[String],
    ) -> Result<Option<Self>, SeveralPeople> {
        let user = || std::iter::once(USER.to_owned()).chain(aliases.iter().cloned()).collect::<Vec<_>>();
        let is_user = |name: &str| name == USER || aliases.iter().any(|alias| alias == name);
        let mut people: Vec<Vec<String>> = Vec::new();
        for one in named.iter().filter(|one| part.contains(&one.words.start)) {
            let same = |other: &Vec<String>| other.contains(&one.name);
            let place = named.iter().filter(|other| other.words.start == one.words.start);
            let names = if is_user(&one.name) { user() } else { place.map(|other| other.name.clone()).collect() };
            if !people.iter().any(same) {
                people.push(names);
            }
        }
        let first = first_person(&words[part.clone()]);
        if first != First::Absent && !people.iter().any(|names| is_user(&names[0])) {
            people.push(user());
        }
        match people.len() {
            0 if asks_you(&words[part]) => Ok(Some(Self { names: user(), sure: false })),
            0 => Ok(None),
            1 => Ok(people.pop().map(|names| Self { names, sure: first != First::WithOthers })),
            _ => Err(SeveralPeople),
        }
    }

    /// The names, in lower case.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns true if the person is the user.
    pub fn is_user(&self) -> bool {
        self.names.first().is_some_and(|name| name == USER)
    }

    /// Returns true if a text names the person.
    pub(in crate::recall) fn is_named_in(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let is_named = |name: &&String| {
            // A cheap check first: tokenising is expensive, and most texts name others.
            lower.contains(first_word(name)) && {
                let name: Vec<&str> = name.split_whitespace().collect();
                has_phrase(&crate::text::tokens::words(text), &name)
            }
        };
        self.names.iter().any(|name| is_named(&name))
    }

    /// Returns true if the fact is about the person.
    pub fn is_of(&self, fact: &Fact) -> bool {
        // Called for every statement, so it must not allocate.
        self.names.iter().any(|name| fact.subject.chars().flat_map(char::to_lowercase).eq(name.chars()))
    }

    /// Returns true if the fact is about someone else and does not mention the person.
    pub fn excludes(&self, fact: &Fact) -> bool {
        self.sure && !self.is_of(fact) && !self.is_named_in(&fact.subject) && !self.is_named_in(&fact.text)
    }

    /// Like [`Self::excludes`], for a fact known to be about someone else, with its wording in lower case.
    pub(in crate::recall) fn excludes_other(&self, fact: &Fact, wording: Option<&str>) -> bool {
        let first = |name: &String| wording.is_none_or(|text| text.contains(first_word(name)));
        let may_be_named = self.names.iter().any(first);
        self.sure && !self.is_named_in(&fact.subject) && !(may_be_named && self.is_named_in(&fact.text))
    }
}

fn first_word(name: &str) -> &str {
    name.split_whitespace().next().unwrap_or_default()
}

/// More than one person.
struct SeveralPeople;

/// First-person words in a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    Absent,
    /// A relative or acquaintance of the user is mentioned too.
    WithOthers,
    Alone,
}

/// Words after "my" that refer to another person.
const KIN: [&str; 44] = [
    "aunt",
    "boss",
    "boyfriend",
    "brother",
    "brothers",
    "child",
    "children",
    "colleague",
    "colleagues",
    "cousin",
    "dad",
    "daughter",
    "doctor",
    "family",
    "father",
    "fiance",
    "fiancee",
    "flatmate",
    "friend",
    "friends",
    "girlfriend",
    "grandfather",
    "grandma",
    "grandmother",
    "grandpa",
    "husband",
    "kid",
    "kids",
    "manager",
    "mom",
    "mother",
    "mum",
    "neighbour",
    "neighbor",
    "nephew",
    "niece",
    "parents",
    "partner",
    "roommate",
    "sister",
    "sisters",
    "son",
    "uncle",
    "wife",
];

/// "Tell me where Anna lives" is not about the user.
const TO_ME: [&str; 7] = ["tell", "show", "remind", "give", "let", "help", "ask"];

fn first_person(words: &[TextToken]) -> First {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let mut found = First::Absent;
    let mut kin = false;
    for at in 0..words.len() {
        match word(at) {
            "me" if at > 0 && TO_ME.contains(&word(at - 1)) => {}
            "i" | "me" | "mine" | "myself" => found = First::Alone,
            "user" if at > 0 && word(at - 1) == "the" => found = First::Alone,
            "my" if KIN.contains(&word(at + 1)) || KIN.contains(&word(at + 2)) => kin = true,
            "my" => found = First::Alone,
            _ => {}
        }
    }
    if found == First::Alone && kin { First::WithOthers } else { found }
}

/// Words before a question's subject.
const ASKING: [&str; 12] = ["did", "do", "does", "had", "has", "have", "is", "was", "were", "will", "would", "should"];

/// The subject of a question that is written like a name, for people unknown to the memory: "Where does Pavel live?".
/// Each of its words may identify the person.
pub(in crate::recall) fn written(text: &str, words: &[TextToken]) -> Vec<NamedPerson> {
    let is_capital = |word: &TextToken| {
        text[word.start..].starts_with(char::is_uppercase)
            && !is_stop_word(&word.lower)
            && !says_when(std::slice::from_ref(word))
    };
    let follows = |at: &usize| ASKING.contains(&words[*at - 1].lower.as_str()) && is_capital(&words[*at]);
    let Some(first) = (1..words.len()).find(follows) else { return Vec::new() };
    let place = first..(first..words.len()).find(|at| !is_capital(&words[*at])).unwrap_or(words.len());
    words[place.clone()].iter().map(|word| NamedPerson { words: place.clone(), name: word.lower.clone() }).collect()
}

/// Words of questions to an assistant.
const OF_AN_ASSISTANT: [&str; 14] = [
    "answer",
    "advise",
    "explain",
    "know",
    "mean",
    "recall",
    "recommend",
    "remember",
    "say",
    "suggest",
    "tell",
    "think",
    "help",
    "find",
];

/// Returns true for a question to the user as "you": "Where do you live?"
fn asks_you(words: &[TextToken]) -> bool {
    let has = |some: &[&str]| words.iter().any(|word| some.contains(&word.lower.as_str()));
    has(&["you", "your"]) && !has(&OF_AN_ASSISTANT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::words;

    /// The names a question is about, and whether that is certain.
    fn read(text: &str, people: &[&str]) -> Option<(Vec<String>, bool)> {
        let words = words(text);
        let at = |name: &&str| words.iter().position(|word| word.lower == **name);
        let named = |name: &&str| at(name).map(|at| NamedPerson { words: at..at + 1, name: (*name).to_owned() });
        let named: Vec<NamedPerson> = people.iter().filter_map(named).collect();
        About::of(&words, &named, &[], None).map(|about| (about.names, about.sure))
    }

    #[test]
    fn the_one_person_a_question_is_about() {
        for (text, expected) in [
            ("Where do I live?", Some(("user", true))),
            ("What's my job?", Some(("user", true))),
            ("What is the user's name?", Some(("user", true))),
            ("Where does the user work?", Some(("user", true))),
            ("Where does Anna live?", Some(("anna", true))),
            ("Tell me where Anna lives", Some(("anna", true))),
            ("Where do you work?", Some(("user", false))),
            ("When did I see my sister?", Some(("user", false))),
            // negatives
            ("What do you know of Lisbon?", None),
            ("Where does my sister live?", None),
            ("Where did Anna and I meet?", None),
            ("Are Anna and Tom friends?", None),
            ("Which users are new?", None),
            ("Who lives in Porto?", None),
        ] {
            let expected = expected.map(|(name, sure)| (vec![name.to_owned()], sure));
            assert_eq!(read(text, &["anna", "tom"]), expected, "{text:?}");
        }
    }

    #[test]
    fn a_subject_written_like_a_name_is_one() {
        for (text, expected) in [
            ("Where does Pavel live?", vec!["pavel"]),
            ("Who is Pavel Novak's boss?", vec!["pavel", "novak"]),
            ("where does pavel live?", vec![]),
            ("Do I live in Porto?", vec![]),
            ("Was Monday busy?", vec![]),
            ("Pavel lives where?", vec![]),
        ] {
            let found: Vec<String> = written(text, &words(text)).into_iter().map(|one| one.name).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn whose_doings_tell_the_time_is_not_asked_about() {
        let words = words("Where did Anna live before I moved?");
        let named = [NamedPerson { words: 2..3, name: "anna".to_owned() }];
        let about = About::of(&words, &named, &[], Some(&(4..7)));
        assert_eq!(about.map(|about| about.names), Some(vec!["anna".to_owned()]));
        assert_eq!(About::of(&words, &named, &[], None), None);
    }
}
