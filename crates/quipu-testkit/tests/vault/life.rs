//! Random histories: the files are the same, however they were made.

use quipu_engine::erase::EraseTarget;
use quipu_engine::revert::{RevertOptions, Selection, revert};
use quipu_engine::versions::EventRef;
use quipu_engine::{VaultOptions, erase, facts, files, mark, retract, score_fact};
use quipu_testkit::{MemoryStore, Rng, effort, seed};

use crate::{House, me};

const SAYINGS: [&str; 12] = [
    "I live in Lyon",
    "I moved to Porto",
    "I moved to Faro last week",
    "My sister is called Marta",
    "I like tea",
    "I no longer like tea",
    "I am allergic to hazelnuts",
    "I want to run the Porto marathon",
    "I work as a vet",
    "Nothing happened today",
    "I have a dog called Rex",
    "Actually my sister is called Maria",
];

/// Executes one step. Refused steps have no effect.
fn step(house: &House, dice: &mut Rng, day: &mut i64, head: &mut u64) {
    let some = |dice: &mut Rng, head: u64| 1 + dice.below(head.max(1) as usize) as u64;
    let fact = |dice: &mut Rng| {
        let all = facts(&house.engine, &me(), &quipu_engine::FactOptions::default()).ok()?;
        dice.pick(&all).map(|shown| shown.fact.id.to_string())
    };
    match dice.below(12) {
        0 | 1 => {
            *day += 1 + dice.below(3) as i64;
            house.day(*day);
        }
        2 if *head > 0 => {
            let target = Selection::Events(vec![EventRef::Seq(some(dice, *head))]);
            let _ = revert(&house.engine, &me(), &target, &RevertOptions::default(), &mut |_| {});
        }
        3 if *head > 0 && dice.once_in(3) => {
            let target = EraseTarget::Event(some(dice, *head));
            let _ = erase(&house.engine, &me(), &[target], "asked", &mut |_| {});
        }
        4 => {
            if let Some(id) = fact(dice) {
                let _ = retract(&house.engine, &me(), &id, "wrong");
            }
        }
        5 => {
            if let Some(id) = fact(dice) {
                let _ = score_fact(&house.engine, &me(), &id, dice.below(11) as u8);
            }
        }
        6 => {
            if let Some(id) = fact(dice) {
                let _ = mark(&house.engine, &me(), &id, Some(true), None);
            }
        }
        7 | 8 if *head > 0 => {
            house.level();
        }
        _ => {
            house.says(dice.pick(&SAYINGS).unwrap_or(&"hello"));
        }
    }
    *head = quipu_engine::status(&house.engine, &me()).map_or(0, |status| status.version);
}

#[test]
fn files_are_the_same_whichever_way_they_came_to_be() {
    for case in 0..u64::from(effort(5)) {
        let store = MemoryStore::new();
        let mut dice = Rng::new(seed() ^ case);
        let house = House::over(store.clone(), case + 1);
        let (mut day, mut head) = (0, 0);
        house.says("hello");
        for _ in 0..40 {
            step(&house, &mut dice, &mut day, &mut head);
        }
        house.level();
        let added = house.files();
        let checked = files::verify(&house.engine, &me()).unwrap();
        assert!(checked.is_level(), "seed {} case {case}: {checked:?}", seed());

        let fresh = house.elsewhere(store);
        files::rebuild(&fresh.engine, &me(), VaultOptions::default()).unwrap();
        assert_eq!(added.keys().collect::<Vec<_>>(), fresh.files().keys().collect::<Vec<_>>(), "case {case}");
        assert!(added == fresh.files(), "seed {} case {case}", seed());

        let bare = house.rig.engine(Box::new(MemoryStore::new()));
        files::restore(&bare, &me(), files::RestoreOptions::default(), &mut |_| {}).unwrap();
        let again = files::rebuild(&bare, &me(), VaultOptions::default()).unwrap();
        assert!(again.is_level(), "seed {} case {case}: {again:?}", seed());
    }
}
