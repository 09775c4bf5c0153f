//! Decisions: they stay in effect, and the changes of one event take each other into account.

use std::sync::Arc;

use quipu_core::event::{Actor, SourceKind};
use quipu_core::item::ReviewDecision;
use quipu_core::limit;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    Engine, FactOptions, RecallOptions, RememberOptions, Utterance, WriteReport, WriteRequest, core_at, decide_review,
    facts, notes, recall, remember, revert, reviews, tenets, undo_review, write,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, TestEngine};
use serde_json::{Value, json};

use crate::{me, said};

fn reading_engine() -> Engine {
    TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(1) }
        .engine(Box::new(MemoryStore::new()))
}

fn written(engine: &Engine, body: Value, kind: SourceKind) -> WriteReport {
    let request: WriteRequest = serde_json::from_value(body).unwrap();
    write(engine, &me(), &request, kind).unwrap()
}

/// The state of a relation: the objects of its facts, and the value in the core document.
fn held(engine: &Engine, predicate: &str, pointer: &str) -> (Vec<String>, Value) {
    let asked = FactOptions { predicate: Some(predicate.to_owned()), ..FactOptions::default() };
    let found = facts(engine, &me(), &asked).unwrap().into_iter().map(|shown| shown.fact.object.clone());
    let mut found: Vec<String> = found.collect();
    found.sort();
    let core = core_at(engine, &me(), When::Now).unwrap();
    (found, core.pointer(pointer).cloned().unwrap_or(Value::Null))
}

fn lives_in(engine: &Engine) -> (Vec<String>, Value) {
    held(engine, "lives_in", "/location/current")
}

fn likes(engine: &Engine) -> (Vec<String>, Value) {
    held(engine, "likes", "/preferences/likes")
}

#[test]
fn a_decision_stands_when_the_ground_of_its_patch_goes() {
    // given a decision whose patch appends to a list that another event created
    let engine = reading_engine();
    said(&engine, &["I like jazz."]);
    written(&engine, json!({"facts": [{"p": "likes", "o": "tea"}]}), SourceKind::ToolOutput);
    let review = reviews(&engine, &me(), false).unwrap()[0].review.id.to_string();
    decide_review(&engine, &me(), &review, &ReviewDecision::Approved, Actor::User, None).unwrap();
    assert_eq!(likes(&engine), (vec!["jazz".to_owned(), "tea".to_owned()], json!(["jazz", "tea"])));
    // when the other event is reverted
    let jazz = Selection::Events([1, 2].map(EventRef::Seq).to_vec());
    revert(&engine, &me(), &jazz, &RevertOptions::default(), &mut |_| {}).unwrap();
    // then the decision is not requested again
    assert!(reviews(&engine, &me(), false).unwrap().is_empty());
    assert_eq!(likes(&engine), (vec!["tea".to_owned()], json!(["tea"])));
}

#[test]
fn a_decision_is_undone_with_what_followed_from_it() {
    let engine = reading_engine();
    said(&engine, &["I live in Lyon."]);
    let before = lives_in(&engine);
    written(&engine, json!({"facts": [{"p": "lives_in", "o": "Porto"}]}), SourceKind::ToolOutput);
    let review = reviews(&engine, &me(), false).unwrap()[0].review.id.to_string();
    for decision in
        [ReviewDecision::Approved, ReviewDecision::Edited { text: "Bern".to_owned() }, ReviewDecision::Declined]
    {
        decide_review(&engine, &me(), &review, &decision, Actor::User, None).unwrap();
        undo_review(&engine, &me(), &review).unwrap();
        assert_eq!(lives_in(&engine), before, "{decision:?}");
        assert_eq!(reviews(&engine, &me(), false).unwrap().len(), 1, "{decision:?}");
    }
}

#[test]
fn what_is_noted_twice_in_one_event_is_noted_once() {
    let engine = reading_engine();
    let line = "Short answers work best in the evening.";
    let tenet = json!({"kind": "value", "text": "Honesty before comfort."});
    let body = json!({"notes": [{"text": line}, {"text": line}], "tenets": [tenet, tenet]});
    let report = written(&engine, body, SourceKind::UserEdited);
    assert_eq!(notes(&engine, &me(), None).unwrap().len(), 1);
    assert_eq!(tenets(&engine, &me(), None, true).unwrap().len(), 1);
    assert_eq!(report.rejected.len(), 1, "{:?}", report.rejected);
}

