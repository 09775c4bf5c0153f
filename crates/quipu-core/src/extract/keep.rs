//! What a reading keeps of what its clauses say: once, with what was said besides.

use std::mem::discriminant;
use std::ops::Range;

use super::claim::{Claims, Clause};
use super::persons::{ClausePerson, Tie};
use super::reader::Reader;
use super::rules::language::RuleScope;
use super::statement::is_said_by;
use super::{FactCandidate, Stance, TaskCandidate, TaskNews};
use crate::predicate::is_named_by;

/// Persons remembered for "she" and "he", the last ones first.
const MET_MAX: usize = 4;

/// Relations of which one says what the other does when they are read in the same words: the first read is kept.
const KIN: [&[&str]; 5] = [
    &["hobby", "exercises", "plays", "habit", "likes"],
    &["hobby", "works_as"],
    &["diet", "avoids_food"],
    &["owns", "owns_device", "uses"],
    &["plans", "appointment", "important_date"],
];

impl Reader<'_> {
    /// "yoga for stress" says two things.
    pub(super) fn besides(&self, clause: &Clause<'_>, fact: &FactCandidate) -> Option<FactCandidate> {
        let holds = matches!(fact.stance, Stance::Holds | Stance::Changed);
        let also = self.rules.also.iter().find(|also| also.of.contains(&fact.predicate))?;
        (holds && also.pattern.is_match(clause.text)).then(|| FactCandidate {
            predicate: also.predicate.clone(),
            qualifiers: Default::default(),
            stance: Stance::Holds,
            ..fact.clone()
        })
    }

    /// What a sentence says of the people it names, whatever it says besides: "my sister Anna thinks that …".
    pub(super) fn in_passing(&mut self, text: &str, sentence: &Range<usize>) {
        // "my brother (Tom)" stands in two clauses.
        for tie in self.ties(&text[sentence.clone()]) {
            let known = self.out.facts.iter().any(|fact| fact.subject == tie.owner && fact.object == tie.name);
            if !known {
                self.tie(&tie, sentence, "", "");
                self.meet(&ClausePerson { relation: Some(tie.relation), ..ClausePerson::other(tie.name, 0.85) });
            }
        }
        self.whole(text, sentence, RuleScope::Passing);
    }

    /// Who is named by a relation, and to whom; "she's got a cat called Darcy" says nothing of the speaker.
    pub(super) fn ties(&self, words: &str) -> Vec<Tie> {
        let mut ties = self.rules.people.ties(words, self.reading);
        ties.retain(|tie| tie.owned || !self.rules.speaks_of_another(&words[..tie.at]));
        ties
    }

    pub(super) fn tie(&mut self, tie: &Tie, span: &Range<usize>, words: &str, open: &str) {
        let Some(predicate) = self.rules.objects.told(&self.rules.relations, &tie.relation) else { return };
        let mut fact = FactCandidate {
            subject: tie.owner.clone(),
            predicate: predicate.to_owned(),
            object: tie.name.clone(),
            span: span.clone(),
            stance: if self.rules.people.is_gone(words) { Stance::Ended } else { Stance::Holds },
            valid_from: None,
            valid_to: None,
            confidence: 0.9,
            qualifiers: Default::default(),
        };
        self.rules.relation_qualifiers(&mut fact.qualifiers, &tie.relation);
        self.rules.corrections.settle(std::slice::from_mut(&mut fact), open, words, true, &self.rules.objects);
        self.keep(Claims { facts: vec![fact], ..Claims::default() });
    }

    /// News about something known that a clause tells.
    pub(super) fn update(&mut self, text: &str, range: &Range<usize>) {
        let clause = self.rules.measure(text, range.clone(), self.reading.said_at, false);
        self.out.updates.extend(self.rules.updates.read(&clause));
    }

    /// The claim that was read last of those that begin before a place: what a sentence says that must never be forgotten is read
    /// ahead of its clauses.
    pub(super) fn claim_before(&self, place: usize) -> Option<usize> {
        self.out.facts.iter().rposition(|fact| fact.span.start < place)
    }

    /// Keeps what is not there yet.
    pub(super) fn keep(&mut self, claims: Claims) {
        // Cut in the middle of something else: "colleague keeps asking, how do".
        let is_cut = |object: &str| self.rules.splitter.is_cut(object);
        let Claims { mut facts, mut tasks } = claims;
        facts.retain(|fact| !is_cut(&fact.object));
        tasks.retain(|task| !is_cut(&task.title));
        for fact in facts {
            self.out.facts.retain(|other| !is_name_of(&fact, other) && !is_said_by(&fact, other));
            let same = |other: &FactCandidate| {
                // Two readings of the same words are one claim, however each takes it; elsewhere the stance tells claims apart.
                let words = other.span == fact.span && says_more(&other.object, &fact.object);
                let again = other.object.eq_ignore_ascii_case(&fact.object)
                    && strength(&other.stance) == strength(&fact.stance);
                (&other.subject, &other.predicate) == (&fact.subject, &fact.predicate) && (words || again)
            };
            let kin = |other: &FactCandidate| {
                let alike =
                    KIN.iter().any(|kin| [&other.predicate, &fact.predicate].iter().all(|p| kin.contains(&p.as_str())));
                alike
                    && other.predicate != fact.predicate
                    && other.subject == fact.subject
                    && other.span == fact.span
                    && says_more(&other.object, &fact.object)
            };
            if self.out.facts.iter().any(kin) {
                continue;
            }
            match self.out.facts.iter_mut().find(|other| same(other)) {
                Some(known) => {
                    complete(known, fact.clone());
                    self.again.push(fact);
                }
                None => self.out.facts.push(fact),
            }
        }
        for task in tasks {
            match self.out.tasks.iter_mut().find(|other| is_told_again(other, &task)) {
                // The sentence after an attempt tells what came of it.
                Some(known) if matches!(known.news, TaskNews::Tried { successful: None, .. }) => known.news = task.news,
                Some(_) => {}
                None => self.out.tasks.push(task),
            }
        }
    }

    pub(super) fn meet(&mut self, who: &ClausePerson) {
        if !who.first {
            self.met.retain(|met| met.name != who.name);
            self.met.insert(0, who.clone());
            self.met.truncate(MET_MAX);
        }
    }
}

