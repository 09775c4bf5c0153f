//! Reverts, and the events that no longer apply after them.

use std::sync::Arc;

use quipu_core::difference::Difference;
use quipu_core::event::{Change, Draft};
use quipu_core::ledger::{self, Position};
use quipu_engine::revert::{RevertOptions, Selection, preview_revert, revert};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    CoreEdit, Engine, FactOptions, PatchOptions, core_at, diff, edit_core, facts, mark, pick, show, status,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, TestEngine, engine, tale::check};
use serde_json::json;

use crate::{me, said};

#[test]
fn a_revert_takes_an_event_back_and_a_revert_of_the_revert_restores_it() {
    check(
        "a revert of a revert",
        r#"
given said "I live in Lyon"
given set /location/current "Lyon"
given pin 1
when  revert 1 2
then  says nothing
      core /location/current nothing
      skipped 1 2
      orphans 3
when  revert 4
then  says "I live in Lyon"
      core /location/current "Lyon"
      marked 1 pinned 0
      orphans none
      skipped 4
when  revert 5
then  says nothing
      skipped 1 2 5
      orphans 3
and   at 3 says "I live in Lyon"
      at 4 says nothing
      intact
when  rebuild
then  skipped 1 2 5
"#,
    );
}

#[test]
fn what_is_reverted_already_is_not_reverted_again() {
    check(
        "reverting twice",
        r#"
given said "one"
given said "two"
when  revert 1
then  refused Refused revert 1
      refused NotFound revert 9
      refused NotFound revert since 3
when  revert 1 2
then  says nothing
      skipped 1 2
when  revert 4
then  says "two"
      skipped 1 4
"#,
    );
}

#[test]
fn events_that_no_longer_apply_are_listed_and_heal() {
    check(
        "orphans",
        r#"
given set /uncategorized/color "red"
given set /uncategorized/color "green"
given set /uncategorized/color "blue"
given set /uncategorized/size 3
when  revert 2
then  core /uncategorized {"color": "red", "size": 3}
      orphans 3
when  set /uncategorized/color "black"
then  core /uncategorized/color "black"
      orphans 3
when  revert 5
then  core /uncategorized/color "blue"
      orphans 6
when  revert 6
then  core /uncategorized/color "blue"
      orphans none
when  reopen
then  core /uncategorized {"color": "blue", "size": 3}
      orphans none
"#,
    );
}

#[test]
fn a_recorded_patch_never_writes_over_what_it_did_not_know() {
    check(
        "an addition after a revert",
        r#"
given set /uncategorized/pet "cat"
given unset /uncategorized/pet
given set /uncategorized/pet "dog"
when  revert 2
then  core /uncategorized/pet "cat"
      orphans 3
when  revert 1
then  core /uncategorized/pet "dog"
      orphans none
"#,
    );
}

#[test]
fn an_event_is_skipped_whole_when_one_of_its_operations_does_not_apply() {
    check(
        "half a patch",
        r#"
given set /uncategorized/a 1
given set /uncategorized/b 1
given patch [{"op": "replace", "path": "/uncategorized/a", "value": 2}, {"op": "replace", "path": "/uncategorized/b", "value": 2}]
when  revert 2
then  core /uncategorized {"a": 1}
      orphans 3
"#,
    );
}

#[test]
fn a_session_or_a_tail_is_reverted_at_once() {
    check(
        "selections",
        r#"
given said "one" in monday
given said "two" in tuesday
given said "three" in monday
when  revert session monday
then  says "two"
      skipped 1 3
when  revert 4
given said "four"
when  revert since 2
then  says "one" "two"
      skipped 3 4 5 6
when  revert since 0
then  says nothing
      skipped 1 2 3 4 5 6 7
"#,
    );
}

#[test]
fn an_erasure_cannot_be_reverted() {
    check(
        "reverting an erasure",
        r#"
given said "a secret"
given said "not a secret"
when  erase 1
then  says "not a secret"
      erased 1
      refused Refused revert 3
      refused NotFound erase 1
      refused Refused erase 3
      at 1 says nothing
      intact
when  revert since 1
then  skipped 2
      erased 1
"#,
    );
}

