//! Properties: a promotion loses nothing, can be reverted, and happens once.

use proptest::prelude::*;
use serde_json::Value;

use super::world::World;
use crate::core_document::Categories;
use crate::evolve::mine;
use crate::memory::Memory;

const WORDS: [&str; 10] = ["sleep", "garden", "note", "bee", "the", "trouble", "hours", "after", "using", "7"];

fn any_text() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&WORDS[..]), 1..5).prop_map(|words| words.join(" "))
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => any_text().prop_map(Value::from),
        1 => any::<i32>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(any_name(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => proptest::collection::vec(proptest::sample::select(&WORDS[..]), 1..3).prop_map(|words| words.join("_")),
        1 => proptest::sample::select(&["notes", "aids", "challenges", "a/b", "c~d", "0"][..]).prop_map(str::to_owned),
    ]
}

fn any_step() -> impl Strategy<Value = (i64, String, Value)> {
    let token = |name: String| name.replace('~', "~0").replace('/', "~1");
    let place = prop_oneof![
        3 => any_name().prop_map(move |name| format!("/uncategorized/{}", token(name))),
        2 => (any_name(), any_name()).prop_map(move |(category, name)| {
            format!("/dynamicCategories/{}/data/{}", token(category), token(name))
        }),
    ];
    (0..6i64, place, any_value())
}

/// Every scalar value as text, sorted.
fn leaves(value: &Value) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(list) => list.iter().for_each(|one| walk(one, found)),
            Value::Object(members) => members.values().for_each(|one| walk(one, found)),
            leaf => found.push(leaf.to_string()),
        }
    }
    let mut found = Vec::new();
    walk(value, &mut found);
    found.sort();
    found
}

fn again(world: &World, skipped: &[u64]) -> Memory {
    world.without(skipped, &[])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_promotion_loses_nothing_and_can_be_taken_back(steps in proptest::collection::vec(any_step(), 1..14)) {
        let mut world = World::new();
        for (at, pointer, value) in steps {
            if crate::core_document::set(world.memory.core(), &pointer, value.clone()).is_ok_and(|patch| !patch.0.is_empty()) {
                world.set(at, &pointer, value);
            }
        }
        // Promotes every recurring pattern until none is left.
        let mut rounds = 0;
        while let Some(candidate) = mine(&world.memory).into_iter().next() {
            rounds += 1;
            prop_assert!(rounds < 64, "it does not end: {candidate:?}");
            let before = world.memory.core().clone();
            let plan = world.promote(9, &candidate.key, None);
            let after = world.memory.core();
            prop_assert_eq!(leaves(&before), leaves(after), "{} moved to {}", candidate.key, plan.promotion.name);
            prop_assert_eq!(after.pointer(&format!("/{}", plan.promotion.name)), Some(&plan.category));
            let categories = Categories::of(&world.registry, world.memory.schema());
            prop_assert_eq!(categories.validate(after), Ok(()));
            let last = world.memory.seq();
            let reverted = again(&world, &[last]);
            prop_assert_eq!(reverted.core(), &before);
        }
        // Replaying the ledger and reading a snapshot give the same memory.
        let replayed = again(&world, &[]);
        prop_assert_eq!(&replayed, &world.memory);
        let read = Memory::decode(&world.memory.encode().unwrap()).unwrap();
        prop_assert_eq!(&read, &world.memory);
        prop_assert!(world.memory.orphans().is_empty());
        // Without the first event nothing is partly applied.
        let partial = again(&world, &[1]);
        let categories = Categories::of(&world.registry, partial.schema());
        prop_assert_eq!(categories.validate(partial.core()), Ok(()));
    }
}
