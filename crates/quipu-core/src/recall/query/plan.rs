//! From a question to what will be looked for.

use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::extract::USER;
use crate::id::ItemKind;
use crate::limit;
use crate::memory::Memory;
use crate::recall::answer::validity::Validity;
use crate::recall::index::derived::{DerivedIndex, opposite_of};
use crate::recall::index::passage_index::Index;
use crate::recall::index::tokens::{self, TextToken};
use crate::recall::query::about::{self, About, NamedPerson};
use crate::recall::query::cues::QuestionForm;
use crate::recall::query::dates::{self, NamedDate};
use crate::recall::query::entities;
use crate::recall::query::event_time::{self, Occasion};
use crate::recall::query::intent::Intent;
use crate::recall::query::intervals::{self, Interval};
use crate::recall::query::negation::Negation;
use crate::recall::query::when;
use crate::refusal::Refusal;

/// What may be returned. An empty list leaves its side open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only items of these sessions.
    pub sessions: Vec<Arc<str>>,
    /// Only items of these kinds.
    pub kinds: Vec<ItemKind>,
}

impl Filter {
    /// True if everything may be returned.
    pub fn is_open(&self) -> bool {
        self.sessions.is_empty() && self.source_kinds().is_empty()
    }

    /// The kinds that sources are narrowed to. Where drawn items are asked for, every source may speak for them.
    pub(in crate::recall) fn source_kinds(&self) -> &[ItemKind] {
        let drawn =
            |kind: &ItemKind| !matches!(kind, ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import);
        if self.kinds.iter().any(drawn) { &[] } else { &self.kinds }
    }

    /// True if items of this kind may be returned.
    pub fn admits_kind(&self, kind: ItemKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// A question to a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The question, in words.
    pub text: String,
    /// How many items to return at most.
    pub k: usize,
    /// What "today" and "yesterday" refer to; without it they are ordinary words.
    pub now: Option<Timestamp>,
    /// What may be returned.
    pub filter: Filter,
    /// For which time statements are asked; without it the question's own words decide.
    pub validity: Option<Validity>,
    /// What it is for; without it the question's own words decide.
    pub intent: Option<Intent>,
}

/// What a question asks for, as far as it can be told from its words and the index's authors.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPlan {
    /// Distinct terms to find, names of authors left out unless nothing else is asked.
    pub terms: Vec<String>,
    /// The author whose words count more, by number in the index.
    speaks: Option<u32>,
    /// The author the question names, if it names exactly one, or whose own question it is.
    pub speaker: Option<Arc<str>>,
    /// Dates the question names.
    pub dates: Vec<NamedDate>,
    /// Stretches of time it names relative to today.
    pub intervals: Vec<Interval>,
    /// The question as it was put.
    pub text: String,
    /// What "today" refers to.
    pub now: Option<Timestamp>,
    /// True if it asks for a time.
    pub asks_when: bool,
    /// What its form asks for.
    pub(in crate::recall) form: QuestionForm,
    /// What it is for.
    pub intent: Intent,
    /// What to embed: the question as the named authors would put it.
    pub first_person_text: String,
    /// How many items to return at most.
    pub k: usize,
    /// What may be returned.
    pub filter: Filter,
    /// For which time statements are asked.
    pub validity: Validity,
    /// The one person it asks about.
    pub about: Option<About>,
    /// Terms a statement should have: those to find, without the words that tell a time.
    pub asked: Vec<String>,
    /// The moment that is meant before any other of the asked time.
    pub near: Option<Timestamp>,
    /// What it says no to.
    pub negation: Negation,
    /// Names in the question: people the memory knows, and what else is written like a name.
    pub entities: Vec<String>,
    /// A time told by what happened, until a memory says when that was.
    occasion: Option<Occasion>,
}

/// Whether a text can be asked.
///
/// # Errors
/// `Invalid`: it is blank or longer than [`limit::QUERY_BYTES_MAX`].
pub fn check_question(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::invalid("the query is empty"));
    }
    if text.len() > limit::QUERY_BYTES_MAX {
        let (bytes, most) = (text.len(), limit::QUERY_BYTES_MAX);
        return Err(Refusal::invalid(format!("the query has {bytes} bytes, at most {most} are read")));
    }
    Ok(())
}

impl QueryPlan {
    /// True if it asks for what may lie anywhere: a time, a session, what held once.
    pub(in crate::recall) fn reaches_back(&self) -> bool {
        let names_time = !self.dates.is_empty() || !self.intervals.is_empty();
        names_time || self.validity != Validity::Now(None) || !self.filter.sessions.is_empty()
    }

