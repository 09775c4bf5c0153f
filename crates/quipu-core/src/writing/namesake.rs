//! Two people of one name: what is said of "my colleague Ana" is not said of "my sister Ana".

use std::borrow::Cow;

use super::Work;
use super::facts::slot_name;
use super::same::same_value;
use crate::extract::{FactCandidate, USER};
use crate::id::Seq;
use crate::item::Fact;

impl Work<'_> {
    /// The candidate, its subject told apart from somebody else of the same name: "Ana (colleague)".
    ///
    /// Who is told apart is the one who became known later. Without a word of who is meant, it is the one who was known first.
    pub(super) fn told_apart<'a>(&self, candidate: &'a FactCandidate) -> Cow<'a, FactCandidate> {
        let Some(role) = self.other_than_known(candidate) else { return Cow::Borrowed(candidate) };
        let subject = format!("{} ({role})", candidate.subject);
        Cow::Owned(FactCandidate { subject, ..candidate.clone() })
    }

    /// What the candidate's subject is to the user, if that is nobody who was known by this name before.
    fn other_than_known(&self, candidate: &FactCandidate) -> Option<String> {
        if candidate.subject == USER {
            return None;
        }
        let known = self.called(&candidate.subject);
        // Of several in one text, the one who was named last before the end of these words.
        let here = known.iter().filter_map(|fact| {
            let places = fact.evidence.iter().filter(|place| place.source == self.case.source);
            let start = places.map(|place| place.start as usize).filter(|start| *start < candidate.span.end).max()?;
            Some((start, fact))
        });
        let (_, meant) = here.max_by_key(|(start, _)| *start)?;
        let first = known.first()?;
        let of = |fact: &Fact| self.case.predicates.get(&fact.predicate).distinct;
        let is_other = meant.predicate != first.predicate && (of(meant) || of(first));
        is_other.then(|| meant.qualifiers.get("relation").unwrap_or(&meant.predicate).replace('_', " "))
    }

    /// Who of this name stands in a relation to the user, first known first.
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