/// True if one claim names what the other, of the same words or of the sentence before, only says the kind of: "a puppy. Her
/// name is Nala."
fn is_name_of(named: &FactCandidate, other: &FactCandidate) -> bool {
    (&named.subject, &named.predicate) == (&other.subject, &other.predicate)
        && named.span.start <= other.span.start
        && other.span.end <= named.span.end
        && is_named_by((&other.object, &other.qualifiers), (&named.object, &named.qualifiers))
}

/// Adds to a claim what another reading of it says besides.
fn complete(known: &mut FactCandidate, other: FactCandidate) {
    known.valid_from = known.valid_from.or(other.valid_from);
    known.valid_to = known.valid_to.or(other.valid_to);
    for (name, value) in other.qualifiers {
        known.qualifiers.entry(name).or_insert(value);
    }
    let changes = other.stance == Stance::Changed && known.stance == Stance::Holds;
    if changes || strength(&other.stance) > strength(&known.stance) {
        known.stance = other.stance;
    }
}

/// True if both say the same of one task; each attempt at a problem is its own news.
fn is_told_again(one: &TaskCandidate, other: &TaskCandidate) -> bool {
    let news = match (&one.news, &other.news) {
        (TaskNews::Tried { approach: one, .. }, TaskNews::Tried { approach: other, .. }) => one == other,
        (one, other) => discriminant(one) == discriminant(other),
    };
    news && (one.kind, &one.title) == (other.kind, &other.title)
}

/// True if one of two readings of the same words contains the other.
fn says_more(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|object| format!(" {} ", object.to_lowercase()));
    one.contains(&other) || other.contains(&one)
}

/// How much a stance says besides that something is claimed: the reading that saw more of the words is right. Holds and
/// Changed are one way to claim, Held and Ended are another.
fn strength(stance: &Stance) -> u8 {
    match stance {
        Stance::Holds | Stance::Changed => 0,
        Stance::Held | Stance::Ended => 1,
        Stance::Denied => 2,
        Stance::Corrects { .. } => 3,
    }
}