    /// Reads a question.
    ///
    /// # Errors
    /// `Invalid`: the text is blank or longer than [`limit::QUERY_BYTES_MAX`], or `k` is 0 or over
    /// [`limit::RECALL_K_MAX`].
    pub fn new(index: &Index, query: Query) -> Result<Self, Refusal> {
        check_question(&query.text)?;
        if query.k == 0 || query.k > limit::RECALL_K_MAX {
            return Err(Refusal::invalid(format!(
                "1 to {} items can be asked for, not {}",
                limit::RECALL_K_MAX,
                query.k
            )));
        }
        let words = tokens::words(&query.text);
        let negation = Negation::of(&query.text, &words);
        let mentions = mentions_besides(index, &query.text, &words, &negation);
        let mut named: Vec<u32> = mentions.iter().map(|mention| mention.author).collect();
        named.sort_unstable();
        named.dedup();
        let dates = dates::named_dates(&query.text);
        let today = query.now.map(|now| now.to_zoned(TimeZone::UTC).date());
        let intervals = today.map(|today| intervals::intervals(&query.text, &words, today)).unwrap_or_default();
        let ever = Some(Validity::Ever).filter(|_| negation.over);
        let validity = query.validity.or(ever).unwrap_or_else(|| validity(&words, &intervals, today));
        let occasion =
            event_time::find(&query.text, &words).filter(|_| intervals.is_empty() && query.validity.is_none());
        let mut aside = intervals::places(&query.text, &words, today);
        aside.extend(negation.places.iter().cloned());
        let authors = authors(index, &mentions);
        let about = About::of(&words, &authors, &[], occasion.as_ref().map(|one| &one.whole));
        let only = match (&named[..], &about) {
            ([only], _) => Some(*only),
            // The user is an author where turns are signed "user".
            ([], Some(about)) if about.is_user() => index.author_called(USER),
            _ => None,
        };
        Ok(Self {
            asked: turned(without(&words, &mentions, &aside), &negation),
            // Words that tell a time are a time, not words to find.
            terms: without(&words, &mentions, &aside),
            entities: entities::of(&query.text, &words, &authors),
            speaker: only.and_then(|author| index.author(author)).cloned(),
            dates,
            intent: query.intent.unwrap_or_else(|| Intent::of(&words)),
            intervals,
            asks_when: when::asks_when(&words),
            form: QuestionForm::of(&query.text),
            now: query.now,
            first_person_text: first_person(&query.text, &words, &said_of(&words, &mentions)),
            speaks: only,
            about,
            near: middle(validity),
            negation,
            occasion,
            k: query.k,
            text: query.text,
            validity,
            filter: query.filter,
        })
    }

    /// The one author named, or whose own question it is, by number in the index.
    pub(in crate::recall) fn speaker_number(&self) -> Option<u32> {
        self.speaks
    }

    /// The plan with what only the memory tells: whom it knows by a name, and when that was which the question tells a time
    /// by. What the memory does not know leaves the plan as it is.
    pub fn grounded(mut self, memory: &Memory, index: &Index, derived: &DerivedIndex) -> Self {
        let words = tokens::words(&self.text);
        let mentions = mentions_besides(index, &self.text, &words, &self.negation);
        let mut named = authors(index, &mentions);
        let left_out = |at: usize| self.negation.places.iter().any(|place| place.contains(&at));
        named.extend(derived.named(&self.text, &words).into_iter().filter(|one| !left_out(one.words.start)));
        let known: Vec<usize> = named.iter().map(|one| one.words.start).collect();
        let own = own_name(memory, &self.text, &words);
        let own: Vec<_> =
            own.into_iter().filter(|place| !known.contains(&place.start) && !left_out(place.start)).collect();
        if !own.is_empty() {
            self.is_asked_of_the_user(&words, &mentions, &own);
            named.extend(own.into_iter().map(|words| NamedPerson { words, name: USER.to_owned() }));
        }
        if named.is_empty() {
            named = about::written(&self.text, &words);
        }
        self.entities = entities::of(&self.text, &words, &named);
        let own_name = memory.user().as_str().to_lowercase();
        // The user may sign with a name of their own.
        let itself = index.author_called(&own_name);
        let aliases: Vec<String> = itself.iter().map(|_| own_name.clone()).collect();
        let aside = self.occasion.as_ref().map(|one| one.whole.clone());
        self.about = About::of(&words, &named, &aliases, aside.as_ref());
        if self.speaks.is_none() && mentions.is_empty() && self.about.as_ref().is_some_and(About::is_user) {
            self.speaks = itself;
            self.speaker = itself.and_then(|author| index.author(author)).cloned();
        }
        let Some(occasion) = self.occasion.take() else { return self };
        let names = self.about.as_ref().map_or(&[][..], About::names);
        let clause: Vec<String> = words[occasion.whole.clone()].iter().filter_map(term_of).collect();
        let facts = derived.facts_with(memory.items(), &clause);
        if let Some(resolved) = occasion.resolve(memory.items(), &facts, (&self.text, &words), names) {
            (self.validity, self.near) = (resolved.validity, resolved.near);
            let aside: Vec<_> = self.negation.places.iter().cloned().chain([occasion.whole]).collect();
            self.asked = turned(without(&words, &mentions, &aside), &self.negation);
        }
        self
    }
}

