//! Merging items by hand.

use crate::event::Change;
use crate::id::ItemId;
use crate::item::{DerivedChange, Fact, FactType};
use crate::predicate::normal;
use crate::reconcile::by_hand::decisions::{DecisionBuilder, DecisionContext};
use crate::reconcile::same::same_value;
use crate::refusal::Refusal;

/// The domain of predicates whose values are names of people and animals.
const RELATIONSHIPS: &str = "relationships";

impl DecisionContext<'_> {
    /// The changes of merging items of one kind into one.
    ///
    /// # Errors
    /// `NotFound` for a missing item; `Invalid` for items of several kinds, or none; `Refused` for items retracted or
    /// merged before, and for facts of another subject, predicate or person.
    pub fn merge(&self, from: &[ItemId], into: ItemId) -> Result<Vec<Change>, Refusal> {
        let items = self.memory.items();
        let all = || from.iter().chain([&into]);
        if let Some(missing) = all().find(|id| !items.has(**id)) {
            return Err(Refusal::not_found(format!("there is no item {missing} that could be merged")));
        }
        if from.is_empty() || from.contains(&into) || all().any(|id| id.kind != into.kind) {
            return Err(Refusal::invalid("merge one or more items into another one of the same kind"));
        }
        if let Some(hidden) = all().find(|id| items.is_hidden(**id)) {
            return Err(Refusal::refused(format!("{hidden} was taken back or merged before")));
        }
        if let Some(kept) = items.fact(into) {
            if !kept.is_active() {
                let text = format!("{into} does not hold ({}); merge into a fact that does", items.standing(into));
                return Err(Refusal::refused(text));
            }
            from.iter().filter_map(|id| items.fact(*id)).try_for_each(|fact| mergeable(fact, kept))?;
        }
        let mut work = DecisionBuilder::new(self);
        for fact in from.iter().filter_map(|id| items.fact(*id)).filter(|fact| fact.is_active()) {
            work.core.take(self.predicates, fact);
        }
        // The surviving fact may have the same path.
        if let Some(kept) = items.fact(into).filter(|fact| fact.is_active()) {
            work.core.put(self.predicates, self.registry, kept);
        }
        work.drawn.push(DerivedChange::ItemsMerged { from: from.to_vec(), into });
        Ok(work.finish())
    }
}

/// Checks whether two facts may be merged: same subject and slot, and names that may be one person's.
fn mergeable(fact: &Fact, into: &Fact) -> Result<(), Refusal> {
    let (one, other) = (&fact.text, &into.text);
    if normal(&fact.subject) != normal(&into.subject) {
        return Err(Refusal::refused(format!(
            "\u{201c}{one}\u{201d} is about {} and \u{201c}{other}\u{201d} about {}; only facts about one subject can be merged",
            fact.subject, into.subject
        )));
    }
    if fact.slot != into.slot {
        return Err(Refusal::refused(format!(
            "\u{201c}{one}\u{201d} and \u{201c}{other}\u{201d} are different relations; only facts of one relation can be merged"
        )));
    }
    let names = fact.fact_type == FactType::Identity && fact.domain == RELATIONSHIPS;
    if names && !may_be_one_name(&fact.object, &into.object) {
        return Err(Refusal::refused(format!(
            "{} and {} are different names; only facts about one person can be merged. If one of the names is wrong, correct \
             that fact",
            fact.object, into.object
        )));
    }
    Ok(())
}

/// True if two names may be one person's: equal, one a prefix or a part of the other, or one letter apart.
fn may_be_one_name(one: &str, other: &str) -> bool {
    let (a, b) = (normal(one), normal(other));
    let (short, long) = if a.chars().count() <= b.chars().count() { (&a, &b) } else { (&b, &a) };
    let is_part = || {
        let words: Vec<&str> = long.split(' ').collect();
        short.split(' ').all(|word| words.contains(&word))
    };
    same_value(one, other)
        || (!short.is_empty() && (long.starts_with(short.as_str()) || is_part()))
        || a_letter_apart(&a, &b)
}

/// True if the names differ by one inserted, removed or replaced letter. Names of fewer than four letters are too
/// similar.
fn a_letter_apart(one: &str, other: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if a.len().abs_diff(b.len()) > 1 || a.len().max(b.len()) < 4 {
        return false;
    }
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    // The first letter distinguishes names: Anna and Hanna, Tim and Jim.
    head > 0 && a.len().max(b.len()) - head - tail <= 1
}

#[cfg(test)]
mod tests {
    use super::may_be_one_name;

    #[test]
    fn names_that_may_be_one_person() {
        for (one, other, same) in [
            ("Ana", "ana", true),
            ("Ana", "Ana Silva", true),
            ("Silva", "Ana Silva", true),
            ("Jon", "Jonathan", true),
            ("Anna", "Ana", true),
            ("Anna", "Hanna", false),
            ("Ana", "Bea", false),
            ("Jim", "Tim", false),
            ("Ana Silva", "Ana Costa", false),
            ("Rex", "Pixel", false),
        ] {
            assert_eq!(may_be_one_name(one, other), same, "{one} and {other}");
        }
    }
}
