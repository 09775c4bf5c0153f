//! Turns a question into a search plan.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::calendar::dates::{self, NamedDate};
use crate::calendar::intervals::{self, Interval};
use crate::extract::USER;
use crate::id::ItemId;
use crate::item::Fact;
use crate::items::Items;
use crate::limit;
use crate::memory::Memory;
use crate::recall::index::cues::QuestionForm;
use crate::recall::index::derived::{DerivedIndex, opposite_of};
use crate::recall::index::filter::Filter;
use crate::recall::index::names::{NamedPerson, is_name_here};
use crate::recall::index::passage_index::Index;
use crate::recall::index::when;
use crate::recall::index::words::OtherStems;
use crate::recall::query::about::{self, About};
use crate::recall::query::entities;
use crate::recall::query::event_time::{self, Occasion};
use crate::recall::query::intent::Intent;
use crate::recall::query::negation::Negation;
use crate::recall::query::validity::Validity;
use crate::refusal::Refusal;
use crate::text::language::Language;
use crate::text::tokens::{self, ContentWords, TextToken};

/// A question to a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The text of the question.
    pub text: String,
    /// Maximum number of items to return.
    pub k: usize,
    /// What the asker's clock shows, as if it were UTC: the time of "today"; without it "today" is an ordinary word.
    pub now: Option<Timestamp>,
    /// Restriction of the results.
    pub filter: Filter,
    /// The time for which statements are requested. Defaults to what the question's words show.
    pub validity: Option<Validity>,
    /// The intent. Defaults to what the question's words show.
    pub intent: Option<Intent>,
}

/// What a question asks for, as far as its words and the index's authors show.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPlan {
    /// Distinct search terms, without names of authors unless nothing else is left.
    pub terms: Vec<String>,
    /// Index number of the author whose words are preferred.
    speaks: Option<u32>,
    /// The author the question names, if exactly one, or the author who asks about themself.
    pub speaker: Option<Arc<str>>,
    /// Dates the question names.
    pub dates: Vec<NamedDate>,
    /// Time intervals it names relative to today.
    pub intervals: Vec<Interval>,
    /// The original question.
    pub text: String,
    /// Reference time of "today".
    pub now: Option<Timestamp>,
    /// The time at which facts must not be over; `None` for an earlier version.
    present: Option<Timestamp>,
    /// True if it asks for a time.
    pub asks_when: bool,
    /// What its form asks for.
    pub(in crate::recall) form: QuestionForm,
    /// Its intent.
    pub intent: Intent,
    /// The text to embed: the question in the first person of the named authors.
    pub first_person_text: String,
    /// Maximum number of items to return.
    pub k: usize,
    /// Restriction of the results.
    pub filter: Filter,
    /// The time for which statements are requested.
    pub validity: Validity,
    /// The person it is about.
    pub about: Option<About>,
    /// Terms a statement should have: the search terms without the words of an event that gives a time.
    pub asked: Vec<String>,
    /// The preferred moment of the requested time.
    pub near: Option<Timestamp>,
    /// Its negation and exclusions.
    pub negation: Negation,
    /// Names in the question: people known to the memory, and other capitalised names.
    pub entities: Vec<String>,
    /// The language of its words.
    pub(in crate::recall) language: Language,
    /// Stems of its words in the other languages of the memory.
    pub(in crate::recall) other_stems: OtherStems,
    /// A time given by an event, until a memory resolves it.
    occasion: Option<Occasion>,
}