#[test]
fn no_event_brings_more_notes_than_are_kept() {
    for kind in [SourceKind::UserEdited, SourceKind::Inferred] {
        let engine = reading_engine();
        let line = |n: usize| json!({"text": format!("alpha{n} beta{n} gamma{n} delta{n}")});
        let many: Vec<Value> = (0..limit::NOTES_MAX + 15).map(line).collect();
        written(&engine, json!({ "notes": many }), kind);
        assert_eq!(notes(&engine, &me(), None).unwrap().len(), limit::NOTES_MAX, "{kind:?}");
    }
}

#[test]
fn two_people_of_one_name_are_told_apart() {
    for (texts, (question, first), expected) in [
        (
            &["My sister Ana lives in Porto.", "My colleague Ana lives in Madrid."][..],
            ("where does my sister live?", "Porto"),
            &["Ana (colleague) lives in Madrid", "Ana lives in Porto"][..],
        ),
        (
            &["My boss Ana lives in Madrid.", "My sister Ana lives in Porto.", "My sister Ana moved to Faro."],
            ("where does my sister Ana live?", "Faro"),
            &["Ana (sister) lives in Faro", "Ana lives in Madrid"],
        ),
        (
            &["My dog Max lives in Ghent.", "My cousin Max lives in Bruges.", "Max moved to Lier."],
            ("where does my cousin live?", "Bruges"),
            &["Max (cousin) lives in Bruges", "Max lives in Lier"],
        ),
        (
            &["My boss Marcus lives in Leeds.", "My uncle Marcus lives in Cornwall.", "Uncle Marcus moved to Devon."],
            ("where does my uncle Marcus live?", "Devon"),
            &["Marcus (uncle) lives in Devon", "Marcus lives in Leeds"],
        ),
        // the named person, under any of their names
        (
            &["My mum is called Jean.", "My mother lives in Leeds.", "My mom moved to York."],
            ("where does my mum live?", "York"),
            &["Jean lives in York"],
        ),
        (
            &["My dad lives in Leeds.", "My father moved to York."],
            ("where does my dad live?", "York"),
            &["User's dad lives in York"],
        ),
        // one of two, and another one
        (
            &["My sister Ana lives in Leeds.", "My other sister lives in York."],
            ("where does Ana live?", "Leeds"),
            &["Ana lives in Leeds", "User's sister lives in York"],
        ),
        (
            &["My sisters are called Ana and Eva.", "My sister lives in York."],
            ("where does my sister live?", "York"),
            &["User's sister lives in York"],
        ),
        // the same person
        (
            &["My girlfriend Els lives in Ghent.", "My wife Els lives in Bruges."],
            ("where does my wife live?", "Bruges"),
            &["Els lives in Bruges"],
        ),
        (
            &["My friend Tom lives in Ghent.", "My colleague Tom moved to Bruges."],
            ("where does Tom live?", "Bruges"),
            &["Tom lives in Bruges"],
        ),
        (
            &["My mum Ana lives in Ghent.", "My mother Ana moved to Bruges."],
            ("where does my mum live?", "Bruges"),
            &["Ana lives in Bruges"],
        ),
    ] {
        let engine = reading_engine();
        for text in texts {
            remember(&engine, &me(), &Utterance::of_user(*text), &RememberOptions::default()).unwrap();
        }
        let options = FactOptions { predicate: Some("lives_in".to_owned()), ..FactOptions::default() };
        let mut homes: Vec<_> = facts(&engine, &me(), &options).unwrap().into_iter().map(|one| one.fact.text).collect();
        homes.sort();
        assert_eq!(homes, expected, "{texts:?}");
        let found = recall(&engine, &me(), &RecallOptions::of(question)).unwrap().hits;
        assert!(found[0].text.contains(first), "{question}: {:?}", found[0].text);
    }
}

