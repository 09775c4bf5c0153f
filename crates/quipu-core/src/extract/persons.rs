//! Resolves the subject of a clause and the relations between people.

use regex::Captures;

use super::language::Language;
use super::rules::pattern::{AnyOf, Pattern, Patterns};
use super::{Reading, USER};
use crate::refusal::Refusal;

/// Maximum number of words of a person's name and relation.
const LAST_WORDS_MAX: usize = 6;

/// Reads persons.
#[derive(Debug)]
pub(super) struct People {
    subjects: Vec<Pattern>,
    opening: Pattern,
    inner: Pattern,
    after: Pattern,
    not_names: Pattern,
    not_family_names: Pattern,
    ties: AnyOf,
    mine: Pattern,
    unnamed: String,
    gone: Pattern,
    she: Pattern,
    he: Pattern,
    introduced: Pattern,
    theirs: Pattern,
    place: Pattern,
}

/// The subject of a clause.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClausePerson {
    pub(super) name: String,
    /// True for the speaker, or the user a summary is about.
    pub(super) first: bool,
    /// True for the addressee.
    pub(super) second: bool,
    /// Upper bound of the confidence.
    pub(super) sure: f64,
    /// The relation used to name the person.
    pub(super) relation: Option<String>,
    /// "she" or "he", once it referred to the person.
    pub(super) pronoun: Option<String>,
}

/// A named relation: "my sister Anna".
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tie {
    pub(super) owner: String,
    /// True if the owner is stated: "my", "Anna's".
    pub(super) owned: bool,
    /// Position of the name.
    pub(super) at: usize,
    pub(super) relation: String,
    pub(super) name: String,
}

impl ClausePerson {
    pub(super) fn speaker(reading: &Reading<'_>) -> Self {
        Self { name: reading.speaker.to_owned(), first: true, second: false, sure: 1.0, relation: None, pronoun: None }
    }

    pub(super) fn other(name: String, sure: f64) -> Self {
        Self { name, first: false, second: false, sure, relation: None, pronoun: None }
    }

    /// The user of a summary.
    pub(super) fn user(sure: f64) -> Self {
        Self { name: USER.to_owned(), first: true, second: false, sure, relation: None, pronoun: None }
    }
}

impl People {
    pub(super) fn new(language: &Language, patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let words = &language.persons;
        let subjects = language.subject.patterns.iter().map(|subject| patterns.start("subject.patterns", subject));
        Ok(Self {
            subjects: subjects.collect::<Result<_, _>>()?,
            opening: patterns.start("subject.opening", &language.subject.opening)?,
            inner: patterns.one("subject.inner", &language.subject.inner)?,
            after: patterns.start("subject.after", &language.subject.after)?,
            not_names: patterns.one("subject.not_names", &format!("^(?:{})$", language.subject.not_names))?,
            not_family_names: patterns.one("persons.not_family_names", &format!("^(?:{})$", words.not_family_names))?,
            ties: patterns.any("persons.patterns", &words.patterns)?,
            mine: patterns.one("persons.mine", &format!("^(?:{})$", words.mine))?,
            unnamed: words.unnamed.clone(),
            gone: patterns.one("persons.gone", &words.gone)?,
            she: patterns.one("persons.she", &format!("^(?:{})$", words.she))?,
            he: patterns.one("persons.he", &format!("^(?:{})$", words.he))?,
            introduced: patterns.one("persons.introduced", &words.introduced)?,
            theirs: patterns.start("persons.theirs", &words.theirs)?,
            place: patterns.one("persons.place", &words.place)?,
        })
    }

    /// Returns the subject a clause begins with and its end; `met` are the persons mentioned before.
    pub(super) fn subject(
        &self,
        clause: &str,
        reading: &Reading<'_>,
        met: &[ClausePerson],
    ) -> Option<(ClausePerson, usize)> {
        let (who, end) =
            self.subjects.iter().find_map(|subject| self.known(&subject.captures(clause)?, reading, met))?;
        Some(self.of_theirs(&who, &clause[end..]).map_or((who, end), |(other, more)| (other, end + more)))
    }

