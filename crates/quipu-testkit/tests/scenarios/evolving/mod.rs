//! Schema evolution: recurring patterns become categories, and all other guarantees still hold.

use std::sync::Arc;

use jiff::Timestamp;
use quipu_core::event::{Actor, Change};
use quipu_core::evolve::{DueStatus, PromotionThresholds};
use quipu_core::id::UserId;
use quipu_core::item::{DerivedChange, ReviewDecision, ReviewKind};
use quipu_engine::erase::EraseTarget;
use quipu_engine::ports::Reflector;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    CoreEdit, Engine, Error, Evolution, EvolveOptions, FactOptions, MaintainOptions, MaintenanceStep, PatchOptions,
    PromoteRequest, RememberOptions, Utterance, chosen, core_at, decide_review, edit_core, erase, evolve, facts,
    maintain, pick, promote, rebuild, remember, retract, revert, reviews, schema, show, status, undo_review, verify,
};
use quipu_models::RuleExtractor;
use quipu_testkit::tale::check;
use quipu_testkit::{MemoryStore, TestEngine};
use serde_json::{Value, json};

use crate::me;

mod naming;

/// A memory over several days.
struct Life {
    rig: TestEngine,
    store: MemoryStore,
    engine: Engine,
}

impl Life {
    fn new() -> Self {
        Self::with(None)
    }