#[test]
fn a_pet_has_one_name() {
    for (texts, expected) in [
        (&["We got a puppy.", "My dog is called Rex."][..], &["User has a pet: Rex"][..]),
        (
            &["My dog is called Biscuit.", "Actually, my dog is called Muffin, not Biscuit."],
            &["User has a pet: Muffin"],
        ),
        (&["We have two cats.", "My cat is called Mia."], &["User has a pet: Mia", "User has a pet: two cats"]),
    ] {
        let engine = reading_engine();
        for text in texts {
            remember(&engine, &me(), &Utterance::of_user(*text), &RememberOptions::default()).unwrap();
        }
        let mut pets: Vec<_> =
            facts(&engine, &me(), &FactOptions::default()).unwrap().into_iter().map(|one| one.fact.text).collect();
        pets.sort();
        assert_eq!(pets, expected, "{texts:?}");
    }
}

#[test]
fn what_ends_and_what_stays() {
    for (texts, expected) in [
        // facts about a person end with their death
        (
            &["My aunt Margaret lives in Harrogate.", "Margaret is a nurse.", "Margaret passed away on Monday."][..],
            &["Margaret has died", "User's aunt is Margaret"][..],
        ),
        (&["My dog is called Rex.", "Rex died last week."], &["Rex has died"]),
        // a definite reference
        (&["I have a Ford Fiesta.", "I sold the Fiesta."], &[]),
        (&["My partner is Rui.", "My partner Rui works as a chef."], &["Rui works as a chef", "User's partner is Rui"]),
        (&["I moved over from Katowice in 2005."], &[]),
        (&["I've got three siblings."], &["User has three siblings"]),
    ] {
        let engine = reading_engine();
        for text in texts {
            remember(&engine, &me(), &Utterance::of_user(*text), &RememberOptions::default()).unwrap();
        }
        let mut held: Vec<_> =
            facts(&engine, &me(), &FactOptions::default()).unwrap().into_iter().map(|one| one.fact.text).collect();
        held.sort();
        assert_eq!(held, expected, "{texts:?}");
    }
}

#[test]
fn what_begins_later_does_not_end_what_holds() {
    let engine = reading_engine();
    let said = Some("2026-03-10T09:00:00Z".parse().unwrap());
    for text in ["I live in Leeds.", "I'm moving to York on 1 July 2030."] {
        let utterance = Utterance { said_at: said, ..Utterance::of_user(text) };
        remember(&engine, &me(), &utterance, &RememberOptions::default()).unwrap();
    }
    let held = facts(&engine, &me(), &FactOptions::default()).unwrap();
    assert!(held.iter().any(|one| one.fact.text == "User lives in Leeds"), "{held:?}");
}

#[test]
fn a_time_is_told_as_exactly_as_it_was_said() {
    for (text, times) in [
        ("I moved to Ghent last week.", "since the week of 2026-06-01"),
        ("I moved to Ghent on 1 June.", "since 2026-06-01"),
        ("I moved to Ghent in June.", "since 2026-06"),
        ("I moved to Ghent on 3 June.", "since 2026-06-03"),
    ] {
        let engine = reading_engine();
        let said = Utterance { said_at: "2026-06-10T10:00:00Z".parse().ok(), ..Utterance::of_user(text) };
        remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
        let options = FactOptions { predicate: Some("lives_in".to_owned()), ..FactOptions::default() };
        let fact = facts(&engine, &me(), &options).unwrap().remove(0).fact;
        assert_eq!(fact.times("2026-06-11T00:00:00Z".parse().unwrap()).as_deref(), Some(times), "{text}");
    }
}

#[test]
fn a_message_that_says_what_was_moved_moves_nothing_else() {
    for (text, stays) in [("the dentist moved me to 3 December", true), ("they moved me to 16 December", false)] {
        // Given a trip with its day, and news of a day
        let engine = reading_engine();
        for (day, text) in [("2026-11-01", "we're off to Brittany on 14 December"), ("2026-11-02", text)] {
            let said_at = format!("{day}T10:00:00Z").parse().ok();
            let said = Utterance { said_at, ..Utterance::of_user(text) };
            remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
        }
        // Then the trip is moved only if nothing else is named
        let all = facts(&engine, &me(), &FactOptions::default()).unwrap();
        let trip = all.iter().find(|shown| shown.fact.object.contains("Brittany")).unwrap();
        let day = trip.fact.valid_from.unwrap().to_string();
        assert_eq!(day.starts_with("2026-12-14"), stays, "{text}: {day}");
    }
}