impl QueryPlan {
    /// The question names the user: what they said, they said in the first person, and hardly ever with their name.
    fn is_asked_of_the_user(&mut self, words: &[TextToken], mentions: &[Mention], own: &[Range<usize>]) {
        if mentions.is_empty() {
            let mut places = said_of(words, mentions);
            places.extend(own.iter().cloned());
            places.sort_by_key(|place| place.start);
            self.first_person_text = first_person(&self.text, words, &places);
        }
        let names: Vec<String> =
            own.iter().cloned().flat_map(|place| words[place].iter().filter_map(term_of)).collect();
        for terms in [&mut self.terms, &mut self.asked] {
            if terms.iter().any(|term| !names.contains(term)) {
                terms.retain(|term| !names.contains(term));
            }
        }
    }
}

/// Relations that tell what the user is called.
const NAMES: [&str; 2] = ["name", "nickname"];
/// A shorter user id is no name.
const NAME_CHARS_MIN: usize = 3;

/// Where a text has the user's own name: what facts say they are called, or the user id, if that is a word.
fn own_name(memory: &Memory, text: &str, words: &[TextToken]) -> Vec<Range<usize>> {
    let told = memory
        .items()
        .facts()
        .filter(|fact| fact.subject == USER && fact.is_active() && NAMES.contains(&fact.predicate.as_str()));
    let told = told.map(|fact| fact.object.as_str());
    let id = memory.user().as_str();
    let id = Some(id).filter(|id| id.chars().count() >= NAME_CHARS_MIN && id.chars().all(char::is_alphabetic));
    let mut names: Vec<Vec<String>> = Vec::new();
    for name in told.chain(id) {
        let whole: Vec<String> = tokens::words(name).into_iter().map(|word| word.lower).collect();
        names.extend(whole.first().map(|first| vec![first.clone()]));
        names.push(whole);
    }
    names.retain(|name| !name.is_empty());
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let is_here = |name: &&Vec<String>| {
            words.len() - at >= name.len()
                && name.iter().zip(&words[at..]).all(|(part, word)| *part == word.lower)
                && is_name_here(text, words, &(at..at + name.len()))
        };
        let length = names.iter().find(is_here).map_or(0, Vec::len);
        if length > 0 {
            found.push(at..at + length);
        }
        at += length.max(1);
    }
    found
}

fn term_of(word: &TextToken) -> Option<String> {
    tokens::term_of(&word.lower)
}

/// The authors a question names, as facts would name them.
fn authors(index: &Index, mentions: &[Mention]) -> Vec<NamedPerson> {
    let name = |mention: &Mention| {
        let name = index.author(mention.author)?.to_lowercase();
        Some(NamedPerson { words: mention.first..mention.end, name })
    };
    mentions.iter().filter_map(name).collect()
}

/// Words of a question that name an author.
struct Mention {
    author: u32,
    first: usize,
    /// The word after the last.
    end: usize,
}