#[test]
fn erasing_makes_orphans_of_what_relied_on_it() {
    check(
        "erasing under a mark and under a patch",
        r#"
given said "I like red"
given rate 1 2
given set /uncategorized/color "red"
given set /uncategorized/color "blue"
when  erase 1
then  says nothing
      orphans 2
when  erase 3
then  core /uncategorized nothing
      orphans 2 4
when  reopen
then  orphans 2 4
      intact
"#,
    );
}

fn described(difference: &Difference) -> serde_json::Value {
    json!([
        difference.core_patch,
        difference.core_changes,
        difference.items,
        difference.orphans_new,
        difference.orphans_healed
    ])
}

#[test]
fn a_preview_shows_exactly_what_the_revert_then_changes() {
    // given a memory with items, marks and a core document that depend on each other
    let engine = engine(Box::new(MemoryStore::new()));
    said(&engine, &["I live in Lyon", "I have a cat", "I work at the port"]);
    for (pointer, value) in [("/location/current", json!("Lyon")), ("/location/current", json!("Porto"))] {
        edit_core(&engine, &me(), &CoreEdit::Set(pointer.to_owned(), value), &PatchOptions::default()).unwrap();
    }
    mark(&engine, &me(), "turn", None, None).unwrap_err();
    let cat = quipu_engine::show(&engine, &me(), EventRef::Seq(2)).unwrap();
    let Some(quipu_core::event::Change::SourceRecorded(cat)) = &cat.changes[0] else {
        panic!("event 2 recorded an item")
    };
    mark(&engine, &me(), &cat.id.to_string(), Some(true), Some(2)).unwrap();

    let some = |seqs: &[u64]| Selection::Events(seqs.iter().map(|&seq| EventRef::Seq(seq)).collect());
    let probes = RevertOptions { probes: vec!["Do I have a cat?".to_owned()], ..RevertOptions::default() };
    for selection in
        [some(&[4]), some(&[2, 3]), Selection::Since(When::Seq(4)), some(&[9]), Selection::Since(When::Seq(0))]
    {
        // when a revert is previewed
        let before = status(&engine, &me()).unwrap();
        let preview = preview_revert(&engine, &me(), &selection, &probes).unwrap();
        let after = status(&engine, &me()).unwrap();
        // then nothing was appended, and the revert makes the difference shown
        assert_eq!((before.version, &before.head), (after.version, &after.head));
        let (receipt, difference) = revert(&engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap();
        assert_eq!(described(&preview.difference), described(&difference), "{selection:?}");
        // and reverted events are not listed as applying again
        let healed = difference.orphans_healed.iter().map(|orphan| orphan.seq);
        assert!(healed.clone().all(|seq| !preview.events.contains(&seq)), "{selection:?}");
        let told = diff(&engine, &me(), When::Seq(before.version), When::Seq(receipt.seq)).unwrap();
        assert_eq!(described(&told), described(&difference), "{selection:?}");
    }
}

#[test]
fn a_preview_tells_which_questions_would_be_answered_differently() {
    let engine = engine(Box::new(MemoryStore::new()));
    said(&engine, &["My sister Ana lives in Porto", "My sister Ana lived in Lyon before"]);
    let probes = RevertOptions { probes: vec!["Does Ana live in Porto?".to_owned()], ..RevertOptions::default() };
    let preview = preview_revert(&engine, &me(), &Selection::Events(vec![EventRef::Seq(1)]), &probes).unwrap();
    let text = |answer: &Option<(String, String)>| answer.as_ref().map(|(_, text)| text.clone());
    assert_eq!(text(&preview.probes[0].before).as_deref(), Some("My sister Ana lives in Porto"));
    assert_eq!(text(&preview.probes[0].after).as_deref(), Some("My sister Ana lived in Lyon before"));
}

/// An engine with an extractor.
fn reading() -> Engine {
    let rig = TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(1) };
    rig.engine(Box::new(MemoryStore::new()))
}

fn held(engine: &Engine) -> Vec<String> {
    let all = facts(engine, &me(), &FactOptions::default()).unwrap();
    let mut said: Vec<String> = all.into_iter().map(|shown| shown.fact.text).collect();
    said.sort();
    said
}

fn core(engine: &Engine) -> serde_json::Value {
    let mut core = core_at(engine, &me(), When::Now).unwrap();
    core.as_object_mut().unwrap().remove("_meta");
    core
}

fn events(seqs: std::ops::RangeInclusive<u64>) -> Selection {
    Selection::Events(seqs.map(EventRef::Seq).collect())
}

