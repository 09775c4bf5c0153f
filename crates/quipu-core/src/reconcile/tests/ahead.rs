//! Values that begin on a day ahead, and what happens when the day comes.

use serde_json::json;

use super::world::{World, claim, day};
use crate::event::SourceKind;
use crate::extract::{Extraction, FactCandidate, Stance, UpdateCandidate, UpdateNews};
use crate::item::FactStatus;

fn works(object: &str, stance: Stance, since: &str) -> FactCandidate {
    FactCandidate { valid_from: (!since.is_empty()).then(|| day(since)), ..claim("works_at", object, stance) }
}

/// A world in which somebody works at Mercy and has said that they start at Oakwood in January.
fn before_the_change() -> World {
    let mut world = World::new();
    world.now = day("2025-11-30");
    world.says("2025-11-01", works("Mercy", Stance::Holds, ""));
    world.says("2025-11-30", works("Oakwood", Stance::Changed, "2026-01-05"));
    world
}

fn on(world: &mut World, date: &str, candidate: FactCandidate) {
    world.now = day(date);
    world.says(date, candidate);
}

#[test]
fn the_present_value_holds_until_then() {
    let world = before_the_change();
    assert_eq!(world.active("works_at"), ["Mercy", "Oakwood"]);
    assert_eq!(world.core("/work/employer"), Some(json!("Mercy")));
    assert_eq!(world.held_at("works_at", "2025-12-24"), ["Mercy"]);
    assert_eq!(world.held_at("works_at", "2026-02-01"), ["Oakwood"]);
}

#[test]
fn when_the_day_has_come_the_next_words_put_it_in_place_whatever_they_are_about() {
    let mut world = before_the_change();
    on(&mut world, "2026-01-04", claim("likes", "tea", Stance::Holds));
    assert_eq!(world.core("/work/employer"), Some(json!("Mercy")));
    on(&mut world, "2026-01-06", claim("likes", "jazz", Stance::Holds));
    assert_eq!(world.active("works_at"), ["Oakwood"]);
    assert_eq!(world.objects("works_at", FactStatus::Superseded), ["Mercy"]);
    assert_eq!(world.core("/work/employer"), Some(json!("Oakwood")));
    on(&mut world, "2026-03-01", works("Siemens", Stance::Changed, ""));
    assert_eq!(world.active("works_at"), ["Siemens"]);
    assert_eq!(world.held_at("works_at", "2026-02-01"), ["Oakwood"]);
}

#[test]
fn without_a_present_value_it_is_not_one_before_its_day() {
    let mut world = World::new();
    on(&mut world, "2025-11-30", works("Oakwood", Stance::Holds, "2026-01-05"));
    assert_eq!((world.active("works_at"), world.core("/work/employer")), (vec!["Oakwood".to_owned()], None));
    on(&mut world, "2026-01-06", claim("likes", "tea", Stance::Holds));
    assert_eq!(world.core("/work/employer"), Some(json!("Oakwood")));
}

#[test]
fn it_may_be_put_off_begin_early_or_never_begin() {
    let mut world = before_the_change();
    on(&mut world, "2025-12-01", works("Oakwood", Stance::Changed, "2026-03-01"));
    assert_eq!(world.held_at("works_at", "2026-02-01"), ["Mercy"]);
    on(&mut world, "2025-12-10", works("Oakwood", Stance::Changed, ""));
    assert_eq!(world.active("works_at"), ["Oakwood"]);
    assert_eq!(world.core("/work/employer"), Some(json!("Oakwood")));

    let mut world = before_the_change();
    on(&mut world, "2025-12-01", works("Oakwood", Stance::Ended, ""));
    assert_eq!(world.active("works_at"), ["Mercy"]);
    assert_eq!(world.held_at("works_at", "2026-02-01"), ["Mercy"], "it holds on");

    let mut world = before_the_change();
    let planned = world.memory.items().facts().find(|fact| fact.object == "Oakwood").unwrap().id;
    let changes = world.desk(|desk, _| desk.retract(planned, "it fell through")).unwrap();
    world.record(crate::event::SourceKind::UserEdited, changes);
    assert_eq!(world.held_at("works_at", "2026-02-01").iter().filter(|one| *one == "Mercy").count(), 1);
}

#[test]
fn another_plan_for_the_same_time_takes_its_place_and_a_later_one_follows_it() {
    let mut world = before_the_change();
    on(&mut world, "2025-12-01", works("Siemens", Stance::Changed, "2026-01-01"));
    assert_eq!(world.active("works_at"), ["Mercy", "Siemens"]);
    on(&mut world, "2025-12-02", works("Bosch", Stance::Changed, "2026-06-01"));
    assert_eq!(world.held_at("works_at", "2026-02-01"), ["Siemens"]);
    assert_eq!(world.held_at("works_at", "2026-07-01"), ["Bosch"]);
    assert_eq!(world.core("/work/employer"), Some(json!("Mercy")));
}

