//! Tests of decisions by hand.

use std::collections::BTreeMap;

use serde_json::json;

use super::world::{World, claim, day};
use crate::core_document;
use crate::event::{Actor, Change, ItemMark, SourceKind};
use crate::extract::{Extraction, FactCandidate, ReadyMadeDetails, Stance, TenetCandidate};
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, FactStatus, ProposedEdit, ReviewDecision};
use crate::reconcile::ProposedAction;

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
    world.decides(review, ReviewDecision::Approved);
    assert_eq!(world.active("diet"), ["vegan"]);
    assert_eq!(world.core("/dietaryProfile/diet"), Some(json!("vegan")));
    assert!(world.desk(|desk, name| desk.review(review, &ReviewDecision::Approved, name)).is_err(), "once");
}

#[test]
fn declining_keeps_a_value_out_for_good() {
    let mut world = World::new();
    imported(&mut world, claim("diet", "vegan", Stance::Holds));
    let review = world.waiting()[0];
    world.decides(review, ReviewDecision::Declined);
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
    world.decides(review, ReviewDecision::Edited { text: "vegetarian".to_owned() });
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
fn a_correction_says_that_it_was_never_so() {
    for (predicate, wrong, right, pointer) in
        [("lives_in", "Oslo", "Bergen", "/location/current"), ("likes", "jazz", "blues", "/preferences")]
    {
        let mut world = World::new();
        world.says("2024-01-01", claim(predicate, wrong, Stance::Holds));
        let fact = world.memory.items().facts().next().unwrap().id;
        for refused in ["", " ", wrong] {
            assert!(world.desk(|desk, name| desk.correct(fact, refused, name)).is_err(), "{refused:?}");
        }
        let changes = world.desk(|desk, name| desk.correct(fact, right, name)).unwrap();
        world.record(SourceKind::UserEdited, changes);
        assert_eq!(world.active(predicate), [right]);
        assert_eq!(world.objects(predicate, FactStatus::Corrected), [wrong]);
        let next = world.memory.items().fact(fact).unwrap().superseded_by.unwrap();
        assert_eq!(world.memory.items().fact(next).unwrap().object, right, "the old name leads to the new one");
        let core = world.core(pointer).unwrap().to_string();
        assert!(core.contains(right) && !core.contains(wrong), "{core}");
        assert!(world.desk(|desk, name| desk.correct(fact, "again", name)).is_err(), "it counts no more");
    }
}

#[test]
fn a_correction_changes_the_value_alone() {
    for (until, over) in [("2030-01-01", false), ("2024-01-15", true)] {
        let mut world = World::new();
        world.now = day("2024-01-01");
        let told = FactCandidate {
            valid_from: Some(day("2023-12-01")),
            valid_to: Some(day(until)),
            ..claim("rents", "a van", Stance::Holds)
        };
        let tags = vec!["moving".to_owned()];
        let details = ReadyMadeDetails { tags: tags.clone(), domain: Some("travel".into()), ..Default::default() };
        let besides = BTreeMap::from([(told.span.start, details)]);
        let found = Extraction { facts: vec![told], besides, ..Extraction::default() };
        world.hears("2024-01-01", SourceKind::UserSaid, found);
        let fact = world.memory.items().facts().next().unwrap().id;
        let mark = ItemMark { item: fact, pinned: Some(true), rating: None };
        world.record(SourceKind::UserEdited, vec![Change::ItemMarked(mark)]);
        world.now = day("2024-02-01");
        let changes = world.desk(|desk, name| desk.correct(fact, "a lorry", name)).unwrap();
        world.record(SourceKind::UserEdited, changes);
        let next = world.memory.items().fact(fact).unwrap().superseded_by.unwrap();
        let next = world.memory.items().fact(next).unwrap().clone();
        assert_eq!((next.object.as_str(), &next.tags, next.domain.as_str()), ("a lorry", &tags, "travel"));
        assert_eq!((next.valid_from, next.valid_to), (Some(day("2023-12-01")), Some(day(until))));
        assert_eq!(next.status == FactStatus::Superseded, over, "{until}");
        assert!(world.memory.marks(next.id).pinned);
        assert_eq!(world.active("rents"), if over { vec![] } else { vec!["a lorry"] });
    }
}

#[test]
fn a_review_is_edited_with_a_value_or_with_its_sentence() {
    for text in ["Initech", "User works at Initech"] {
        let mut world = World::new();
        imported(&mut world, claim("works_at", "Acme", Stance::Holds));
        let review = world.waiting()[0];
        world.decides(review, ReviewDecision::Edited { text: text.to_owned() });
        assert_eq!(world.active("works_at"), ["Initech"], "{text}");
    }
}

#[test]
fn what_takes_the_place_of_a_pinned_fact_is_pinned() {
    for stance in [Stance::Holds, Stance::Corrects { not: None }] {
        let mut world = World::new();
        world.says("2024-01-01", claim("lives_in", "Oslo", Stance::Holds));
        let fact = world.memory.items().facts().next().unwrap().id;
        let mark = ItemMark { item: fact, pinned: Some(true), rating: None };
        world.record(SourceKind::UserEdited, vec![Change::ItemMarked(mark)]);
        world.says("2024-02-01", claim("likes", "jazz", Stance::Holds));
        world.says("2024-03-01", claim("lives_in", "Bergen", stance));
        let pinned = |fact: &&crate::item::Fact| world.memory.marks(fact.id).pinned && fact.is_active();
        let found: Vec<_> = world.memory.items().facts().filter(pinned).map(|fact| fact.object.as_str()).collect();
        assert_eq!(found, ["Bergen"]);
    }
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

#[test]
fn facts_about_two_people_are_not_merged() {
    let mut world = World::new();
    let about = |subject: &str, object: &str| FactCandidate {
        subject: subject.to_owned(),
        ..claim("lives_in", object, Stance::Holds)
    };
    world.says("2024-01-01", about("Ana", "Oslo"));
    world.says("2024-01-01", about("Bea", "Oslo"));
    for name in ["Ana", "Bea", "Ana Silva"] {
        world.says("2024-01-02", claim("sibling", name, Stance::Holds));
    }
    let find = |world: &World, text: &str| {
        let is =
            |fact: &&crate::item::Fact| fact.subject == text || (fact.predicate == "sibling" && fact.object == text);
        world.memory.items().facts().filter(is).map(|fact| fact.id).collect::<Vec<_>>()
    };
    let (ana, bea) = (find(&world, "Ana"), find(&world, "Bea"));
    for (from, into, why) in
        [(ana[0], bea[0], "about Ana"), (ana[1], bea[1], "different names"), (ana[0], ana[1], "about")]
    {
        let refused = world.desk(|desk, _| desk.merge(&[from], into)).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    let full = find(&world, "Ana Silva")[0];
    let changes = world.desk(|desk, _| desk.merge(&[ana[1]], full)).unwrap();
    world.record(SourceKind::UserEdited, changes);
    assert_eq!(world.active("sibling"), ["Bea", "Ana Silva"]);
}

#[test]
fn a_tenet_that_was_declined_is_not_asked_again_for_no_more_reason() {
    let mut world = World::new();
    world.says("2024-01-01", claim("likes", "jazz", Stance::Holds));
    let fact = world.memory.items().facts().next().unwrap().id;
    let mut propose = |text: &str, evidence: Vec<ItemId>| {
        let span = 0..text.len();
        let kind = crate::item::TenetKind::Policy;
        let tenet = TenetCandidate { kind, text: text.to_owned(), evidence, domain: None, topic: None, span };
        let found = Extraction { tenets: vec![tenet], ..Extraction::default() };
        let report = world.hears_text("2024-02-01", SourceKind::ToolOutput, text, found);
        let waiting = world.waiting();
        if let Some(review) = waiting.first() {
            world.decides(*review, ReviewDecision::Declined);
        }
        (waiting.len(), report.refused)
    };
    assert_eq!(propose("I listen to music before work", Vec::new()).0, 1);
    assert_eq!(propose("I never lend money", Vec::new()).0, 1);
    for text in [
        "I listen to music before work",
        "i listen to music, before work!",
        "I really listen to quiet music before work",
        "I don't ever lend any money",
    ] {
        let (asked, refused) = propose(text, Vec::new());
        assert!(asked == 0 && refused[0].reason.contains("declined"), "{refused:?}");
    }
    assert_eq!(propose("I listen to music before work", vec![fact, fact]).0, 1, "twice as much speaks for it");
    assert_eq!(propose("I listen to music before work", vec![fact]).0, 0);
    assert_eq!(propose("I never listen to music before work", Vec::new()).0, 1, "it says something else");
    assert_eq!(propose("I never lend books", Vec::new()).0, 1, "it is about something else");
}

/// Edits the core document as the engine does.
fn edit(world: &mut World, pointer: &str, value: Option<serde_json::Value>) {
    let before = world.memory.core().clone();
    let patch = match value {
        Some(value) => core_document::set(&before, pointer, value).unwrap(),
        None => core_document::unset(&before, pointer).unwrap(),
    };
    let within = core_document::containers(&before, &patch);
    let changes = world.desk(|desk, name| desk.edit(within, &patch, name)).unwrap();
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
    world.decides(review, ReviewDecision::Approved);
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
    let refused = world.desk(|desk, name| desk.review(review, &ReviewDecision::Declined, name)).unwrap_err();
    assert!(refused.to_string().contains("decided") || refused.to_string().contains("settled"), "{refused}");
}

#[test]
fn an_edit_to_a_value_that_holds_says_it_once() {
    let mut world = World::new();
    world.says("2024-01-01", claim("likes", "jazz", Stance::Holds));
    imported(&mut world, claim("likes", "jaz", Stance::Holds));
    let review = world.waiting()[0];
    world.decides(review, ReviewDecision::Edited { text: "Jazz".to_owned() });
    assert_eq!(world.active("likes"), ["jazz"]);
    let held = world.memory.items().facts().find(|fact| fact.is_active()).unwrap().id;
    let changes = world.desk(|desk, _| desk.retract(held, "no")).unwrap();
    world.record(SourceKind::UserEdited, changes);
    assert_eq!(world.core("/preferences"), None);
}

/// Lets an agent propose an action on the only fact; returns the waiting review.
fn asked(world: &mut World, wanted: &ProposedAction, bits: u64) -> crate::item::Review {
    let fact = world.memory.items().facts().find(|fact| fact.is_active()).unwrap().id;
    let id = ItemId { kind: ItemKind::Review, bits };
    let review = world.desk(|desk, _| desk.propose(fact, wanted, "it is wrong", id)).unwrap();
    if review.id == id {
        let opened = Change::Drawn(DerivedChange::ReviewOpened(Box::new(review.clone())));
        world.record(SourceKind::AssistantSaid, vec![opened]);
    }
    review
}

#[test]
fn what_an_agent_asks_for_changes_nothing_until_a_person_says_so() {
    let moved = ProposedEdit::Value { object: "Porto".to_owned() };
    for (proposed, then) in [(ProposedEdit::Gone, None), (moved, Some("Porto"))] {
        let mut world = World::new();
        world.says("2024-01-01", claim("lives_in", "Oslo", Stance::Holds));
        let says = world.memory.items().facts().next().unwrap().text.clone();
        let wanted = then.map_or(ProposedAction::Gone, |city| ProposedAction::Reworded(says.replace("Oslo", city)));
        let review = asked(&mut world, &wanted, 900);
        assert_eq!((review.proposer, review.proposed.as_ref()), (Actor::Agent, Some(&proposed)));
        assert_eq!(world.active("lives_in"), ["Oslo"]);
        assert_eq!(asked(&mut world, &wanted, 901).id, review.id, "the same question waits once");
        world.decides(review.id, ReviewDecision::Approved);
        assert_eq!(world.active("lives_in"), then.into_iter().collect::<Vec<_>>());
        assert_eq!(world.core("/location/current"), then.map(|city| json!(city)));
    }
}

#[test]
fn an_agent_that_is_declined_has_changed_nothing_and_may_not_ask_about_words() {
    let mut world = World::new();
    world.says("2024-01-01", claim("lives_in", "Oslo", Stance::Holds));
    let review = asked(&mut world, &ProposedAction::Gone, 900).id;
    world.decides(review, ReviewDecision::Declined);
    assert_eq!(world.active("lives_in"), ["Oslo"]);
    let source = world.memory.sources()[0].source.id;
    let fact = world.memory.items().facts().next().unwrap().id;
    let nobody = ItemId { kind: ItemKind::Note, bits: 77 };
    let id = ItemId { kind: ItemKind::Review, bits: 902 };
    let same = world.memory.items().text(fact).unwrap().to_owned();
    for (item, wanted) in [
        (source, ProposedAction::Gone),
        (nobody, ProposedAction::Gone),
        (review, ProposedAction::Gone),
        (fact, ProposedAction::Reworded(" ".to_owned())),
        (fact, ProposedAction::Reworded(same)),
    ] {
        assert!(world.desk(|desk, _| desk.propose(item, &wanted, "because", id)).is_err(), "{item} {wanted:?}");
    }
}