    /// "My fiancé's brother Luke" is not the fiancé.
    fn of_theirs(&self, who: &ClausePerson, after: &str) -> Option<(ClausePerson, usize)> {
        let groups = self.theirs.captures(after)?;
        let relation = groups.name("relation")?.as_str();
        let name = groups.name("name").filter(|name| self.is_name(name.as_str()));
        let end = name.map_or(groups.name("relation")?.end(), |name| name.end());
        let owner = if who.first { USER } else { &who.name };
        let name = name.map_or_else(|| self.nameless(owner, relation), |name| name.as_str().to_owned());
        Some((ClausePerson { relation: Some(relation.to_lowercase()), ..ClausePerson::other(name, 0.85) }, end))
    }

    /// Names of newly mentioned people: "her name is Saskia", "a boyfriend now, Dan".
    pub(super) fn introduced(&self, sentence: &str) -> Vec<String> {
        let names = self.introduced.captures_iter(sentence).filter_map(|groups| groups.name("name"));
        names.map(|name| self.named(name.as_str()).to_owned()).filter(|name| self.is_name(name)).collect()
    }

    /// Finds the speaker after an opening that is not a clause ("in my spare time I …"), and the end of "I".
    pub(super) fn inner(&self, clause: &str, reading: &Reading<'_>) -> Option<(ClausePerson, usize)> {
        let from = self.opening.find(clause)?.end();
        let first = self.inner.find(&clause[from..])?;
        Some((ClausePerson::speaker(reading), from + first.end()))
    }

    /// The person at the end of `words[..end]`, as in "the other day I met my cousin Anna"; a name may follow.
    pub(super) fn last(&self, words: &str, end: usize, reading: &Reading<'_>) -> Option<ClausePerson> {
        let starts = words[..end].match_indices(' ').rev().take(LAST_WORDS_MAX).map(|(at, _)| at + 1);
        // "as someone who sings" refers to the speaker, "I know who sings" does not.
        let meant =
            |who: &ClausePerson, from: usize| !who.second && (!who.first || words[from..end].trim_end().contains(' '));
        let ends = |from: usize| {
            self.subject(&words[from..], reading, &[]).filter(|(who, to)| from + to >= end && meant(who, from))
        };
        // Prefer the longest match: "my cousin Anna" over "Anna".
        starts.chain([0]).filter_map(ends).map(|(who, _)| who).last()
    }

    /// Resolves the pronoun a sentence begins with if the person is named at the end: "she sings, my aunt Anna".
    pub(super) fn named_after(&self, sentence: &str, reading: &Reading<'_>) -> Option<ClausePerson> {
        let groups = self.after.captures(sentence)?;
        let relation = groups.name("relation")?.as_str();
        let owner = self.owner(groups.name("owner").map(|owner| owner.as_str()), reading)?;
        let name = groups.name("name").map(|name| name.as_str()).filter(|name| self.is_name(name));
        let name = name.map_or_else(|| self.nameless(&owner, relation), str::to_owned);
        Some(ClausePerson { relation: Some(relation.to_lowercase()), ..ClausePerson::other(name, 0.85) })
    }

    fn known(
        &self,
        groups: &Captures<'_>,
        reading: &Reading<'_>,
        met: &[ClausePerson],
    ) -> Option<(ClausePerson, usize)> {
        let end = groups.name("next").map_or(groups.get(0)?.end(), |next| next.start());
        let word = |name: &str| groups.name(name).map(|found| found.as_str());
        let other = |name: String, sure: f64, relation: Option<&str>| ClausePerson {
            relation: relation.map(str::to_lowercase),
            ..ClausePerson::other(name, sure)
        };
        let who = if word("first").is_some() {
            ClausePerson::speaker(reading)
        } else if word("user").is_some() {
            ClausePerson::user(1.0)
        } else if word("second").is_some() {
            ClausePerson { second: true, ..other(reading.addressee?.to_owned(), 0.75, None) }
        } else if let Some(pronoun) = word("pronoun") {
            self.meant(pronoun, met)?
        } else if let Some(relation) = word("relation") {
            let owner = self.owner(word("owner"), reading)?;
            match word("name").filter(|name| self.is_name(name)) {
                Some(name) => other(name.to_owned(), 0.9, Some(relation)),
                None => other(self.nameless(&owner, relation), 0.9, Some(relation)),
            }
        } else {
            let name = word("name").filter(|name| self.is_name(name))?;
            // A clause about a person with the speaker's name is about the speaker.
            let first = name == reading.speaker;
            ClausePerson { first, ..other(name.to_owned(), 0.85, None) }
        };
        Some((who, end))
    }

    /// Returns true if a clause says that somebody has died or is gone.
    pub(super) fn is_gone(&self, clause: &str) -> bool {
        self.gone.is_match(clause)
    }