/// Checks that a text is a valid question.
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
    /// Returns true if the question is in English, or nothing indicates another language.
    pub fn is_english(&self) -> bool {
        self.language == Language::English
    }

    /// Returns true if an item may be shown: see [`Validity::admits`]. What has ended is no answer about the present.
    pub fn admits(&self, items: &Items, id: ItemId) -> bool {
        self.validity.admits(items, id) && !items.fact(id).is_some_and(|fact| self.is_over(fact))
    }

    /// Returns true if a fact has ended, though nothing took its place, and the question is about the present.
    pub(in crate::recall) fn is_over(&self, fact: &Fact) -> bool {
        let now = self.present.filter(|_| self.validity == Validity::Now(None) && !self.asks_when);
        fact.is_active() && now.zip(fact.valid_to).is_some_and(|(now, end)| end <= now)
    }

    /// The plan for the present of a memory, and not for an earlier version: what has ended by now is no answer.
    #[must_use]
    pub fn in_the_present(self) -> Self {
        Self { present: self.now, ..self }
    }

    /// Returns true if it asks for open tasks, goals or problems.
    pub fn asks_for_tasks(&self) -> bool {
        self.form.tasks
    }

    /// Returns true if the answer may lie outside the active index: the question names a time, a session, or a past
    /// state.
    pub(in crate::recall) fn reaches_back(&self) -> bool {
        let names_time = !self.dates.is_empty() || !self.intervals.is_empty();
        names_time || self.validity != Validity::Now(None) || !self.filter.sessions.is_empty()
    }

    /// Parses a question.
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
        let language = language_of(index, &query.text);
        let negation = Negation::of(&query.text, &words);
        let mentions = mentions_besides(index, &query.text, &words, &negation);
        let mut named: Vec<u32> = mentions.iter().map(|mention| mention.author).collect();
        named.sort_unstable();
        named.dedup();
        let dates = dates::named_dates(&query.text);
        let today = day(query.now);
        let intervals = today.map(|today| intervals::intervals(&query.text, &words, today)).unwrap_or_default();
        let ever = Some(Validity::Ever).filter(|_| negation.over);
        let validity = query.validity.or(ever).unwrap_or_else(|| Validity::asked(&words, &intervals, today));
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
            asked: turned(without((&words, language), &mentions, &aside), &negation),
            // Words of a time are not search terms.
            terms: without((&words, language), &mentions, &aside),
            other_stems: other_stems(&words, language, index.words.languages()),
            language,
            entities: entities::of(&query.text, &words, &authors),
            speaker: only.and_then(|author| index.author(author)).cloned(),
            dates,
            intent: query.intent.unwrap_or_else(|| Intent::of(&words)),
            intervals,
            asks_when: when::asks_when(&words),
            form: QuestionForm::of(&query.text),
            now: query.now,
            present: None,
            first_person_text: first_person(&query.text, &words, &said_of(&words, &mentions), today),
            speaks: only,
            about,
            near: validity.middle(),
            negation,
            occasion,
            k: query.k,
            text: query.text,
            validity,
            filter: query.filter,
        })
    }

    /// Index number of the author named or asking.
    pub(in crate::recall) fn speaker_number(&self) -> Option<u32> {
        self.speaks
    }

    /// Completes the plan with information of the memory: the people it knows by name, and the time of an event. Names
    /// and events unknown to the memory leave the plan unchanged.
    pub fn grounded(mut self, memory: &Memory, index: &Index, derived: &DerivedIndex) -> Self {
        let words = tokens::words(&self.text);
        let languages: BTreeSet<Language> = index.words.languages().chain(derived.words.languages()).collect();
        self.other_stems = other_stems(&words, self.language, languages);
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
            self.asked = turned(without((&words, self.language), &mentions, &aside), &self.negation);
        }
        self
    }
}

impl QueryPlan {
    /// Handles a question that names the user, who speaks in the first person and rarely uses their own name.
    fn is_asked_of_the_user(&mut self, words: &[TextToken], mentions: &[Mention], own: &[Range<usize>]) {
        if mentions.is_empty() {
            let mut places = said_of(words, mentions);
            places.extend(own.iter().cloned());
            places.sort_by_key(|place| place.start);
            self.first_person_text = first_person(&self.text, words, &places, day(self.now));
        }
        let names: Vec<String> =
            own.iter().flat_map(|place| distinct((words, self.language), &|at| !place.contains(&at))).collect();
        for terms in [&mut self.terms, &mut self.asked] {
            if terms.iter().any(|term| !names.contains(term)) {
                terms.retain(|term| !names.contains(term));
            }
        }
    }
}

/// Predicates of the user's names.
const NAMES: [&str; 2] = ["name", "nickname"];
/// Minimum length of a user id that may be a name.
const NAME_CHARS_MIN: usize = 3;

/// Occurrences of the user's own name: as stated by facts, or the user id if it is a word.
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

/// The authors a question names, as subjects of facts.
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

/// The author whose full name starts at a word, else the only one with that first name.
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

/// The authors the question is about: "besides Anna" is not about Anna.
fn mentions_besides(index: &Index, text: &str, words: &[TextToken], negation: &Negation) -> Vec<Mention> {
    let mut found = mentions(index, text, words);
    found.retain(|mention| !negation.places.iter().any(|place| place.contains(&mention.first)));
    found
}

/// Replaces terms by those of the opposite predicate if the question is negated: what somebody does not like is what
/// they dislike.
fn turned(terms: Vec<String>, negation: &Negation) -> Vec<String> {
    if !negation.denied {
        return terms;
    }
    terms.into_iter().map(|term| opposite_of(&term).map_or(term, str::to_owned)).collect()
}

