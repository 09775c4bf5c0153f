//! Tests what a promotion moves, and the result when a part of its history no longer counts.

use serde_json::{Value, json};

use super::world::World;
use crate::Refusal;
use crate::core_document::Categories;
use crate::limit;

#[test]
fn the_seeds_notes_on_sleep_become_a_category_of_the_seeds_shape() {
    let mut world = World::of_sleep();
    let plan = world.promote(3, "sleep", None);
    assert_eq!(plan.promotion.rationale, "3 instances on 3 days, last seen 2026-03-03");
    assert_eq!(
        *world.memory.core(),
        json!({"sleepHealth": {
            "challenges": "Having trouble staying asleep",
            "impact": "Higher BG after poor sleep",
            "aids": ["Started using sleep mask"],
        }})
    );
    assert_eq!(
        world.memory.core_with_meta()["_meta"]["schemaEvolution"],
        json!([{
            "timestamp": "2026-03-04T09:00:00Z",
            "change": "promoted sleep to sleepHealth",
            "newCategory": "sleepHealth",
            "reason": "3 instances on 3 days, last seen 2026-03-03",
        }])
    );
    assert_eq!(world.survey(3), [], "nothing is left to do");
}

/// Promotes a pattern of a document and compares the result.
fn check(title: &str, before: &[(&str, Value)], candidate: &str, after: &Value) {
    let mut world = World::new();
    for (n, (pointer, value)) in before.iter().enumerate() {
        world.set(n as i64, pointer, value.clone());
    }
    world.promote(9, candidate, None);
    assert_eq!(world.memory.core(), after, "{title}");
    let categories = Categories::of(&world.registry, world.memory.schema());
    assert_eq!(categories.validate(world.memory.core()), Ok(()), "{title}");
}

#[test]
fn fields_follow_keys_and_cues() {
    let sleep = |key: &str, value: Value| (format!("/uncategorized/sleep_{key}"), value);
    let run = |title: &str, before: &[(String, Value)], after: &Value| {
        let before: Vec<(&str, Value)> = before.iter().map(|(at, value)| (at.as_str(), value.clone())).collect();
        check(title, &before, "sleep", &json!({"sleepHealth": after}));
    };
    run(
        "a key that says more names the field",
        &[sleep("duration", json!("6-7 hours")), sleep("quality", json!("poor"))],
        &json!({"duration": "6-7 hours", "quality": "poor"}),
    );
    run(
        "a number of hours is a duration",
        &[sleep("1", json!("About 7 hours a night"))],
        &json!({"duration": "About 7 hours a night"}),
    );
    run(
        "hours without a number are none",
        &[sleep("1", json!("Counting the hours"))],
        &json!({"notes": ["Counting the hours"]}),
    );
    run(
        "two in one field are a list",
        &[sleep("1", json!("Trouble falling asleep")), sleep("2", json!("Can't sleep on planes"))],
        &json!({"challenges": ["Trouble falling asleep", "Can't sleep on planes"]}),
    );
    run(
        "what fits nowhere is a note",
        &[sleep("1", json!("Two pillows")), sleep("2", json!("Window open"))],
        &json!({"notes": ["Two pillows", "Window open"]}),
    );
    run(
        "other values keep their shape",
        &[sleep("log", json!([6, 7])), sleep("tracked", json!(true)), sleep("goal", json!({"hours": 8}))],
        &json!({"sleepLog": [6, 7], "tracked": true, "goal": {"hours": 8}}),
    );
}

#[test]
fn a_dynamic_category_moves_as_it_is() {
    check(
        "whole",
        &[
            (
                "/dynamicCategories/stressManagement",
                json!({"description": "What calms", "usageCount": 3, "data": {"techniques": ["yoga"], "worst": {"day": "Monday"}}}),
            ),
            ("/location/current", json!("Porto")),
        ],
        "stressManagement",
        &json!({"location": {"current": "Porto"}, "stressManagement": {"techniques": ["yoga"], "worst": {"day": "Monday"}}}),
    );
    check(
        "a list becomes the notes of the category, and others stay",
        &[
            ("/dynamicCategories/moods", json!({"data": ["grey", "blue"]})),
            ("/dynamicCategories/other", json!({"data": {"a": 1}})),
        ],
        "moods",
        &json!({"moods": {"notes": ["grey", "blue"]}, "dynamicCategories": {"other": {"data": {"a": 1}}}}),
    );
    let mut world = World::new();
    world.set(0, "/dynamicCategories/moods", json!({"description": "How it feels", "data": {"a": 1}}));
    world.promote(1, "/dynamicCategories/moods", Some("moodPatterns"));
    assert_eq!(world.memory.schema().category("moodPatterns").unwrap().description(), "How it feels");
}

