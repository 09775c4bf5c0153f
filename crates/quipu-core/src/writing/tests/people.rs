//! What people decide.

use serde_json::json;

use super::world::{World, claim, day};
use crate::core_document;
use crate::event::{Change, SourceKind};
use crate::extract::{Extraction, FactCandidate, Stance};
use crate::item::{Decision, FactStatus};

fn imported(world: &mut World, candidate: FactCandidate) {
    let found = Extraction { facts: vec![candidate], ..Extraction::default() };
    world.hears("2024-06-01", SourceKind::Imported, found);
}

#[test]
fn approving_makes_a_waiting_fact_count() {
    let mut world = World::new();
    world.says("2024-01-01", claim("lives_in", "Oslo", Stance::Holds));
    imported(&mut world, claim("diet", "vegan", Stance::Holds));
    let review = world.waiting()[0];
    world.decides(review, Decision::Approved);
    assert_eq!(world.active("diet"), ["vegan"]);
    assert_eq!(world.core("/dietaryProfile/diet"), Some(json!("vegan")));
    assert!(world.desk(|desk, name| desk.review(review, &Decision::Approved, name)).is_err(), "once");
}

#[test]
fn declining_keeps_a_value_out_for_good() {
    let mut world = World::new();
    imported(&mut world, claim("diet", "vegan", Stance::Holds));
    let review = world.waiting()[0];
    world.decides(review, Decision::Declined);
    assert_eq!(world.objects("diet", FactStatus::Retracted), ["vegan"]);
    let found = Extraction { facts: vec![claim("diet", "Vegan", Stance::Holds)], ..Extraction::default() };
    let report = world.hears("2024-08-01", SourceKind::Imported, found);
    assert_eq!(report.refused.len(), 1, "{report:?}");
    assert_eq!(world.waiting(), []);
}

#[test]
fn an_edit_puts_the_right_value_in_place() {
    let mut world = World::new();
    imported(&mut world, claim("diet", "vegan", Stance::Holds));
    let review = world.waiting()[0];
    world.decides(review, Decision::Edited { text: "vegetarian".to_owned() });
    assert_eq!(world.active("diet"), ["vegetarian"]);
    assert_eq!(world.core("/dietaryProfile/diet"), Some(json!("vegetarian")));
}

#[test]
fn retracting_takes_a_fact_out_and_keeps_its_history() {
    let mut world = World::new();
    world.says("2024-01-01", claim("likes", "jazz", Stance::Holds));
    let fact = world.memory.items().facts().next().unwrap().id;
    let changes = world.desk(|desk, _| desk.retract(fact, "no")).unwrap();
    world.record(SourceKind::UserEdited, changes);
    assert_eq!(world.active("likes"), Vec::<String>::new());
    assert_eq!(world.core("/preferences"), None);
    let found = Extraction { facts: vec![claim("likes", "jazz", Stance::Holds)], ..Extraction::default() };
    let report = world.hears("2024-02-01", SourceKind::Imported, found);
    assert_eq!(report.refused.len(), 1, "nobody else brings it back");
    world.says("2024-03-01", claim("likes", "jazz", Stance::Holds));
    assert_eq!(world.active("likes"), ["jazz"], "the user may say it again");
}

#[test]
fn closing_says_until_when() {
    let mut world = World::new();
    world.says("2024-01-01", claim("works_at", "Acme", Stance::Holds));
    let fact = world.memory.items().facts().next().unwrap().id;
    let changes = world.desk(|desk, _| desk.close(fact, day("2025-01-01"))).unwrap();
    world.record(SourceKind::UserEdited, changes);
    assert_eq!(world.held_at("works_at", "2024-06-01"), ["Acme"]);
    assert_eq!(world.held_at("works_at", "2025-06-01"), Vec::<String>::new());
    assert_eq!(world.core("/work"), None);
}

