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
        let subject = (candidate.subject != USER).then(|| self.by_title(candidate).or_else(|| self.by_role(candidate)));
        let Some(subject) = subject.flatten() else { return Cow::Borrowed(candidate) };
        Cow::Owned(FactCandidate { subject, ..candidate.clone() })
    }

    /// "Uncle Marcus" is the Marcus who is known as an uncle.
    fn by_title(&self, candidate: &FactCandidate) -> Option<String> {
        let (title, name) = candidate.subject.split_once(' ')?;
        let role = title.to_lowercase();
        self.case.predicates.of_role(&role)?;
        let known = self.called(name);
        let meant = known.iter().find(|fact| role_of(fact) == role)?;
        Some(self.subject(name, &known, meant))
    }

    /// Who is meant by a name that stands behind a role: "my uncle Marcus".
    fn by_role(&self, candidate: &FactCandidate) -> Option<String> {
        let known = self.called(&candidate.subject);
        // Of several in one text, the one who was named last before the end of these words.
        let here = known.iter().filter_map(|fact| {
            let places = fact.evidence.iter().filter(|place| place.source == self.case.source);
            let start = places.map(|place| place.start as usize).filter(|start| *start < candidate.span.end).max()?;
            Some((start, fact))
        });
        let (_, meant) = here.max_by_key(|(start, _)| *start)?;
        Some(self.subject(&candidate.subject, &known, meant))
    }

    /// The name alone for who was known first by it, and whoever may be the same person.
    fn subject(&self, name: &str, known: &[Fact], meant: &Fact) -> String {
        let of = |fact: &Fact| self.case.predicates.get(&fact.predicate).distinct;
        match known.first() {
            Some(first) if meant.predicate != first.predicate && (of(meant) || of(first)) => {
                format!("{name} ({})", role_of(meant).replace('_', " "))
            }
            _ => name.to_owned(),
        }
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

/// What somebody is to the user: "sister", else the relation.
fn role_of(fact: &Fact) -> &str {
    fact.qualifiers.get("relation").unwrap_or(&fact.predicate)
}
