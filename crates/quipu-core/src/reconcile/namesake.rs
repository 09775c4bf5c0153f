//! Distinguishes people of one name: facts about "my colleague Ana" are not about "my sister Ana", and "my mom" is the
//! mother known by name.

use std::borrow::Cow;

use super::DecisionDraft;
use super::claim::slot_name;
use super::same::same_value;
use crate::extract::{FactCandidate, USER};
use crate::id::Seq;
use crate::item::Fact;
use crate::predicate::{Cardinality, normal};
use crate::text::tokens;

/// Prefix of a subject without a name: "user's sister".
const OF_USER: &str = "user's ";

impl DecisionDraft<'_> {
    /// The candidate with an unambiguous subject: "Ana (colleague)" if another person has the same name; the known name
    /// if the subject is only a relation.
    ///
    /// The name alone belongs to the person known first. Without further information the candidate is about that
    /// person.
    pub(super) fn told_apart<'a>(&self, candidate: &'a FactCandidate) -> Cow<'a, FactCandidate> {
        let subject = (candidate.subject != USER).then(|| {
            self.by_relation(candidate).or_else(|| self.by_title(candidate)).or_else(|| self.by_role(candidate))
        });
        let Some(subject) = subject.flatten() else { return Cow::Borrowed(candidate) };
        Cow::Owned(FactCandidate { subject, ..candidate.clone() })
    }

    /// Resolves "my mom" to the mother's known name, or to a known "mum"; "my other sister" and one of two sisters stay
    /// unresolved.
    fn by_relation(&self, candidate: &FactCandidate) -> Option<String> {
        let role = candidate.subject.strip_prefix(OF_USER)?;
        let relation = self.case.predicates.of_role(&role.replace(' ', "_"))?;
        let quote = self.case.quote(&candidate.span).to_lowercase();
        if !["my", "our"].iter().any(|own| quote.contains(&format!("{own} {role}"))) && !quote.starts_with(role) {
            return None;
        }
        let is_one = self.case.predicates.get(relation).cardinality == Cardinality::One;
        let is_meant = |fact: &Fact| {
            let said = [fact.qualifiers.get("relation"), fact.qualifiers.get("species")];
            let same = |said: &String| tokens::plain(&said.replace('_', " ")) == tokens::plain(role);
            let is_named = fact.object.starts_with(char::is_uppercase);
            fact.is_active() && is_named && (is_one || said.into_iter().flatten().any(same))
        };
        let mut known = self.view.in_slot(&slot_name(USER, relation, None)).into_iter().filter(is_meant);
        match (known.next(), known.next()) {
            (Some(one), None) => Some(one.object),
            (Some(_), Some(_)) => None,
            (None, _) => {
                let others = tokens::spellings(role).into_iter().filter(|other| *other != role);
                let mut subjects = others.map(|other| format!("{OF_USER}{other}"));
                subjects.find(|subject| self.view.items().knows_subject(&normal(subject)))
            }
        }
    }

    /// Resolves "Uncle Marcus" to the Marcus known as an uncle.
    fn by_title(&self, candidate: &FactCandidate) -> Option<String> {
        let (title, name) = candidate.subject.split_once(' ')?;
        let role = title.to_lowercase();
        self.case.predicates.of_role(&role)?;
        let known = self.called(name);
        let meant = known.iter().find(|fact| role_of(fact) == role)?;
        Some(self.subject(name, &known, meant))
    }

    /// Resolves a name after a role: "my uncle Marcus".
    fn by_role(&self, candidate: &FactCandidate) -> Option<String> {
        let known = self.called(&candidate.subject);
        // If the text names several, the last one before the end of the span.
        let here = known.iter().filter_map(|fact| {
            let places = fact.evidence.iter().filter(|place| place.source == self.case.source);
            let start = places.map(|place| place.start as usize).filter(|start| *start < candidate.span.end).max()?;
            Some((start, fact))
        });
        let (_, meant) = here.max_by_key(|(start, _)| *start)?;
        Some(self.subject(&candidate.subject, &known, meant))
    }

    /// The subject for a person: the name alone for the one known first and anyone who may be the same person.
    fn subject(&self, name: &str, known: &[Fact], meant: &Fact) -> String {
        let of = |fact: &Fact| self.case.predicates.get(&fact.predicate).distinct;
        match known.first() {
            Some(first) if meant.predicate != first.predicate && (of(meant) || of(first)) => {
                format!("{name} ({})", role_of(meant).replace('_', " "))
            }
            _ => name.to_owned(),
        }
    }

    /// People of this name in a relation to the user, first known first.
    fn called(&self, name: &str) -> Vec<Fact> {
        let predicates = self.case.predicates;
        let relations = predicates.names().filter(|relation| !predicates.get(relation).roles.is_empty());
        let all = relations.flat_map(|relation| self.view.in_slot(&slot_name(USER, relation, None)));
        let mut found: Vec<Fact> = all.filter(|fact| fact.is_active() && same_value(&fact.object, name)).collect();
        found.sort_by_key(|fact| {
            (self.view.items().made_by(fact.id).unwrap_or(Seq::MAX), fact.evidence.first().map(|place| place.start))
        });
        found
    }
}

/// The role of a person: the qualifier "sister", or else the predicate.
fn role_of(fact: &Fact) -> &str {
    fact.qualifiers.get("relation").unwrap_or(&fact.predicate)
}