#[test]
fn merging_makes_one_of_two() {
    let mut world = World::new();
    world.says("2024-01-01", claim("likes", "hiking", Stance::Holds));
    world.says("2024-01-02", claim("likes", "walks in the hills", Stance::Holds));
    let ids: Vec<_> = world.memory.items().facts().map(|fact| fact.id).collect();
    let changes = world.desk(|desk, _| desk.merge(&ids[1..], ids[0])).unwrap();
    world.record(SourceKind::UserEdited, changes);
    assert_eq!(world.active("likes"), ["hiking"]);
    assert_eq!(world.memory.items().fact(ids[0]).unwrap().evidence.len(), 2);
    assert_eq!(world.core("/preferences/likes"), Some(json!(["hiking"])));
}

/// Edits the core document as the engine does.
fn edit(world: &mut World, pointer: &str, value: Option<serde_json::Value>) {
    let before = world.memory.core().clone();
    let patch = match value {
        Some(value) => core_document::set(&before, pointer, value).unwrap(),
        None => core_document::unset(&before, pointer).unwrap(),
    };
    let (guarded, after) = core_document::check(&world.registry, &before, &patch).unwrap();
    let mut changes = world.desk(|desk, name| desk.edited(&after, name));
    changes.push(Change::CorePatched(guarded));
    world.record(SourceKind::UserEdited, changes);
}

#[test]
fn an_edit_by_hand_is_a_correction_and_the_facts_follow() {
    let mut world = World::new();
    world.says("2024-01-01", claim("lives_in", "Oslo", Stance::Holds));
    world.says("2024-01-01", claim("likes", "jazz", Stance::Holds));
    edit(&mut world, "/location/current", Some(json!("Bergen")));
    assert_eq!(world.active("lives_in"), ["Bergen"]);
    assert_eq!(world.objects("lives_in", FactStatus::Corrected), ["Oslo"]);
    edit(&mut world, "/preferences/likes", Some(json!(["jazz", "opera"])));
    assert_eq!(world.active("likes"), ["jazz", "opera"]);
    edit(&mut world, "/preferences", None);
    assert_eq!(world.active("likes"), Vec::<String>::new());
    edit(&mut world, "/location/current", None);
    assert_eq!(world.active("lives_in"), Vec::<String>::new());
}

#[test]
fn approving_what_was_told_of_the_past_makes_history() {
    let mut world = World::new();
    imported(&mut world, claim("has_condition", "asthma", Stance::Held));
    let review = world.waiting()[0];
    world.decides(review, Decision::Approved);
    assert_eq!(world.active("has_condition"), Vec::<String>::new());
    assert_eq!(world.objects("has_condition", FactStatus::Superseded), ["asthma"]);
    assert_eq!(world.core("/healthProfile"), None);
}

#[test]
fn what_was_told_of_the_past_and_waits_is_not_what_holds_now() {
    let mut world = World::new();
    imported(&mut world, claim("has_condition", "asthma", Stance::Held));
    world.says("2024-07-01", claim("has_condition", "asthma", Stance::Holds));
    assert_eq!(world.active("has_condition"), ["asthma"]);
    assert_eq!(world.objects("has_condition", FactStatus::Uncertain), ["asthma"]);
}

#[test]
fn what_was_settled_in_another_way_waits_no_longer() {
    let mut world = World::new();
    imported(&mut world, claim("likes", "jazz", Stance::Holds));
    let review = world.waiting()[0];
    world.says("2024-07-01", claim("likes", "jazz", Stance::Holds));
    assert_eq!(world.waiting(), []);
    let refused = world.desk(|desk, name| desk.review(review, &Decision::Declined, name)).unwrap_err();
    assert!(refused.to_string().contains("decided") || refused.to_string().contains("settled"), "{refused}");
}

#[test]
fn an_edit_to_a_value_that_holds_says_it_once() {
    let mut world = World::new();
    world.says("2024-01-01", claim("likes", "jazz", Stance::Holds));
    imported(&mut world, claim("likes", "jaz", Stance::Holds));
    let review = world.waiting()[0];
    world.decides(review, Decision::Edited { text: "Jazz".to_owned() });
    assert_eq!(world.active("likes"), ["jazz"]);
    let held = world.memory.items().facts().find(|fact| fact.is_active()).unwrap().id;
    let changes = world.desk(|desk, _| desk.retract(held, "no")).unwrap();
    world.record(SourceKind::UserEdited, changes);
    assert_eq!(world.core("/preferences"), None);
}