#[test]
fn what_a_later_state_excludes_holds_until_it_begins() {
    let mut world = World::new();
    on(&mut world, "2025-11-01", claim("works_as", "nurse", Stance::Holds));
    let out =
        FactCandidate { valid_from: Some(day("2026-02-01")), ..claim("work_status", "unemployed", Stance::Changed) };
    on(&mut world, "2025-11-30", out);
    assert_eq!(world.held_at("works_as", "2025-12-24"), ["nurse"]);
    assert_eq!(world.core("/work/role"), Some(json!("nurse")));
    assert_eq!(world.held_at("works_as", "2026-03-01"), [""; 0]);
}

#[test]
fn another_present_value_leaves_the_plan_and_holds_until_then() {
    let mut world = before_the_change();
    on(&mut world, "2025-12-01", works("Café Lux", Stance::Changed, ""));
    assert_eq!(world.active("works_at"), ["Oakwood", "Café Lux"]);
    assert_eq!(world.held_at("works_at", "2025-12-24"), ["Café Lux"]);
    assert_eq!(world.held_at("works_at", "2026-02-01"), ["Oakwood"]);
    assert_eq!(world.core("/work/employer"), Some(json!("Café Lux")));
}

/// Tells news, and returns what is told of the facts that stay.
fn news(
    world: &mut World,
    date: &str,
    text: &str,
    what: &str,
    news: UpdateNews,
    on: Option<&str>,
) -> Vec<(String, String)> {
    world.now = day(date);
    let (what, day) = (what.to_owned(), on.map(day));
    let update = UpdateCandidate { what, news, span: 0..text.len(), day, confidence: 0.9 };
    let found = Extraction { updates: vec![update], ..Extraction::default() };
    let report = world.hears_text(date, SourceKind::UserSaid, text, found);
    report.seen.into_iter().map(|seen| (seen.text, seen.what)).collect()
}

#[test]
fn a_beginning_is_moved_without_naming_what_begins() {
    let mut world = before_the_change();
    let text = "they put my start back to March";
    let told = news(&mut world, "2025-12-01", text, "", UpdateNews::Begins, Some("2026-03-01"));
    assert_eq!(told, [("User works at Oakwood".to_owned(), "begins on another day".to_owned())]);
    assert_eq!(world.held_at("works_at", "2026-02-01"), ["Mercy"]);
    assert_eq!(world.held_at("works_at", "2026-03-02"), ["Oakwood"]);
    // With two beginnings ahead it is not clear which is meant.
    let studies = FactCandidate { valid_from: Some(day("2026-02-01")), ..claim("studies_at", "MIT", Stance::Changed) };
    on(&mut world, "2025-12-02", studies);
    news(&mut world, "2025-12-03", "they put my start back to May", "", UpdateNews::Begins, Some("2026-05-01"));
    assert_eq!(world.held_at("works_at", "2026-03-02"), ["Oakwood"]);
}

#[test]
fn what_is_kept_after_all_holds_on_and_what_was_to_follow_does_not_begin() {
    let mut world = before_the_change();
    let told = news(&mut world, "2025-12-01", "I'm staying at Mercy after all", "Mercy", UpdateNews::Kept, None);
    assert_eq!(told, [("User works at Mercy".to_owned(), "holds on".to_owned())]);
    assert_eq!(world.active("works_at"), ["Mercy"]);
    assert_eq!(world.held_at("works_at", "2026-02-01"), ["Mercy"]);
    assert_eq!(world.core("/work/employer"), Some(json!("Mercy")));

    let mut world = World::new();
    on(&mut world, "2025-11-01", claim("takes_medication", "warfarin", Stance::Holds));
    let until =
        FactCandidate { valid_to: Some(day("2026-01-01")), ..claim("takes_medication", "warfarin", Stance::Ended) };
    on(&mut world, "2025-11-02", until);
    assert_eq!(world.held_at("takes_medication", "2026-02-01"), [""; 0]);
    news(&mut world, "2025-11-03", "they kept me on the warfarin", "warfarin", UpdateNews::Kept, None);
    assert_eq!(world.held_at("takes_medication", "2026-02-01"), ["warfarin"]);
    // What has no end ahead is not touched.
    news(&mut world, "2025-11-04", "I'm keeping the car after all", "warfarin", UpdateNews::Kept, None);
    assert_eq!(world.active("takes_medication"), ["warfarin"]);
}

#[test]
fn what_would_end_before_it_begins_is_refused() {
    let mut world = World::new();
    let backwards = FactCandidate { valid_to: Some(day("2019-01-01")), ..works("Mercy", Stance::Holds, "2020-01-01") };
    let report = world.says("2025-11-01", backwards);
    assert_eq!((report.refused.len(), world.active("works_at").len()), (1, 0));
    assert!(report.refused[0].reason.contains("before it begins"), "{:?}", report.refused);
}
