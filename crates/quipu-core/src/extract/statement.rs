//! Statements without a predicate of their own: a subject, a common verb, and the rest in the speaker's words. "I
//! sprained my ankle on Sunday", "Taiwo still lives with our aunt", "she's 34 weeks pregnant". Applied where no other
//! rule matched.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;

use super::claim::{Claims, Clause};
use super::language::Language;
use super::object::{is_edge, to_end_of_number};
use super::persons::ClausePerson;
use super::reader::Reader;
use super::rules::pattern::{Pattern, Patterns};
use super::split::{MASK, trim};
use super::{FactCandidate, Stance};
use crate::refusal::Refusal;

/// Predicates for events and for states.
const PREDICATES: [&str; 2] = ["event", "state"];
/// Permitted number of words of a statement after its subject.
const WORDS: std::ops::RangeInclusive<usize> = 2..=16;
/// Maximum confidence of a statement.
const SURE: f64 = 0.8;

/// Vocabulary of statements.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatementWords {
    /// Separators of a clause's pieces. Group `cut`.
    pub(super) cuts: Vec<String>,
    /// Words without meaning that may precede the verb.
    pub(super) adverb: String,
    /// The speaker at the beginning.
    pub(super) first: String,
    /// "am", "'m", "is" before a description.
    pub(super) be: String,
    /// Past-tense verbs of statements worth storing.
    pub(super) past: String,
    /// Present-tense verbs without and with an ending.
    pub(super) present: String,
    pub(super) present_third: String,
    /// Irregular third-person forms.
    pub(super) third: BTreeMap<String, String>,
    /// Verbs of ongoing activities without a subject: "learning Korean".
    pub(super) going_on: String,
    /// Negations; their words are preserved.
    pub(super) negation: String,
    /// A statement must match this or contain a word of the lists or tables to be stored.
    pub(super) telling: String,
    pub(super) lists: Vec<String>,
    pub(super) tables: Vec<String>,
    /// Words before the statement that reverse its meaning.
    pub(super) none: String,
    /// Rejects a statement.
    pub(super) reject: String,
    /// End of the statement.
    pub(super) end: String,
    /// Example texts with the expected results.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for people and tests"))]
    pub(super) examples: BTreeMap<String, Vec<String>>,
}

/// Reads statements.
#[derive(Debug)]
pub(super) struct Statements {
    cuts: Vec<Pattern>,
    adverb: Pattern,
    first: Pattern,
    be: Pattern,
    past: Pattern,
    present: Pattern,
    present_third: Pattern,
    third: BTreeMap<String, String>,
    going_on: Pattern,
    negation: Pattern,
    telling: Pattern,
    words: BTreeSet<String>,
    none: Pattern,
    reject: Pattern,
    end: Pattern,
    #[cfg(test)]
    examples: BTreeMap<String, Vec<String>>,
}

impl Statements {
    pub(super) fn new(language: &Language, patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let words = &language.statement;
        let start = |name: &str, pattern: &str| patterns.start(&format!("statement.{name}"), &format!("(?:{pattern})"));
        let lists = words.lists.iter().filter_map(|list| language.lists.get(list)).flatten();
        let tables = words.tables.iter().filter_map(|table| language.tables.get(table)).flat_map(|table| table.keys());
        Ok(Self {
            cuts: words.cuts.iter().map(|cut| patterns.one("statement.cuts", cut)).collect::<Result<_, _>>()?,
            adverb: start("adverb", &words.adverb)?,
            first: start("first", &words.first)?,
            be: start("be", &words.be)?,
            past: start("past", &words.past)?,
            present: start("present", &words.present)?,
            present_third: start("present_third", &words.present_third)?,
            third: words.third.clone(),
            going_on: start("going_on", &words.going_on)?,
            negation: start("negation", &words.negation)?,
            telling: patterns.one("statement.telling", &words.telling)?,
            words: lists.chain(tables).filter(|word| !word.contains(' ')).cloned().collect(),
            none: patterns.one("statement.none", &format!("(?:{})$", words.none))?,
            reject: patterns.one("statement.reject", &words.reject)?,
            end: patterns.one("statement.end", &words.end)?,
            #[cfg(test)]
            examples: words.examples.clone(),
        })
    }