fn mentions(index: &Index, text: &str, words: &[TextToken]) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match longest_name(index, text, words, at) {
            Some((author, length)) => {
                found.push(Mention { author, first: at, end: at + length });
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// The author whose whole name starts at a word, else the only one with that first name.
fn longest_name(index: &Index, text: &str, words: &[TextToken], at: usize) -> Option<(u32, usize)> {
    let candidates = index.authors_starting_with(&words[at].lower);
    let is_whole = |name: &[String]| {
        words.len() - at >= name.len() && name.iter().zip(&words[at..]).all(|(part, word)| *part == word.lower)
    };
    let whole = candidates.iter().filter(|author| is_whole(&author.name)).max_by_key(|author| author.name.len());
    let (author, length) = match (whole, candidates) {
        (Some(author), _) => (author.number, author.name.len()),
        (None, [only]) => (only.number, 1),
        _ => return None,
    };
    is_name_here(text, words, &(at..at + length)).then_some((author, length))
}

/// False for words that are more often no name: "Will", "May" and "Art" are names only where they are written like one and
/// do not open the sentence.
pub(in crate::recall) fn is_name_here(text: &str, words: &[TextToken], place: &Range<usize>) -> bool {
    let word = &words[place.start];
    let doubtful = place.len() == 1
        && (tokens::is_stop_word(&word.lower)
            || matches!(word.lower.as_str(), "will" | "may" | "mark" | "art" | "grace" | "hope" | "april" | "june"));
    let written_like_a_name = text[word.start..].starts_with(char::is_uppercase);
    let opens = place.start == 0 && !word.is_possessive();
    !doubtful || (written_like_a_name && !opens)
}

/// The authors named of whom something is asked: "besides Anna" asks nothing of Anna.
fn mentions_besides(index: &Index, text: &str, words: &[TextToken], negation: &Negation) -> Vec<Mention> {
    let mut found = mentions(index, text, words);
    found.retain(|mention| !negation.places.iter().any(|place| place.contains(&mention.first)));
    found
}

/// Where the opposite is asked for, the terms of the opposite relation: what somebody does not like is what they dislike.
fn turned(terms: Vec<String>, negation: &Negation) -> Vec<String> {
    if !negation.denied {
        return terms;
    }
    terms.into_iter().map(|term| opposite_of(&term).map_or(term, str::to_owned)).collect()
}

fn terms(words: &[TextToken], mentions: &[Mention]) -> Vec<String> {
    let without = distinct(words, &|at| is_name(mentions, at));
    if without.is_empty() { distinct(words, &|_| false) } else { without }
}

/// The terms without names and these places; all of them if none are left.
fn without(words: &[TextToken], mentions: &[Mention], places: &[Range<usize>]) -> Vec<String> {
    let left = distinct(words, &|at| is_name(mentions, at) || places.iter().any(|place| place.contains(&at)));
    if left.is_empty() { terms(words, mentions) } else { left }
}

fn is_name(mentions: &[Mention], at: usize) -> bool {
    mentions.iter().any(|mention| (mention.first..mention.end).contains(&at))
}

fn distinct(words: &[TextToken], left_out: &dyn Fn(usize) -> bool) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    for (_, word) in words.iter().enumerate().filter(|(at, _)| !left_out(*at)) {
        if let Some(term) = term_of(word).filter(|term| !terms.contains(term)) {
            terms.push(term);
        }
    }
    terms
}

/// Where somebody is named who speaks in the first person; where nobody is, "the user" is.
fn said_of(words: &[TextToken], mentions: &[Mention]) -> Vec<Range<usize>> {
    if !mentions.is_empty() {
        return mentions.iter().map(|mention| mention.first..mention.end).collect();
    }
    let is_user = |at: &usize| words[*at].lower == "the" && words.get(at + 1).is_some_and(|next| next.lower == USER);
    (0..words.len()).filter(is_user).map(|at| at..at + 2).collect()
}

/// `Anna's` becomes `my`, `Anna` becomes `I`: turns are said in the first person, and so should the question be. With two
/// names both are replaced, which was measured to find more than leaving them.
fn first_person(text: &str, words: &[TextToken], places: &[Range<usize>]) -> String {
    let mut said = String::with_capacity(text.len());
    let mut copied = 0;
    for place in places {
        let (first, last) = (&words[place.start], &words[place.end - 1]);
        said.push_str(&text[copied..first.start]);
        said.push_str(if last.is_possessive() { "my" } else { "I" });
        copied = last.end_possessive;
    }
    said.push_str(&text[copied..]);
    said
}

/// Words that ask for what was, whatever the time.
const HISTORY: [&[&str]; 5] =
    [&["in", "the", "past"], &["history"], &["over", "the", "years"], &["ever"], &["back", "then"]];

/// The middle of a stretch that has two ends: "two weeks ago" is a week, and most of all its middle.
fn middle(validity: Validity) -> Option<Timestamp> {
    match validity {
        Validity::Within(from, until) if from > Timestamp::MIN && until < Timestamp::MAX => {
            from.checked_add(until.duration_since(from) / 2).ok()
        }
        _ => None,
    }
}

/// For which time statements are asked: a time that is over, all times, or now.
fn validity(words: &[TextToken], intervals: &[Interval], today: Option<Date>) -> Validity {
    let over = |interval: &&Interval| today.is_some_and(|today| interval.is_before(today));
    if let Some(interval) = intervals.iter().find(over) {
        let start =
            |date: Option<Date>| date.and_then(|date| date.to_zoned(TimeZone::UTC).ok()).map(|at| at.timestamp());
        let (from, until) = (start(interval.from), start(interval.until));
        return Validity::Within(from.unwrap_or(Timestamp::MIN), until.unwrap_or(Timestamp::MAX));
    }
    if HISTORY.iter().any(|phrase| tokens::has_phrase(words, phrase)) { Validity::Ever } else { Validity::Now(None) }
}
