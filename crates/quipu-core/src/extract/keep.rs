//! Collects the candidates of a text and merges duplicates.

use std::mem::discriminant;
use std::ops::Range;

use super::claim::{Claims, Clause};
use super::language::RuleScope;
use super::persons::{ClausePerson, Tie};
use super::reader::Reader;
use super::{FactCandidate, Stance, TaskCandidate, TaskNews, UpdateCandidate, UpdateNews};
use crate::predicate::is_named_by;

/// Maximum number of persons remembered for "she" and "he", most recent first.
const MET_MAX: usize = 4;

/// Groups of predicates that are redundant when read in the same words; the first one read is kept.
const KIN: [&[&str]; 5] = [
    &["hobby", "exercises", "plays", "habit", "likes"],
    &["hobby", "works_as"],
    &["diet", "avoids_food"],
    &["owns", "owns_device", "uses"],
    &["plans", "appointment", "important_date"],
];

impl Reader<'_> {
    /// Returns a second claim of the same clause: "yoga for stress" states two.
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

    /// Reads what a sentence says about the people it names, besides its main claim: "my sister Anna thinks that …".
    pub(super) fn in_passing(&mut self, text: &str, sentence: &Range<usize>) {
        // "my brother (Tom)" spans two clauses.
        for tie in self.ties(&text[sentence.clone()]) {
            let known = self.out.facts.iter().any(|fact| fact.subject == tie.owner && fact.object == tie.name);
            if !known {
                self.tie(&tie, sentence, "", "");
                self.meet(&ClausePerson { relation: Some(tie.relation), ..ClausePerson::other(tie.name, 0.85) });
            }
        }
        self.whole(text, sentence, RuleScope::Passing);
    }

    /// People named by a relation, with the owner of the relation; "she's got a cat called Darcy" says nothing about
    /// the speaker.
    pub(super) fn ties(&self, words: &str) -> Vec<Tie> {
        let mut ties = self.rules.people.ties(words, self.reading);
        ties.retain(|tie| {
            tie.owned || !(self.rules.speaks_of_another(&words[..tie.at]) || self.is_said_of_another(words, tie))
        });
        ties
    }

    /// True if another person is the one who has the pet or child: "my colleague Petra got a dog called Rex".
    fn is_said_of_another(&self, words: &str, tie: &Tie) -> bool {
        let predicate = self.rules.objects.told(&self.rules.relations, &tie.relation);
        if !matches!(predicate, Some("pet" | "child")) {
            return false;
        }
        let from = self.rules.lead.find(words).map_or(0, |lead| lead.end());
        let Some((who, end)) = self.rules.people.subject(&words[from..], self.reading, &self.met) else { return false };
        let verb = words.get(from + end..tie.at).unwrap_or_default();
        // "My husband bought me a puppy called Rex" is of the speaker too.
        !who.first
            && !self.rules.own.is_match(verb)
            && verb.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic)).count() > 1
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

    /// Reads an update of a known item in a clause.
    pub(super) fn update(&mut self, text: &str, range: &Range<usize>) {
        let clause = self.rules.measure(text, range.clone(), self.reading.said_at, false);
        let next = |within: bool| self.rules.day_at(text, range.end, within, self.reading.said_at);
        self.out.updates.extend(self.rules.updates.read(&clause, next));
        // "internet cancelled, done with the bank too": several things may be done in one clause.
        let mut from = range.start;
        for (at, _) in text[range.clone()].match_indices(", ") {
            let part = from..range.start + at;
            from = range.start + at + 2;
            self.done_in(text, part);
        }
        if from > range.start {
            self.done_in(text, from..range.end);
        }
    }

    fn done_in(&mut self, text: &str, part: Range<usize>) {
        let clause = self.rules.measure(text, part, self.reading.said_at, false);
        let found = self.rules.updates.read(&clause, |_| None).into_iter();
        let known = &self.out.updates;
        let is_new = |update: &UpdateCandidate| {
            matches!(update.news, UpdateNews::Done { .. })
                && !known.iter().any(|other| other.news == update.news && other.what == update.what)
        };
        let new: Vec<UpdateCandidate> = found.filter(is_new).collect();
        self.out.updates.extend(new);
    }

    /// Index of the last claim that begins before `place`. Standing statements of a sentence are read before its
    /// clauses, so the last claim of all may begin later.
    pub(super) fn claim_before(&self, place: usize) -> Option<usize> {
        self.out.facts.iter().rposition(|fact| fact.span.start < place)
    }

    /// Stores new candidates and merges the others.
    pub(super) fn keep(&mut self, claims: Claims) {
        // The object was truncated in the middle of another clause: "colleague keeps asking, how do".
        let is_cut = |object: &str| self.rules.splitter.is_cut(object);
        let Claims { mut facts, mut tasks } = claims;
        // In "he's got a dog called Kevin", Kevin is not "he".
        facts.retain(|fact| !is_cut(&fact.object) && !fact.object.eq_ignore_ascii_case(&fact.subject));
        tasks.retain(|task| !is_cut(&task.title));
        for fact in facts {
            self.out.facts.retain(|other| !is_name_of(&fact, other));
            let same = |other: &FactCandidate| {
                // Two readings of the same words are one claim, whatever their stance; in different words, the stance
                // distinguishes claims.
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
                Some(known) => complete(known, fact),
                None => self.out.facts.push(fact),
            }
        }
        for task in tasks {
            match self.out.tasks.iter_mut().find(|other| is_told_again(other, &task)) {
                // The sentence after an attempt states its outcome.
                Some(known) if matches!(known.news, TaskNews::Tried { successful: None, .. }) => known.news = task.news,
                Some(_) => {}
                None => self.out.tasks.push(task),
            }
        }
    }

    pub(super) fn meet(&mut self, who: &ClausePerson) {
        if !who.first {
            let known = self.met.iter().position(|met| met.name == who.name).map(|at| self.met.remove(at));
            let pronoun = who.pronoun.clone().or(known.and_then(|known| known.pronoun));
            self.met.insert(0, ClausePerson { pronoun, ..who.clone() });
            self.met.truncate(MET_MAX);
        }
    }
}

/// Returns true if `named` gives the name of what `other`, read in the same words or in the sentence before, only
/// describes: "a puppy. Her name is Nala."
fn is_name_of(named: &FactCandidate, other: &FactCandidate) -> bool {
    (&named.subject, &named.predicate) == (&other.subject, &other.predicate)
        && named.span.start <= other.span.start
        && other.span.end <= named.span.end
        && is_named_by((&other.object, &other.qualifiers), (&named.object, &named.qualifiers))
}

/// Adds details from another reading of the same claim.
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

/// Returns true if both are the same task with the same update; each attempt at a problem is a separate update.
fn is_told_again(one: &TaskCandidate, other: &TaskCandidate) -> bool {
    let news = match (&one.news, &other.news) {
        (TaskNews::Tried { approach: one, .. }, TaskNews::Tried { approach: other, .. }) => one == other,
        (one, other) => discriminant(one) == discriminant(other),
    };
    news && (one.kind, &one.title) == (other.kind, &other.title)
}

/// Returns true if one of two readings of the same words contains the other.
fn says_more(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|object| format!(" {} ", object.to_lowercase()));
    one.contains(&other) || other.contains(&one)
}

/// Specificity of a stance; the more specific reading wins. Holds and Changed are equivalent here, as are Held and
/// Ended.
fn strength(stance: &Stance) -> u8 {
    match stance {
        Stance::Holds | Stance::Changed => 0,
        Stance::Held | Stance::Ended => 1,
        Stance::Denied => 2,
        Stance::Corrects { .. } => 3,
    }
}