    /// Example texts with the expected results.
    #[cfg(test)]
    pub(super) fn examples(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.examples.iter().map(|(text, read)| (text.as_str(), read.as_slice()))
    }

    /// The pieces of a clause that may be separate statements.
    fn pieces(&self, text: &str, clause: Range<usize>) -> Vec<Range<usize>> {
        let found = |cut: &Pattern| -> Vec<Range<usize>> {
            cut.captures_iter(&text[clause.clone()])
                .filter_map(|groups| groups.name("cut"))
                .filter(|cut| to_end_of_number(text, clause.start + cut.start()) == clause.start + cut.start())
                .map(|cut| cut.start() + clause.start..cut.end() + clause.start)
                .collect()
        };
        let mut cuts: Vec<Range<usize>> = self.cuts.iter().flat_map(found).collect();
        cuts.sort_by_key(|cut| cut.start);
        let mut pieces = Vec::new();
        let mut from = clause.start;
        for cut in cuts.into_iter().chain(std::iter::once(clause.end..clause.end)) {
            if cut.start >= from {
                pieces.push(trim(text, from..cut.start));
                from = cut.end;
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// Returns the predicate, and the verb with the rest in the third person. `elided`: there is no subject.
    fn said(&self, words: &str, is_first: bool, elided: bool) -> Option<(&'static str, String)> {
        let skipped = |words: &str| {
            let rest = words.trim_start();
            let adverb = self.adverb.find(rest).map_or(0, |adverb| adverb.end());
            words.len() - rest.len() + adverb
        };
        let rest = &words[skipped(words)..];
        let [event, state] = PREDICATES;
        if let Some(be) = self.be.find(rest).filter(|_| !elided) {
            // The group `next` is only a lookahead: "Dougie's drum kit" does not describe Dougie.
            let named = self.be.captures(rest).and_then(|groups| groups.name("next"));
            let what = rest[named.map_or(be.end(), |next| next.start())..].trim();
            let past = be.as_str().trim().starts_with('w');
            let verb = if past { "was" } else { "is" };
            return Some((if past { event } else { state }, format!("{verb} {what}")));
        }
        if let Some(negation) = self.negation.find(rest) {
            let (negation, verb) = (negation.as_str().trim(), rest[negation.end()..].trim());
            let at = self.third.get(&negation.to_lowercase()).filter(|_| is_first).map_or(negation, String::as_str);
            let known = self.present.is_match(verb) && (!elided || is_first);
            return known.then(|| (state, format!("{at} {verb}")));
        }
        if self.past.is_match(rest) {
            return Some((event, rest.to_owned()));
        }
        if elided {
            return self.going_on.is_match(rest).then(|| (state, format!("is {rest}")));
        }
        if is_first {
            self.present.find(rest)?;
            let (verb, after) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
            return Some((state, format!("{}{after}", self.in_third(verb))));
        }
        self.present_third.is_match(rest).then(|| (state, rest.to_owned()))
    }

    fn in_third(&self, verb: &str) -> String {
        let lower = verb.to_lowercase();
        if let Some(third) = self.third.get(&lower) {
            return third.clone();
        }
        let vowel = |c: char| "aeiou".contains(c);
        match lower.strip_suffix('y') {
            Some(stem) if !stem.ends_with(vowel) => format!("{stem}ies"),
            _ if ["s", "sh", "ch", "x", "z", "o"].iter().any(|end| lower.ends_with(end)) => format!("{lower}es"),
            _ => format!("{lower}s"),
        }
    }

    /// Returns true if the words carry information worth storing.
    fn tells(&self, words: &str) -> bool {
        let known = |word: &str| {
            let word = word.trim_matches(is_edge).to_lowercase();
            let one = word.strip_suffix("'s").or_else(|| word.strip_suffix('s')).unwrap_or(&word);
            self.words.contains(&word) || self.words.contains(one)
        };
        self.telling.is_match(words) || words.split([' ', '/', '-']).any(known)
    }
}

impl Reader<'_> {
    /// Reads statements in a clause without other matches. `last` is the subject of the preceding piece.
    pub(super) fn statements(&mut self, text: &str, clause: &Range<usize>, last: &mut Option<ClausePerson>) {
        let statements = &self.rules.statements;
        for piece in statements.pieces(text, clause.clone()) {
            let measured = self.measure(text, piece.clone());
            let body = self.lead_end(&measured);
            let words = &measured.text[body..];
            let before = measured.text[..body].trim_end().to_lowercase();
            // "No running" is not a statement.
            if words.is_empty() || words.contains(MASK) || statements.none.is_match(&before) {
                continue;
            }
            let Some((who, at, elided)) = self.subject_of(words, last) else {
                *last = None;
                continue;
            };
            if who.second {
                continue;
            }
            *last = Some(who.clone());
            let end = statements.end.find(&words[at..]).map_or(words.len(), |end| at + end.start());
            let said = &words[at..end.max(at)];
            let Some((predicate, said)) = statements.said(said, who.first, elided) else { continue };
            let said = said.trim_matches(is_edge).to_owned();
            let count = said.split_whitespace().count();
            if !WORDS.contains(&count) || statements.reject.is_match(&said) || !statements.tells(after_first(&said)) {
                continue;
            }
            if self.is_read(&piece, &who, &said) || !self.is_known(&who) {
                continue;
            }
            let fact = self.stated(&measured, &who, predicate, said);
            self.keep(Claims { facts: vec![fact], ..Claims::default() });
        }
    }

    fn stated(&self, clause: &Clause<'_>, who: &ClausePerson, predicate: &str, object: String) -> FactCandidate {
        let happened = predicate == PREDICATES[0];
        let mut fact = FactCandidate {
            subject: who.name.clone(),
            predicate: predicate.to_owned(),
            object,
            span: clause.span.clone(),
            stance: Stance::Holds,
            valid_from: happened.then(|| clause.named_day(false)).flatten(),
            valid_to: None,
            confidence: SURE.min(who.sure),
            qualifiers: BTreeMap::new(),
        };
        if !happened {
            clause.since(&mut fact);
        }
        fact
    }

    /// The subject of a piece, the position of its verb, and whether the subject is implicit.
    fn subject_of(&self, words: &str, last: &Option<ClausePerson>) -> Option<(ClausePerson, usize, bool)> {
        let statements = &self.rules.statements;
        if let Some(first) = statements.first.find(words) {
            return Some((ClausePerson::speaker(self.reading), first.end(), false));
        }
        if let Some((who, end)) = self.rules.people.subject(words, self.reading, &self.met) {
            return Some((who, end, false));
        }
        if statements.said(words, true, true).is_some() {
            let who = match last {
                Some(who) => who.clone(),
                None if self.about_another => return None,
                None => ClausePerson::speaker(self.reading),
            };
            return Some((who, 0, true));
        }
        None
    }

    /// Returns true if a rule has already read these words, other than a relation to the user.
    fn is_read(&self, piece: &Range<usize>, who: &ClausePerson, said: &str) -> bool {
        let within = |span: &Range<usize>| span.start < piece.end && piece.start < span.end;
        let is_else = |fact: &FactCandidate| who.first || !says_who(fact) || said.contains(fact.object.as_str());
        self.out.facts.iter().chain(&self.again).any(|fact| within(&fact.span) && is_else(fact))
            || self.out.tasks.iter().any(|task| within(&task.span))
    }

    /// Returns true for the user and people related to them; statements about others are often stories.
    fn is_known(&self, who: &ClausePerson) -> bool {
        let is_named = |name: &str| who.name.split(' ').any(|part| part == name);
        who.first
            || who.relation.is_some()
            || self.reading.known.iter().any(|name| is_named(name))
            || self.met.iter().any(|met| met.relation.is_some() && met.name == who.name)
    }
}

/// Returns true if a claim states a relation between people.
fn says_who(fact: &FactCandidate) -> bool {
    fact.qualifiers.contains_key("relation") || fact.qualifiers.contains_key("species")
}

/// Returns true if `other` only describes how the person or animal that `named` names came along: "We got a kitten.
/// Named her Biscuit."
pub(super) fn is_said_by(named: &FactCandidate, other: &FactCandidate) -> bool {
    let within = named.span.start <= other.span.start && other.span.end <= named.span.end;
    PREDICATES.contains(&other.predicate.as_str()) && says_who(named) && within
}

/// The text after the first word.
fn after_first(said: &str) -> &str {
    said.split_once(' ').map_or("", |(_, rest)| rest)
}
