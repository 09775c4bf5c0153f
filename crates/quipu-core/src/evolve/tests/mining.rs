//! Tests mining and naming of patterns.

use super::world::{World, day};
use crate::evolve::{DueStatus, PromotionThresholds};
use serde_json::json;

/// Sets values day by day and compares the due patterns on the last day.
fn check(title: &str, written: &[(i64, &str, serde_json::Value)], due: &[(&str, &str)]) {
    let mut world = World::new();
    for (at, pointer, value) in written {
        world.set(*at, pointer, value.clone());
    }
    let last = written.iter().map(|(at, ..)| *at).max().unwrap_or_default();
    let due: Vec<(String, String)> = due.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(world.due(last), due, "{title}: {:#?}", world.survey(last));
}

#[test]
fn what_recurs_is_due() {
    let at = |n: i64, key: &str, text: &str| (n, format!("/uncategorized/{key}"), json!(text));
    let notes = |all: &[(i64, &str, &str)]| all.iter().map(|(n, key, text)| at(*n, key, text)).collect::<Vec<_>>();
    let run = |title: &str, all: &[(i64, &str, &str)], due: &[(&str, &str)]| {
        let all = notes(all);
        let all: Vec<_> = all.iter().map(|(n, pointer, value)| (*n, pointer.as_str(), value.clone())).collect();
        check(title, &all, due);
    };
    run(
        "the seed's notes on sleep",
        &[
            (0, "sleep_note_1", "Having trouble staying asleep"),
            (1, "sleep_note_2", "Higher BG after poor sleep"),
            (2, "sleep_note_3", "Started using sleep mask"),
        ],
        &[("sleep", "sleepHealth")],
    );
    run(
        "the term stands in the texts, and in no key",
        &[(0, "a", "Bees need a second hive"), (1, "b", "Ordered sugar for the bees"), (2, "c", "The bees swarmed")],
        &[("bees", "beesNotes")],
    );
    run(
        "two instances are too few",
        &[(0, "sleep_note_1", "Having trouble staying asleep"), (1, "sleep_note_2", "Higher BG after poor sleep")],
        &[],
    );
    run(
        "three on one day are one day",
        &[(0, "sleep_note_1", "Bad night"), (0, "sleep_note_2", "Bad night again"), (0, "sleep_note_3", "Worse night")],
        &[],
    );
    run(
        "a stop word and a word of keys are nothing in common",
        &[(0, "note_about_me", "left-handed"), (1, "note_about_work", "remote"), (2, "note_about_car", "leased")],
        &[],
    );
    run(
        "a vague word is nothing in common",
        &[(0, "favorite_color", "blue"), (1, "favorite_fruit", "fig"), (2, "favorite_tram", "28")],
        &[],
    );
    run(
        "a name in texts is not a topic",
        &[(0, "a", "Call Anna back"), (1, "b", "Give Anna the keys"), (2, "c", "Ask Anna out of town")],
        &[],
    );
    run(
        "one key that names itself is called by it",
        &[(0, "sleepNote1", "x y"), (1, "sleep-note-2", "x y"), (2, "Sleep Note 3", "x y")],
        &[("sleep", "sleepHealth")],
    );
}

#[test]
fn a_list_that_grows_is_a_pattern_of_its_own() {
    check(
        "three values under one key, on three days",
        &[
            (0, "/uncategorized/bee_keeping/-", json!("bought a hive")),
            (1, "/uncategorized/bee_keeping/-", json!("joined the club")),
            (2, "/uncategorized/bee_keeping/-", json!("first honey")),
        ],
        &[("bee_keeping", "beeKeeping")],
    );
}

#[test]
fn a_dynamic_category_is_a_pattern_by_its_name() {
    let add = |n: i64, value: &str| (n, "/dynamicCategories/stressManagement/data/techniques/-", json!(value));
    check(
        "on three days",
        &[add(0, "yoga"), add(1, "walking"), add(2, "tea")],
        &[("stressManagement", "stressManagement")],
    );
    check("on two days", &[add(0, "yoga"), add(1, "walking"), add(1, "tea")], &[]);
    check(
        "a name that the registry has is not taken",
        &[
            (0, "/dynamicCategories/work/data/a", json!("x")),
            (1, "/dynamicCategories/work/data/b", json!("x")),
            (2, "/dynamicCategories/work/data/c", json!("x")),
        ],
        &[("work", "workNotes")],
    );
}

#[test]
fn what_is_missing_is_told() {
    let mut world = World::new();
    world.set(0, "/uncategorized/sleep_a", "Bad night");
    world.set(0, "/uncategorized/sleep_b", "Bad night too");
    let survey = world.survey(0);
    assert_eq!(survey[0].standing, DueStatus::Below { missing: "2 of 3 instances, 1 of 3 days".to_owned() });
    let world = World::of_sleep();
    assert_eq!(world.survey(500)[0].standing, DueStatus::Below { missing: "last seen 498 days ago".to_owned() });
    assert_eq!(world.survey(2)[0].candidate.support.first_seen, Some(day(0)));
    assert_eq!(world.survey(2)[0].candidate.support.last_seen, Some(day(2)));
}

#[test]
fn a_place_that_was_emptied_begins_anew() {
    let mut world = World::of_sleep();
    for key in ["sleep_note_1", "sleep_note_2"] {
        let patch = crate::core_document::unset(world.memory.core(), &format!("/uncategorized/{key}")).unwrap();
        world.record(3, vec![crate::event::Change::CorePatched(patch)]);
        world.set(3, &format!("/uncategorized/{key}"), "slept badly");
    }
    assert_eq!(world.due(3), [], "the three notes are of two days now");
}

#[test]
fn knobs_have_bounds() {
    for (knobs, ok) in [
        (PromotionThresholds::default(), true),
        (PromotionThresholds { instances: 1, ..PromotionThresholds::default() }, false),
        (PromotionThresholds { instances: 1001, ..PromotionThresholds::default() }, false),
        (PromotionThresholds { days: 0, ..PromotionThresholds::default() }, false),
        (PromotionThresholds { days: 1, instances: 2, ..PromotionThresholds::default() }, true),
        (PromotionThresholds { recent_days: 0, ..PromotionThresholds::default() }, false),
    ] {
        assert_eq!(knobs.checked().is_ok(), ok, "{knobs:?}");
    }
}