    /// All people a clause names by a relation.
    pub(super) fn ties(&self, clause: &str, reading: &Reading<'_>) -> Vec<Tie> {
        let mut ties = Vec::new();
        for (_, groups) in self.ties.every(clause) {
            let before = groups.name("name").map_or("", |name| &clause[..name.start()]);
            ties.extend(self.tie(&groups, before, reading));
        }
        ties
    }

    /// The owner of a relation: the speaker for "my", a name for "Anna's".
    pub(super) fn owner(&self, owner: Option<&str>, reading: &Reading<'_>) -> Option<String> {
        let Some(owner) = owner.map(str::trim).filter(|owner| !owner.is_empty()) else {
            return Some(reading.speaker.to_owned());
        };
        if self.mine.is_match(owner) {
            return Some(reading.speaker.to_owned());
        }
        // "Anna's" and "James'" are possessives, "James" is a plain name.
        let short = owner.trim_end_matches('s');
        let name = short.strip_suffix(['\'', '’']).unwrap_or(owner).trim_end_matches(['\'', '’']);
        let name = name.strip_prefix("the ").or_else(|| name.strip_prefix("The ")).unwrap_or(name);
        if name.eq_ignore_ascii_case(USER) {
            return Some(USER.to_owned());
        }
        self.is_name(name).then(|| name.to_owned())
    }

    pub(super) fn nameless(&self, owner: &str, relation: &str) -> String {
        self.unnamed.replace("{owner}", owner).replace("{relation}", &relation.to_lowercase())
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        name.chars().next().is_some_and(char::is_uppercase) && !self.not_names.is_match(name)
    }

    /// The part of capitalised words that names a person: "Tom" in "I saw my brother Tom Friday", "Anna" in "my sister
    /// Anna's Tesla".
    fn named<'a>(&self, words: &'a str) -> &'a str {
        let owner = |mark: &str| {
            let is_end = |at: &usize| !words[at + mark.len()..].starts_with(char::is_alphabetic);
            words.match_indices(mark).map(|(at, _)| at).find(is_end)
        };
        let words = &words[..["'s", "’s"].into_iter().filter_map(owner).min().unwrap_or(words.len())];
        let is_of_another = |at: &usize| {
            let next = words[at + 1..].split(' ').next();
            next.is_some_and(|next| self.not_family_names.is_match(next))
        };
        let end = words.match_indices(' ').map(|(at, _)| at).find(is_of_another);
        &words[..end.unwrap_or(words.len())]
    }

    fn tie(&self, groups: &Captures<'_>, before: &str, reading: &Reading<'_>) -> Option<Tie> {
        // "She's from Trondal, my new boss" names a place.
        if self.place.is_match(before) {
            return None;
        }
        let said = groups.name("owner").map(|owner| owner.as_str());
        let owned = said.is_some_and(|owner| !owner.trim().is_empty());
        let owner = self.owner(said, reading)?;
        // "my sister Philippa's allergic"
        let name = self.named(groups.name("name")?.as_str());
        let relation = groups.name("relation")?.as_str().to_lowercase();
        (self.is_name(name) && name != reading.speaker).then(|| Tie {
            owner,
            owned,
            at: before.len(),
            relation,
            name: name.to_owned(),
        })
    }

    /// Resolves a pronoun: the only other person mentioned whose relation, and the pronoun used before, are compatible
    /// with it.
    fn meant(&self, pronoun: &str, met: &[ClausePerson]) -> Option<ClausePerson> {
        let pronoun = pronoun.to_lowercase();
        let fits = |who: &&ClausePerson| {
            let says = |words: &Pattern| who.relation.as_deref().is_some_and(|relation| words.is_match(relation));
            let wrong = if pronoun == "she" { says(&self.he) } else { says(&self.she) };
            // "My parents" is neither.
            let several =
                who.relation.as_deref().is_some_and(|relation| relation.ends_with('s') && !relation.ends_with("ss"));
            let other = who.pronoun.as_ref().is_some_and(|known| *known != pronoun);
            !who.first && !wrong && !several && !other
        };
        let mut fitting = met.iter().filter(fits);
        let one = fitting.next()?;
        let only = fitting.all(|other| other.name == one.name);
        only.then(|| ClausePerson { sure: one.sure.min(0.8), pronoun: Some(pronoun.clone()), ..one.clone() })
    }
}
