//! Folding against a plain model: a fold joins only facts with one value of one person according to the model, keeps
//! one survivor for each, and a revert restores the original bytes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::together;
use super::world::{World, bytes, claim};
use crate::event::SourceKind;
use crate::id::ItemId;
use crate::item::Fact;

/// Spellings, with the value of each.
const VALUES: [(&str, u8); 12] = [
    ("walk", 0),
    ("walks", 0),
    ("the walk", 0),
    ("Walk", 0),
    ("Walks", 1),
    ("walk 2", 2),
    ("not walks", 3),
    ("dark walks", 4),
    ("a dark walk", 4),
    ("C", 5),
    ("C++", 6),
    ("walk dark", 7),
];
const PEOPLE: [&str; 3] = ["user", "Marta", "Rui"];
const PREDICATES: [&str; 3] = ["likes", "dislikes", "lives_in"];

fn claims() -> impl Strategy<Value = Vec<(usize, usize, usize, i64, bool, bool)>> {
    let one = (0..VALUES.len(), 0..PEOPLE.len(), 0..PREDICATES.len(), 0..40i64, any::<bool>(), any::<bool>());
    proptest::collection::vec(one, 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fold_joins_one_value_of_one_person_and_can_be_taken_back(told in claims()) {
        let mut world = World::new();
        let mut model: BTreeMap<ItemId, (usize, usize, u8)> = BTreeMap::new();
        for (value, person, predicate, on, own, pinned) in told {
            let (object, meant) = VALUES[value];
            let slot = format!("{}|{}", PEOPLE[person], PREDICATES[predicate]);
            let fact = Fact { subject: PEOPLE[person].to_owned(), slot, ..claim(PREDICATES[predicate], object) };
            let kind = if own { SourceKind::UserSaid } else { SourceKind::Imported };
            let id = world.claimed_by(&[on], kind, fact);
            if pinned && own {
                world.marked(id, Some(true), None);
            }
            model.insert(id, (person, predicate, meant));
        }
        let active = |world: &World| -> BTreeSet<(usize, usize, u8)> {
            let items = world.memory.items();
            let holds = items.facts().filter(|fact| fact.is_active() && !items.is_hidden(fact.id));
            holds.map(|fact| model[&fact.id]).collect()
        };
        let (held, before) = (active(&world), bytes(&world.memory));
        let mut events = Vec::new();
        loop {
            let proposals = together(world.desk(41, |desk, _| desk.duplicates()));
            if proposals.is_empty() {
                break;
            }
            for one in &proposals {
                let values: BTreeSet<_> = one.items.iter().map(|id| model[id]).collect();
                prop_assert_eq!(values.len(), 1, "{:?} are not one value", one.text);
            }
            events.extend(world.take(proposals));
        }
        prop_assert_eq!(active(&world), held, "every value has a survivor, and no new one came");
        prop_assert_eq!(world.bytes_without(&events), before);
    }
}