#[test]
fn a_fact_does_not_depend_on_the_one_that_made_its_parent() {
    // given two facts and an edit by hand below one parent, and another in a list
    let engine = reading();
    said(&engine, &["I get migraines."]);
    let first = status(&engine, &me()).unwrap().version;
    said(&engine, &["I'm allergic to penicillin.", "I'm allergic to peanuts."]);
    let edit = CoreEdit::Set("/healthProfile/other/bloodType".to_owned(), json!("A+"));
    edit_core(&engine, &me(), &edit, &PatchOptions::default()).unwrap();
    let (before, all) = (core(&engine), held(&engine));
    // when the first is reverted
    let preview = preview_revert(&engine, &me(), &events(1..=first), &RevertOptions::default()).unwrap();
    let (receipt, difference) =
        revert(&engine, &me(), &events(1..=first), &RevertOptions::default(), &mut |_| {}).unwrap();
    // then nothing else changes, nothing needs repair, and the preview says so
    assert_eq!(held(&engine), ["User is allergic to peanuts", "User is allergic to penicillin"]);
    let mut expected = before.clone();
    expected["healthProfile"].as_object_mut().unwrap().remove("conditions");
    assert_eq!(core(&engine), expected);
    assert_eq!(status(&engine, &me()).unwrap().version, receipt.seq);
    assert!(preview.restored.is_empty() && difference.orphans_new.is_empty());
    assert_eq!(described(&preview.difference), described(&difference));
    // and reverting the revert brings all of it back
    revert(&engine, &me(), &events(receipt.seq..=receipt.seq), &RevertOptions::default(), &mut |_| {}).unwrap();
    assert_eq!((core(&engine), held(&engine)), (before, all));
}