#[test]
fn what_comes_later_joins_the_category() {
    let mut world = World::of_sleep();
    world.promote(3, "sleep", None);
    world.set(4, "/uncategorized/sleep_note_4", "Trouble waking up");
    world.set(5, "/uncategorized/sleep_note_5", "Two pillows");
    world.set(6, "/uncategorized/sleep_note_6", "Bought a sleep tracker");
    assert_eq!(world.due(6), [("sleep".to_owned(), "sleepHealth".to_owned())]);
    world.promote(7, "sleep", None);
    assert_eq!(
        *world.memory.core(),
        json!({"sleepHealth": {
            "challenges": ["Having trouble staying asleep", "Trouble waking up"],
            "impact": "Higher BG after poor sleep",
            "aids": ["Started using sleep mask", "Bought a sleep tracker"],
            "notes": ["Two pillows"],
        }})
    );
    let evolution = world.memory.core_with_meta()["_meta"]["schemaEvolution"].clone();
    assert_eq!(evolution[1]["change"], "moved sleep to sleepHealth");
    // A dynamic category of that name is merged too, list by list.
    world.set(8, "/dynamicCategories/sleep/data/aids", json!(["earplugs", "tea"]));
    world.set(8, "/dynamicCategories/sleep/data/impact", json!("Tired"));
    world.promote(9, "sleep", None);
    let after = world.memory.core();
    assert_eq!(
        after["sleepHealth"]["aids"],
        json!(["Started using sleep mask", "Bought a sleep tracker", "earplugs", "tea"])
    );
    assert_eq!(after["sleepHealth"]["impact2"], "Tired");
    assert_eq!(after.get("dynamicCategories"), None);
}

#[test]
fn a_name_is_refused_with_its_reason() {
    let mut world = World::of_sleep();
    for (candidate, name, wanted) in [
        ("sleep", "9lives", "Invalid"),
        ("sleep", "", "Invalid"),
        ("sleep", "a/b", "Invalid"),
        ("sleep", "_meta", "Invalid"),
        ("sleep", "healthProfile", "Refused"),
        ("sleep", "uncategorized", "Refused"),
        ("bees", "bees", "NotFound"),
    ] {
        let refusal = world.plan(candidate, Some(name)).unwrap_err();
        let kind = match refusal {
            Refusal::Invalid(_) => "Invalid",
            Refusal::Refused(_) => "Refused",
            Refusal::NotFound(_) => "NotFound",
        };
        assert_eq!(kind, wanted, "{candidate} {name:?}: {refusal}");
    }
    world.promote(3, "sleep", Some("nights"));
    assert!(world.memory.core().get("nights").is_some());
}

#[test]
fn a_category_holds_only_while_its_promotion_counts() {
    let mut world = World::of_sleep();
    let before = world.memory.core().clone();
    world.promote(3, "sleep", None);
    world.set(4, "/sleepHealth/duration", "7 hours");
    let reverted = world.without(&[4], &[]);
    assert_eq!(*reverted.core(), before);
    assert!(reverted.schema().is_empty());
    let orphans: Vec<u64> = reverted.orphans().iter().map(|orphan| orphan.seq).collect();
    assert_eq!(orphans, [5], "what was written there later no longer applies");
}

#[test]
fn a_part_that_no_longer_counts_is_passed_over() {
    let mut world = World::of_sleep();
    world.promote(3, "sleep", None);
    world.set(4, "/sleepHealth/duration", "7 hours");
    // The second note was a mistake: the rest of the category stays, including later additions.
    let without = world.without(&[2], &[]);
    assert!(without.orphans().is_empty(), "{:?}", without.orphans());
    assert_eq!(
        *without.core(),
        json!({"sleepHealth": {
            "challenges": "Having trouble staying asleep",
            "aids": ["Started using sleep mask"],
            "duration": "7 hours",
        }})
    );
    // The result after an erasure is the same.
    assert_eq!(world.without(&[], &[(2, 0)]).core(), without.core());
    // Without any of the notes there is nothing to promote.
    let empty = world.without(&[1, 2, 3], &[]);
    let orphans: Vec<u64> = empty.orphans().iter().map(|orphan| orphan.seq).collect();
    assert_eq!(orphans, [4, 5]);
    assert_eq!(*empty.core(), json!({}));
}

#[test]
fn a_memory_grows_so_many_categories() {
    let mut world = World::new();
    for n in 0..limit::CATEGORIES_PROMOTED_MAX {
        world.set(0, "/uncategorized/bee", "A hive");
        world.promote(1, "bee", Some(&format!("bees{n}")));
    }
    world.set(0, "/uncategorized/bee", "A hive");
    let refusal = world.plan("bee", Some("more")).unwrap_err();
    assert!(refusal.to_string().contains("at most 64 categories"), "{refusal}");
    world.promote(2, "bee", Some("bees0"));
    assert_eq!(world.memory.core()["bees0"], json!({"notes": ["A hive", "A hive"]}));
    // Forged promotions are checked in the same way.
    let mut forged = World::of_sleep().plan("sleep", None).unwrap();
    forged.promotion.name = "uncategorized".to_owned();
    assert!(World::of_sleep().memory.check(forged.changes().iter()).is_err());
}

#[test]
fn a_promoted_category_is_bounded() {
    let mut world = World::of_sleep();
    world.promote(3, "sleep", None);
    let categories = Categories::of(&world.registry, world.memory.schema());
    let long = "x".repeat(129);
    for (value, ok) in [
        (json!({}), true),
        (json!({"a": {"b": [1]}}), true),
        (json!([]), false),
        (json!("text"), false),
        (json!({"": 1}), false),
        (json!({long: 1}), false),
        (Value::Object((0..1025).map(|n| (format!("k{n}"), json!(1))).collect()), false),
    ] {
        assert_eq!(categories.validate(&json!({"sleepHealth": value})).is_ok(), ok, "{value}");
    }
    assert!(categories.validate(&json!({"otherHealth": {}})).is_err());
    assert!(world.registry.validate(&json!({"sleepHealth": {}})).is_err(), "no other memory has it");
}