    fn with(reflector: Option<Arc<dyn Reflector>>) -> Self {
        let rig = TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), reflector, ..TestEngine::new(1) };
        let store = MemoryStore::new();
        let engine = rig.engine(Box::new(store.clone()));
        Self { rig, store, engine }
    }

    /// The morning of a day in March 2026.
    fn day(&self, number: u32) {
        let time: Timestamp = format!("2026-03-{number:02}T09:00:00Z").parse().unwrap();
        self.rig.clock.put(time.as_microsecond());
    }

    fn says(&self, day: u32, text: &str) -> u64 {
        self.day(day);
        remember(&self.engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap().seq
    }

    fn sets(&self, day: u32, pointer: &str, value: Value) -> u64 {
        self.day(day);
        let edit = CoreEdit::Set(pointer.to_owned(), value);
        edit_core(&self.engine, &me(), &edit, &PatchOptions::default()).unwrap().seq
    }

    fn evolves(&self, day: u32, options: &EvolveOptions) -> Evolution {
        self.day(day);
        evolve(&self.engine, &me(), options).unwrap()
    }

    fn promotes(&self, candidate: &str) -> u64 {
        let request = PromoteRequest { candidate: candidate.to_owned(), ..PromoteRequest::default() };
        promote(&self.engine, &me(), &request).unwrap().receipt.unwrap().seq
    }

    fn core(&self) -> Value {
        let mut core = core_at(&self.engine, &me(), When::Now).unwrap();
        core.as_object_mut().unwrap().remove("_meta");
        core
    }

    fn version(&self) -> u64 {
        status(&self.engine, &me()).unwrap().version
    }

    /// Checks that the ledger verifies, and that a replay and a restart give the same memory.
    fn is_sound(&mut self) {
        assert!(verify(&self.engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
        assert!(rebuild(&self.engine, &me(), &mut |_| {}).unwrap().identical);
        let core = self.core();
        self.engine = self.rig.engine(Box::new(self.store.clone()));
        assert_eq!(self.core(), core);
    }

    /// Objects of the active facts of a relation, and their places in the core document.
    fn held(&self, predicate: &str) -> Vec<(String, String)> {
        let asked = FactOptions { predicate: Some(predicate.to_owned()), ..FactOptions::default() };
        let found = facts(&self.engine, &me(), &asked).unwrap().into_iter();
        let mut all: Vec<_> = found.map(|one| (one.fact.object, one.fact.core_path.unwrap_or_default())).collect();
        all.sort();
        all
    }

    /// Whether any stored change of the ledger contains the word.
    fn holds(&self, word: &str) -> bool {
        let every = |seq| show(&self.engine, &me(), EventRef::Seq(seq)).unwrap();
        (1..=self.version()).map(every).any(|event| format!("{event:?}").contains(word))
    }
}

/// A week in which remedies for stress come up repeatedly.
fn of_stress() -> Life {
    let life = Life::new();
    life.says(1, "I do yoga for stress.");
    life.says(2, "I manage my stress with long walks.");
    life.says(3, "I handle stress with breathing exercises.");
    assert_eq!(
        life.core()["dynamicCategories"]["stressManagement"]["data"]["techniques"],
        json!(["yoga", "long walks", "breathing exercises"])
    );
    life
}

const AT: &str = "/stressManagement/techniques";

#[test]
fn a_category_that_comes_up_often_is_proposed_and_approved() {
    let mut life = of_stress();
    // when no review exists yet, a dry run lists the proposals and records nothing
    let version = life.version();
    let dry = life.evolves(4, &EvolveOptions { dry_run: true, ..EvolveOptions::default() });
    let stress = dry.patterns.iter().find(|one| one.survey.candidate.key == "stressManagement").unwrap();
    assert_eq!(stress.survey.standing, DueStatus::Due);
    assert_eq!((stress.survey.candidate.support.instances, stress.survey.candidate.support.days), (3, 3));
    assert_eq!(stress.preview.as_ref().unwrap().moves[0].to, "/stressManagement");
    assert_eq!(life.version(), version);
    let due = status(&life.engine, &me()).unwrap().due;
    assert!(due.iter().any(|one| one.step == MaintenanceStep::Evolve), "{due:?}");
    // then it waits for review once, and only once
    life.day(4);
    let steps = vec![MaintenanceStep::Evolve];
    let tended = maintain(&life.engine, &me(), &MaintainOptions { steps, ..MaintainOptions::default() }).unwrap();
    assert_eq!(tended.steps.iter().map(|one| (one.step, one.left)).collect::<Vec<_>>(), [(MaintenanceStep::Evolve, 0)]);
    let after = life.version();
    assert!(after > version);
    let again = life.evolves(5, &EvolveOptions::default());
    assert_eq!(life.version(), after, "{again:?}");
    assert!(again.patterns.iter().all(|one| one.event_seq.is_none()));
    let waiting = reviews(&life.engine, &me(), false).unwrap();
    let asked = waiting.iter().find(|one| one.review.kind == ReviewKind::SchemaPromotion).unwrap();
    assert_eq!(
        asked.review.question,
        "Make stressManagement a category of its own? 1 place of stressManagement would move there."
    );
    assert_eq!(asked.preview.as_ref().unwrap().category["techniques"][0], "yoga");
    // and only a person decides
    let id = asked.review.id.to_string();
    for actor in [Actor::System, Actor::Agent] {
        let refused = decide_review(&life.engine, &me(), &id, &ReviewDecision::Approved, actor, None);
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    }
    life.day(6);
    let decided = decide_review(&life.engine, &me(), &id, &ReviewDecision::Approved, Actor::User, None).unwrap();
    // then one event contains the decision, the promotion and its patches
    let event = show(&life.engine, &me(), EventRef::Seq(decided.seq)).unwrap();
    let words: Vec<&str> = event.changes.iter().flatten().map(Change::as_str).collect();
    assert_eq!(words.first(), Some(&"SCHEMA_PROMOTION"));
    assert!(words.contains(&"core_patched") && words.contains(&"review_decided"), "{words:?}");
    assert_eq!(life.core().pointer(AT), Some(&json!(["yoga", "long walks", "breathing exercises"])));
    assert!(life.core().pointer("/dynamicCategories/stressManagement").is_none());
    let evolution = core_at(&life.engine, &me(), When::Now).unwrap()["_meta"]["schemaEvolution"].clone();
    assert_eq!(evolution[0]["newCategory"], "stressManagement");
    assert!(evolution[0]["reason"].as_str().unwrap().starts_with("3 instances on 3 days"));
    assert!(schema(&life.engine, &me(), When::Now).unwrap().iter().any(|one| one.promoted_by == [decided.seq]));
    // and the facts keep their places
    assert!(life.held("manages_stress_with").iter().all(|(_, at)| at == AT));
    life.is_sound();
    // when it is undone, everything is restored, and the review is pending again
    undo_review(&life.engine, &me(), &id).unwrap();
    assert!(life.core().get("stressManagement").is_none());
    assert_eq!(
        life.core()["dynamicCategories"]["stressManagement"]["data"]["techniques"],
        json!(["yoga", "long walks", "breathing exercises"])
    );
    assert!(reviews(&life.engine, &me(), false).unwrap().iter().any(|one| one.review.id.to_string() == id));
    life.is_sound();
}

#[test]
fn what_is_said_after_a_promotion_goes_to_the_new_place() {
    let mut life = of_stress();
    let promoted = life.promotes("stressManagement");
    life.says(7, "I manage my stress with gardening.");
    assert_eq!(life.core().pointer(AT).unwrap().as_array().unwrap().len(), 4);
    assert!(life.core().get("dynamicCategories").is_none_or(|all| all.get("stressManagement").is_none()));
    // retracted facts leave it, whenever they were said
    for object in ["yoga", "gardening"] {
        let fact = facts(&life.engine, &me(), &FactOptions::default()).unwrap();
        let fact = fact.iter().find(|one| one.fact.predicate == "manages_stress_with" && one.fact.object == object);
        retract(&life.engine, &me(), &fact.unwrap().fact.id.to_string(), "no").unwrap();
    }
    assert_eq!(life.core().pointer(AT), Some(&json!(["long walks", "breathing exercises"])));
    // an edit by hand is a fact, there as elsewhere
    life.sets(8, &format!("{AT}/-"), json!("tea"));
    assert!(life.held("manages_stress_with").contains(&("tea".to_owned(), AT.to_owned())));
    life.is_sound();
    // when the promotion is reverted, active facts return to their former places, without duplicates
    life.day(9);
    let selection = Selection::Events(vec![EventRef::Seq(promoted)]);
    revert(&life.engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap();
    let core = life.core();
    assert!(core.get("stressManagement").is_none(), "{core}");
    let old = "/dynamicCategories/stressManagement/data/techniques";
    let stands = core.pointer(old).cloned().unwrap_or(json!([]));
    let mut counted: Vec<String> = life
        .held("manages_stress_with")
        .into_iter()
        .map(|(object, at)| {
            assert_eq!(at, old);
            object
        })
        .collect();
    let mut stands: Vec<String> = serde_json::from_value(stands).unwrap();
    counted.sort();
    stands.sort();
    assert_eq!(stands, counted, "the document and the facts agree");
    life.is_sound();
}

#[test]
fn an_erasure_reaches_what_moved() {
    let mut life = of_stress();
    life.promotes("stressManagement");
    life.says(7, "I manage my stress with gardening.");
    // The document is edited around a value that is removed later, so that later patches test it.
    life.sets(8, &format!("{AT}/1"), json!("short walks"));
    erase(&life.engine, &me(), &[EraseTarget::Event(1)], "asked to", &mut |_| {}).unwrap();
    assert!(!life.holds("yoga"), "a copy of what was erased is left");
    let core = life.core().to_string();
    assert!(!core.contains("yoga") && core.contains("gardening"), "{core}");
    life.is_sound();
}

#[test]
fn an_erasure_of_a_note_takes_its_name_along() {
    let mut life = Life::new();
    life.sets(1, "/uncategorized/zebra", json!(1));
    let first = life.sets(1, "/uncategorized/sleep_with_boris", json!("Having trouble staying asleep"));
    life.sets(2, "/uncategorized/sleep_note_2", json!("Higher BG after poor sleep"));
    life.sets(3, "/uncategorized/sleep_note_3", json!("Started using sleep mask"));
    life.promotes("sleep");
    erase(&life.engine, &me(), &[EraseTarget::Event(first)], "asked to", &mut |_| {}).unwrap();
    assert!(!life.holds("boris") && !life.holds("trouble"));
    let sleep = json!({"impact": "Higher BG after poor sleep", "aids": ["Started using sleep mask"]});
    assert_eq!(life.core(), json!({"sleepHealth": sleep, "uncategorized": {"zebra": 1}}));
    life.is_sound();
}

#[test]
fn a_part_that_is_reverted_leaves_the_rest_of_the_category() {
    let mut life = Life::new();
    let routine = |life: &Life, day: u32, what: &str, often: &str| {
        life.sets(day, &format!("/dynamicCategories/exerciseRoutine/data/{what}"), json!(often))
    };
    routine(&life, 1, "swimming", "daily");
    let mistake = routine(&life, 2, "yoga", "weekly");
    routine(&life, 3, "rowing", "on Sundays");
    life.promotes("exerciseRoutine");
    life.sets(4, "/exerciseRoutine/cycling", json!("to work"));
    let selection = Selection::Events(vec![EventRef::Seq(mistake)]);
    revert(&life.engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap();
    let left = json!({"swimming": "daily", "rowing": "on Sundays", "cycling": "to work"});
    assert_eq!(life.core(), json!({ "exerciseRoutine": left }));
    assert_eq!(status(&life.engine, &me()).unwrap().orphans, 0);
    life.is_sound();
}

#[test]
fn no_is_remembered_until_twice_as_much_speaks_for_it() {
    let life = Life::new();
    for n in 1..=3 {
        life.sets(n, &format!("/uncategorized/sleep_note_{n}"), json!("Bad night"));
    }
    life.evolves(3, &EvolveOptions::default());
    let id = reviews(&life.engine, &me(), false).unwrap()[0].review.id.to_string();
    decide_review(&life.engine, &me(), &id, &ReviewDecision::Declined, Actor::User, None).unwrap();
    assert!(life.core().get("sleepHealth").is_none());
    life.sets(4, "/uncategorized/sleep_note_4", json!("Bad night"));
    let again = life.evolves(4, &EvolveOptions::default());
    assert!(matches!(again.patterns[0].survey.standing, DueStatus::Declined { again_at: 6, .. }), "{again:?}");
    assert!(reviews(&life.engine, &me(), false).unwrap().is_empty());
    life.sets(5, "/uncategorized/sleep_note_5", json!("Bad night"));
    life.sets(6, "/uncategorized/sleep_note_6", json!("Bad night"));
    life.evolves(6, &EvolveOptions::default());
    let asked = &reviews(&life.engine, &me(), false).unwrap()[0];
    // A different name is accepted as well.
    let other = ReviewDecision::Edited { text: "nights".to_owned() };
    decide_review(&life.engine, &me(), &asked.review.id.to_string(), &other, Actor::User, None).unwrap();
    assert_eq!(life.core()["nights"]["notes"].as_array().unwrap().len(), 6);
}

#[test]
fn a_pick_takes_no_category_that_is_not_there() {
    let life = Life::new();
    for n in 1..=3 {
        life.sets(n, &format!("/uncategorized/sleep_note_{n}"), json!("Bad night"));
    }
    let promoted = life.promotes("sleep");
    edit_core(&life.engine, &me(), &CoreEdit::Unset("/sleepHealth".to_owned()), &PatchOptions::default()).unwrap();
    let written = life.sets(4, "/sleepHealth", json!({"pillow": "hard"}));
    let other = UserId::parse("other").unwrap();
    let events = |seqs: &[u64]| {
        let named: Vec<EventRef> = seqs.iter().map(|&seq| EventRef::Seq(seq)).collect();
        chosen(&life.engine, &me(), &named).unwrap()
    };
    let picked = pick(&life.engine, &events(&[1, written]), &other, &mut |_| {}).unwrap();
    assert_eq!((picked.receipts.len(), picked.left_out.len()), (1, 1));
    assert!(picked.left_out[0].1.contains("promoted the category"), "{:?}", picked.left_out);
    let edit = CoreEdit::Set("/uncategorized/tea".to_owned(), json!("green"));
    edit_core(&life.engine, &other, &edit, &PatchOptions::default()).unwrap();
    let both = pick(&life.engine, &events(&[2, 3, promoted, promoted + 1, written]), &other, &mut |_| {}).unwrap();
    assert_eq!((both.receipts.len(), both.left_out.len()), (5, 0), "{both:?}");
}

#[test]
fn what_was_promoted_and_taken_back_is_left_until_twice_as_much_speaks_for_it() {
    let life = Life::new();
    for n in 1..=3 {
        life.sets(n, &format!("/uncategorized/sleep_note_{n}"), json!("Bad night"));
    }
    let apply = EvolveOptions { apply: true, ..EvolveOptions::default() };
    let promoted = life.evolves(3, &apply).patterns[0].event_seq.unwrap();
    let selection = Selection::Events(vec![EventRef::Seq(promoted)]);
    revert(&life.engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap();
    for options in [EvolveOptions::default(), apply] {
        let again = life.evolves(3, &options);
        assert_eq!(again.patterns[0].survey.standing, DueStatus::TakenBack { again_at: 6 }, "{again:?}");
        assert_eq!((again.patterns[0].event_seq, again.patterns[0].review), (None, None));
    }
    assert!(reviews(&life.engine, &me(), false).unwrap().is_empty());
    for n in 4..=6 {
        life.sets(n, &format!("/uncategorized/sleep_note_{n}"), json!("Bad night"));
    }
    assert!(life.evolves(6, &EvolveOptions::default()).patterns[0].review.is_some());
}

#[test]
fn apply_promotes_what_is_due_and_nothing_else() {
    let mut life = Life::new();
    for n in 1..=3 {
        life.sets(1, &format!("/uncategorized/garden_note_{n}"), json!(format!("Weeds {n}")));
    }
    for n in 1..=3 {
        life.sets(n, &format!("/uncategorized/sleep_note_{n}"), json!(format!("Bad night {n}")));
    }
    let done = life.evolves(4, &EvolveOptions { apply: true, ..EvolveOptions::default() });
    assert!(done.applied);
    assert_eq!(life.core().as_object().unwrap().keys().collect::<Vec<_>>(), ["sleepHealth", "uncategorized"]);
    let version = life.version();
    life.evolves(4, &EvolveOptions { apply: true, ..EvolveOptions::default() });
    assert_eq!(life.version(), version, "what is done is no longer due");
    let low = PromotionThresholds { days: 1, ..PromotionThresholds::default() };
    life.evolves(4, &EvolveOptions { apply: true, thresholds: low, ..EvolveOptions::default() });
    assert!(life.core().get("gardening").is_some());
    let bad = PromotionThresholds { days: 0, ..PromotionThresholds::default() };
    let refused = evolve(&life.engine, &me(), &EvolveOptions { thresholds: bad, ..EvolveOptions::default() });
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    life.is_sound();
}

#[test]
fn a_promotion_asked_for_answers_who_waits_and_is_done_once() {
    let life = Life::new();
    for n in 1..=3 {
        life.sets(n, &format!("/uncategorized/sleep_note_{n}"), json!(format!("Bad night {n}")));
    }
    life.evolves(3, &EvolveOptions::default());
    let body =
        json!({"candidate": "sleep", "proposedName": "nights", "rationale": "it matters", "idempotencyKey": "k"});
    let request: PromoteRequest = serde_json::from_value(body).unwrap();
    let dry = promote(&life.engine, &me(), &PromoteRequest { dry_run: true, ..request.clone() }).unwrap();
    assert!(dry.receipt.is_none() && life.core().get("nights").is_none());
    let first = promote(&life.engine, &me(), &request).unwrap();
    let again = promote(&life.engine, &me(), &request).unwrap();
    assert_eq!(again.receipt.as_ref().unwrap().seq, first.receipt.as_ref().unwrap().seq);
    assert!(again.receipt.unwrap().replayed);
    assert_eq!(again.promotion, first.promotion);
    assert!(reviews(&life.engine, &me(), false).unwrap().is_empty(), "who waited is answered");
    let seq = first.receipt.unwrap().seq;
    let event = show(&life.engine, &me(), EventRef::Seq(seq)).unwrap();
    let decided = event.changes.iter().flatten().find_map(|change| match change {
        Change::Drawn(DerivedChange::ReviewDecided { decision, .. }) => Some(decision.clone()),
        _ => None,
    });
    assert_eq!(decided, Some(ReviewDecision::Edited { text: "nights".to_owned() }));
    assert_eq!(event.header.rationale.as_deref(), Some("it matters"));
    for (candidate, name) in [("sleep", "x"), ("bees", "x")] {
        let (candidate, proposed_name) = (candidate.to_owned(), Some(name.to_owned()));
        let missing = PromoteRequest { candidate, proposed_name, ..PromoteRequest::default() };
        assert!(matches!(promote(&life.engine, &me(), &missing), Err(Error::NotFound(_))));
    }
}

#[test]
fn promotions_are_events_like_any_other() {
    check(
        "promotions",
        r#"
given set /uncategorized/ant 1
given set /uncategorized/bee_1 "A hive"
given set /uncategorized/bee_2 "A veil"
when  promote bee bees
then  core /bees/notes ["A hive", "A veil"]
      core /uncategorized {"ant": 1}
      refused NotFound promote bee bees
      refused Refused set /wasps/notes []
when  set /bees/keeper "Ana"
then  rebuild
when  revert 4
then  core /uncategorized {"ant": 1, "bee_1": "A hive", "bee_2": "A veil"}
      core /bees nothing
      orphans 5
      refused Refused set /bees/keeper "Ana"
when  revert 6
then  core /bees/keeper "Ana"
      orphans none
      at 3 core /bees nothing
when  revert 2
then  core /bees {"keeper": "Ana", "notes": ["A veil"]}
      orphans none
when  fork twin
then  of twin core /bees {"keeper": "Ana", "notes": ["A veil"]}
when  erase 4
then  core /uncategorized {"ant": 1, "bee_2": "A veil"}
      core /bees nothing
      orphans 5
      intact
      rebuild
"#,
    );
}

#[test]
fn what_a_lost_promotion_leaves_goes_where_things_without_a_category_go() {
    check(
        "strays",
        r#"
given set /uncategorized/bee_1 "A hive"
given set /uncategorized/bee_2 "A veil"
given promote bee bees
given unset /bees
given set /bees/keeper "Ana"
when  revert 3
then  core /bees nothing
      core /uncategorized {"bee_1": "A hive", "bee_2": "A veil", "bees": {"keeper": "Ana"}}
      orphans 4
      rebuild
when  set /uncategorized/x 1
then  core /uncategorized/x 1
"#,
    );
}