#[test]
fn what_was_also_said_elsewhere_stays() {
    let engine = reading();
    said(&engine, &["I'm allergic to peanuts."]);
    let first = status(&engine, &me()).unwrap().version;
    said(&engine, &["I'm allergic to peanuts.", "I live in Oslo."]);
    let before = core(&engine);
    let preview = preview_revert(&engine, &me(), &events(1..=first), &RevertOptions::default()).unwrap();
    assert_eq!(preview.restored.len(), 1, "{preview:?}");
    let (receipt, _) = revert(&engine, &me(), &events(1..=first), &RevertOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(held(&engine), ["User is allergic to peanuts", "User lives in Oslo"]);
    assert_eq!(core(&engine), before);
    // and it now depends on the later source
    let second = preview.restored[0];
    let (_, difference) =
        revert(&engine, &me(), &events(second..=second), &RevertOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(held(&engine), ["User lives in Oslo"], "{difference:?}");
    assert!(core(&engine)["healthProfile"].is_null());
    // and it is active again once the first is
    revert(&engine, &me(), &events(receipt.seq..=receipt.seq), &RevertOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(core(&engine), before);
}

#[test]
fn what_older_ledgers_tied_to_a_parent_is_recorded_again() {
    // given events from the time when facts were written to the document by patches that depend on each other
    let (engine, from) = (reading(), reading());
    said(&from, &["I get migraines.", "I'm allergic to penicillin."]);
    let last = status(&from, &me()).unwrap().version;
    let patches = [
        json!([{"op": "add", "path": "/healthProfile", "value": {"conditions": [{"name": "migraines"}]}}]),
        json!([{"op": "add", "path": "/healthProfile/allergies", "value": {"medication": ["penicillin"]}}]),
    ];
    let mut patches = patches.into_iter();
    let mut old = Vec::new();
    for seq in 1..=last {
        let event = show(&from, &me(), EventRef::Seq(seq)).unwrap();
        let mut changes: Vec<Change> = event.changes.into_iter().flatten().collect();
        for change in changes.iter_mut().filter(|change| change.is_of_core()) {
            *change = Change::CorePatched(serde_json::from_value(patches.next().unwrap()).unwrap());
        }
        let draft = Draft::new(event.header.actor, event.header.origin.kind, changes);
        let header = event.header;
        let position = Position { user: me(), seq, id: header.id, recorded_at: header.recorded_at, prev: header.prev };
        let salts = vec![[7; 32]; draft.changes.len()];
        old.push(ledger::seal(&draft, position, &salts).unwrap().0);
    }
    assert!(patches.next().is_none());
    let picked = pick(&engine, &old, &me(), &mut |_| {}).unwrap();
    assert!(picked.left_out.is_empty(), "{:?}", picked.left_out);
    let (before, all) = (core(&engine), held(&engine));
    // when the first is reverted
    let first = last / 2;
    let preview = preview_revert(&engine, &me(), &events(1..=first), &RevertOptions::default()).unwrap();
    let (receipt, difference) =
        revert(&engine, &me(), &events(1..=first), &RevertOptions::default(), &mut |_| {}).unwrap();
    // then the other fact stays, by an event that the preview announced
    assert_eq!(held(&engine), ["User is allergic to penicillin"]);
    assert!(core(&engine)["healthProfile"]["conditions"].is_null());
    assert!(core(&engine)["healthProfile"]["allergies"].to_string().contains("penicillin"));
    assert_eq!(preview.restored, [last]);
    assert!(difference.orphans_new.is_empty());
    assert_eq!(described(&preview.difference), described(&difference));
    // and reverting the revert restores the previous state exactly
    revert(&engine, &me(), &events(receipt.seq..=receipt.seq), &RevertOptions::default(), &mut |_| {}).unwrap();
    assert_eq!((core(&engine), held(&engine)), (before, all));
    assert_eq!(status(&engine, &me()).unwrap().orphans, 0);
}

#[test]
fn the_value_before_holds_again_and_the_value_after_stays() {
    let engine = reading();
    let mut told = Vec::new();
    for text in ["I live in Lyon.", "I moved to Porto.", "I moved to Oslo."] {
        let from = status(&engine, &me()).map_or(1, |status| status.version + 1);
        said(&engine, &[text]);
        told.push(from..=status(&engine, &me()).unwrap().version);
    }
    let place = |engine: &Engine| core(engine)["location"]["current"].clone();
    let back = |engine: &Engine, which: &Selection| {
        revert(engine, &me(), which, &RevertOptions::default(), &mut |_| {}).unwrap().0.seq
    };
    back(&engine, &events(told[1].clone()));
    assert_eq!((place(&engine), held(&engine)), (json!("Oslo"), vec!["User lives in Oslo".to_owned()]));
    let last = back(&engine, &events(told[2].clone()));
    assert_eq!((place(&engine), held(&engine)), (json!("Lyon"), vec!["User lives in Lyon".to_owned()]));
    back(&engine, &events(last..=last));
    back(&engine, &events(told[0].clone()));
    assert_eq!((place(&engine), held(&engine)), (json!("Oslo"), vec!["User lives in Oslo".to_owned()]));
}

#[test]
fn older_news_holds_without_what_it_was_older_than() {
    let engine = reading();
    let mut told = Vec::new();
    for text in ["I live in Lyon.", "I moved to Oslo last week.", "I moved to Rome in 2021.", "My name is Ana."] {
        let from = status(&engine, &me()).map_or(1, |status| status.version + 1);
        said(&engine, &[text]);
        told.push(from..=status(&engine, &me()).unwrap().version);
    }
    let place = |engine: &Engine| core(engine)["location"]["current"].clone();
    let back = |engine: &Engine, which: &Selection| {
        revert(engine, &me(), which, &RevertOptions::default(), &mut |_| {}).unwrap().0.seq
    };
    let (all, whole) = (held(&engine), core(&engine));
    assert_eq!(place(&engine), json!("Oslo"));
    // without Oslo, Lyon holds: it was said after the move to Rome
    let first = back(&engine, &events(told[1].clone()));
    assert_eq!(place(&engine), json!("Lyon"));
    // without Lyon too, Rome holds
    let second = back(&engine, &events(told[0].clone()));
    assert_eq!(
        (place(&engine), held(&engine)),
        (json!("Rome"), vec!["User lives in Rome".into(), "User's name is Ana".into()])
    );
    for seq in [second, first] {
        back(&engine, &events(seq..=seq));
    }
    assert_eq!((held(&engine), core(&engine)), (all, whole));
    // a fact that ended in its own words stays ended
    said(&engine, &["I used to work at Acme.", "I work at Bolt."]);
    let from = status(&engine, &me()).unwrap().version;
    let last = |engine: &Engine| held(engine).iter().any(|fact| fact.contains("Acme"));
    assert!(!last(&engine));
    back(&engine, &events(from..=from));
    assert!(!last(&engine));
}
