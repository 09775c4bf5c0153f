//! Who is meant: what is said of "my colleague Ana" is not said of "my sister Ana", and "my mom" is the mother who was named.

use std::borrow::Cow;

use super::DecisionDraft;
use super::facts::slot_name;
use super::same::same_value;
use crate::extract::{FactCandidate, USER};
use crate::id::Seq;
use crate::item::Fact;
use crate::predicate::{Cardinality, normal};
use crate::recall::index::tokens;

/// What a person without a name begins with: "user's sister".
const OF_USER: &str = "user's ";

impl DecisionDraft<'_> {
    /// The candidate, its subject told apart from somebody else of the same name: "Ana (colleague)"; a relation without a
    /// name has the name it is known by.
    ///
    /// Who is told apart is the one who became known later. Without a word of who is meant, it is the one who was known first.
    pub(super) fn told_apart<'a>(&self, candidate: &'a FactCandidate) -> Cow<'a, FactCandidate> {
        let subject = (candidate.subject != USER).then(|| {
            self.by_relation(candidate).or_else(|| self.by_title(candidate)).or_else(|| self.by_role(candidate))
        });
        let Some(subject) = subject.flatten() else { return Cow::Borrowed(candidate) };
        Cow::Owned(FactCandidate { subject, ..candidate.clone() })
    }

    /// "My mom" is the one who was named as the user's mother, and the "mum" of whom something was told; "my other sister" and
    /// one of two sisters are nobody in particular.
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