fn terms(words: (&[TextToken], Language), mentions: &[Mention]) -> Vec<String> {
    let without = distinct(words, &|at| is_name(mentions, at));
    if without.is_empty() { distinct(words, &|_| false) } else { without }
}

/// The terms without names and these ranges; all terms if none are left.
fn without(words: (&[TextToken], Language), mentions: &[Mention], places: &[Range<usize>]) -> Vec<String> {
    let left = distinct(words, &|at| is_name(mentions, at) || places.iter().any(|place| place.contains(&at)));
    if left.is_empty() { terms(words, mentions) } else { left }
}

fn is_name(mentions: &[Mention], at: usize) -> bool {
    mentions.iter().any(|mention| (mention.first..mention.end).contains(&at))
}

fn distinct((words, language): (&[TextToken], Language), left_out: &dyn Fn(usize) -> bool) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    each_content_word(words, language, left_out, &mut |word| {
        let term = tokens::term_in(word, language);
        if !terms.iter().any(|known| *known == term) {
            terms.push(term.into_owned());
        }
    });
    terms
}

fn each_content_word(
    words: &[TextToken],
    language: Language,
    left_out: &dyn Fn(usize) -> bool,
    each: &mut dyn FnMut(&str),
) {
    let mut content = ContentWords::new(language);
    for (_, word) in words.iter().enumerate().filter(|(at, _)| !left_out(*at)) {
        content.next(&word.lower, word.start..word.end, &mut |word: &str| each(word));
    }
}

/// The language of a question. A single word indicates only a language of the memory: "dog" is a Danish stop word.
fn language_of(index: &Index, question: &str) -> Language {
    let is_known = |language: &Language| index.words.languages().any(|one| one == *language);
    let by_one_word = || Language::of_question(question).filter(is_known);
    Language::of_text(question).or_else(by_one_word).unwrap_or_else(|| index.words.main_language())
}

/// For each term of a question, the different stems of its word in the other languages.
fn other_stems(words: &[TextToken], language: Language, languages: impl IntoIterator<Item = Language>) -> OtherStems {
    let mut stems = OtherStems::new();
    for other in languages.into_iter().filter(|other| *other != language) {
        each_content_word(words, language, &|_| false, &mut |word| {
            let (term, stem) = (tokens::term_in(word, language), tokens::term_in(word, other));
            if term != stem {
                let known: &mut Vec<String> = stems.entry(term.into_owned()).or_default();
                if !known.iter().any(|one| *one == stem) {
                    known.push(stem.into_owned());
                }
            }
        });
    }
    stems
}

/// Ranges of the named authors, who speak in the first person; without any, those of "the user".
fn said_of(words: &[TextToken], mentions: &[Mention]) -> Vec<Range<usize>> {
    if !mentions.is_empty() {
        return mentions.iter().map(|mention| mention.first..mention.end).collect();
    }
    let is_user = |at: &usize| words[*at].lower == "the" && words.get(at + 1).is_some_and(|next| next.lower == USER);
    (0..words.len()).filter(is_user).map(|at| at..at + 2).collect()
}

/// Replaces `Anna's` by `my` and `Anna` by `I`, since turns are in the first person. With two names both are replaced,
/// which measured better than leaving them. Words such as "yesterday" are left out ([`intervals::passing`]), unless
/// hardly anything else is asked.
fn first_person(text: &str, words: &[TextToken], named: &[Range<usize>], today: Option<Date>) -> String {
    let mut passing = today.map(|today| intervals::passing(text, words, today)).unwrap_or_default();
    if passing.iter().map(Range::len).sum::<usize>() + OTHER_WORDS_MIN > words.len() {
        passing.clear();
    }
    let times = passing.iter().map(|place| (place, true));
    let mut places: Vec<_> = named.iter().map(|place| (place, false)).chain(times).collect();
    places.sort_by_key(|(place, _)| place.start);
    let mut said = String::with_capacity(text.len());
    let mut copied = 0;
    for (place, is_time) in places {
        let (first, last) = (&words[place.start], &words[place.end - 1]);
        if first.start < copied {
            continue;
        }
        let before = &text[copied..first.start];
        said.push_str(if is_time { before.trim_end() } else { before });
        if !is_time {
            said.push_str(if last.is_possessive() { "my" } else { "I" });
        }
        copied = last.end_possessive;
    }
    said.push_str(&text[copied..]);
    said
}

fn day(at: Option<Timestamp>) -> Option<Date> {
    at.map(|at| at.to_zoned(TimeZone::UTC).date())
}

/// Minimum number of words that must be left in a question when those of a time are taken out.
const OTHER_WORDS_MIN: usize = 2;
