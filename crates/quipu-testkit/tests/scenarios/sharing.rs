//! Two processes with one folder: two engines over one store see each other's changes at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use quipu_core::extract::window::{ModelReply, Window};
use quipu_core::id::UserId;
use quipu_engine::erase::{EraseTarget, delete_user};
use quipu_engine::ports::{ExtractError, WindowReader};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    Budget, ContextOptions, Engine, Error, FactOptions, Freshness, MemoryRef, RecallOptions, RememberOptions, Until,
    Utterance, context, erase, facts, process, rebuild, recall, remember, revert, snapshot, status, texts_kept,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, RecordingStore, TestEngine};

use crate::{me, said};

fn two() -> (Engine, Engine) {
    let store = MemoryStore::new();
    let reader = || Some(Arc::new(RuleExtractor::english()) as _);
    let one = TestEngine { extractor: reader(), ..TestEngine::new(1) }.engine(Box::new(store.clone()));
    let other = TestEngine { extractor: reader(), ..TestEngine::new(2) }.engine(Box::new(store));
    (one, other)
}

fn found(engine: &Engine, query: &str) -> Vec<String> {
    recall(engine, &me(), &RecallOptions::of(query)).unwrap().hits.into_iter().map(|hit| hit.text).collect()
}

fn seen_counts(engine: &Engine) -> Vec<u64> {
    let all = facts(engine, &me(), &FactOptions::default()).unwrap();
    all.iter().map(|shown| u64::from(shown.fact.seen_count)).collect()
}

#[test]
fn what_one_process_is_told_the_other_finds_at_once() {
    let (one, other) = two();
    said(&one, &["My sister Ana lives in Porto."]);
    assert!(found(&other, "Where does Ana live?").iter().any(|text| text.contains("Porto")));
    said(&other, &["I am allergic to walnuts."]);
    assert!(found(&one, "What am I allergic to?").iter().any(|text| text.contains("walnuts")));
    let at = |engine: &Engine| status(engine, &me()).unwrap().version;
    assert_eq!(at(&one), at(&other));
    // Sources that the other process reads as well count once.
    process(&other, &me(), Until::Extracted, &Budget::default()).unwrap();
    process(&one, &me(), Until::Extracted, &Budget::default()).unwrap();
    assert!(seen_counts(&one).iter().all(|seen| *seen == 1), "{:?}", seen_counts(&one));
    assert_eq!(seen_counts(&one), seen_counts(&other));
}

#[test]
fn a_revert_by_one_process_holds_for_the_other() {
    let (one, other) = two();
    said(&one, &["My sister Ana lives in Porto."]);
    assert!(!found(&other, "Where does Ana live?").is_empty());
    let selection = Selection::Events(vec![EventRef::Seq(1)]);
    revert(&one, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap();
    assert!(!found(&other, "Where does Ana live?").iter().any(|text| text.contains("Porto")));
}

#[test]
fn what_one_process_erases_no_process_keeps() {
    let (one, other) = two();
    said(&one, &["My sister Ana lives in Porto.", "I like jazz."]);
    for engine in [&one, &other] {
        found(engine, "Where does Ana live?");
        context(engine, &me(), &ContextOptions::of("Where does Ana live?")).unwrap();
        quipu_engine::files::glance(engine, &me()).unwrap();
        assert!(texts_kept(engine, &me()).unwrap().iter().any(|text| text.contains("Porto")), "the test needs a cache");
    }
    erase(&one, &me(), &[EraseTarget::Event(1)], "asked for", &mut |_| {}).unwrap();
    for engine in [&one, &other] {
        let kept = texts_kept(engine, &me()).unwrap();
        assert!(!kept.iter().any(|text| text.contains("Porto")), "{kept:?}");
        assert!(!found(engine, "Where does Ana live?").iter().any(|text| text.contains("Porto")));
        let pack = context(engine, &me(), &ContextOptions::of("Where does Ana live?")).unwrap();
        assert!(!pack.text.contains("Porto"), "{}", pack.text);
    }
}

#[test]
fn a_user_deleted_by_one_process_is_gone_for_the_other() {
    let (one, other) = two();
    said(&one, &["My sister Ana lives in Porto."]);
    assert!(!found(&other, "Where does Ana live?").is_empty());
    delete_user(&one, &me()).unwrap();
    assert!(found(&other, "Where does Ana live?").is_empty());
    assert_eq!(status(&other, &me()).unwrap().version, 0);
    // The engine that did not delete the user creates it again.
    said(&other, &["I like jazz."]);
    assert_eq!(found(&one, "What do I like?"), found(&other, "What do I like?"));
    assert!(!found(&one, "Where does Ana live?").iter().any(|text| text.contains("Porto")));
}

#[test]
fn a_deletion_on_a_condition_takes_nothing_that_was_said_since() {
    let (one, other) = two();
    said(&one, &["My sister Ana lives in Porto."]);
    let version = status(&one, &me()).unwrap().version;
    said(&other, &["I like jazz."]);
    let refused = delete_user(&one, MemoryRef::of(&me()).at_version(Some(version)));
    assert!(matches!(refused, Err(Error::Stale(_))), "{refused:?}");
    assert!(!found(&one, "What do I like?").is_empty());
    let version = status(&one, &me()).unwrap().version;
    delete_user(&one, MemoryRef::of(&me()).at_version(Some(version))).unwrap();
    assert_eq!(status(&other, &me()).unwrap().version, 0);
}

#[test]
fn a_first_turn_costs_the_same_whoever_else_is_there() {
    let first_turn = |others: usize| {
        let store = RecordingStore::new(Box::new(MemoryStore::new()));
        let calls = store.calls();
        let engine = TestEngine::new(1).engine(Box::new(store));
        let say = |user: &str| {
            let user = UserId::parse(user).unwrap();
            remember(&engine, &user, &Utterance::of_user("I like jazz."), &RememberOptions::default()).unwrap();
        };
        for number in 0..others {
            say(&format!("user-{number}"));
        }
        calls.reset();
        say("newcomer");
        calls.all()
    };
    assert_eq!(first_turn(10), first_turn(500));
}

#[test]
fn a_quiet_recall_reads_nothing_and_looks_once() {
    let store = RecordingStore::new(Box::new(MemoryStore::new()));
    let calls = store.calls();
    let engine = TestEngine::new(1).engine(Box::new(store));
    said(&engine, &["My sister Ana lives in Porto."]);
    found(&engine, "Where does Ana live?");
    calls.reset();
    found(&engine, "Where does Ana live?");
    assert_eq!(calls.all().into_iter().collect::<Vec<_>>(), [("look", 1)]);
}

#[test]
fn a_request_says_how_current_the_memory_must_be() {
    let (one, other) = two();
    said(&one, &["My sister Ana lives in Porto."]);
    let version = status(&other, &me()).unwrap().version;
    said(&one, &["I am allergic to walnuts."]);
    let told = status(&one, &me()).unwrap().version;
    let lax = Freshness { max_staleness: Duration::from_secs(3600), ..Freshness::default() };
    let seen = |freshness| status(&other.requiring(freshness), &me()).map(|status| status.version);
    assert_eq!(seen(lax).unwrap(), version, "it asked the store");
    assert_eq!(seen(Freshness { min_version: Some(version), ..lax }).unwrap(), version);
    assert_eq!(seen(Freshness { min_version: Some(told), ..lax }).unwrap(), told);
    let refused = seen(Freshness { min_version: Some(told + 1), ..Freshness::default() }).unwrap_err();
    assert!(matches!(&refused, Error::Stale(text) if text.contains("at least version")), "{refused}");
    // A memory that does not exist has version 0.
    let nobody = UserId::parse("nobody").unwrap();
    let first = other.requiring(Freshness { min_version: Some(1), ..Freshness::default() });
    assert!(matches!(recall(&first, &nobody, &RecallOptions::of("tea")), Err(Error::Stale(_))));
}

/// Counts the messages it is given as new, and finds nothing in them.
struct Counter(Arc<AtomicUsize>);

impl WindowReader for Counter {
    fn id(&self) -> &str {
        "counter/v1"
    }

    fn read(&self, _: &UserId, window: &Window) -> Result<ModelReply, ExtractError> {
        self.0.fetch_add(window.messages.iter().filter(|message| message.is_new).count(), Ordering::SeqCst);
        Ok(ModelReply::default())
    }
}

#[test]
fn no_process_moves_back_what_another_has_read_with_a_model() {
    let read = Arc::new(AtomicUsize::new(0));
    let store = MemoryStore::new();
    let engine = |seed| {
        let reader = Some(Arc::new(Counter(read.clone())) as Arc<dyn WindowReader>);
        let extractor = Some(Arc::new(RuleExtractor::english()) as _);
        TestEngine { reader, extractor, ..TestEngine::new(seed) }.engine(Box::new(store.clone()))
    };
    // The memory is older than the model, so no process knows a position when it opens it.
    said(&TestEngine::new(3).engine(Box::new(store.clone())), &["I live in Oslo."]);
    let (one, other) = (engine(1), engine(2));
    found(&other, "Where do I live?");
    said(&one, &["I like tea."]);
    // The other process neither skips what the first one has begun with, …
    said(&other, &["I like plums."]);
    let read_all = |engine: &Engine| process(engine, &me(), Until::Everything, &Budget::default()).unwrap();
    read_all(&one);
    assert_eq!(read.load(Ordering::SeqCst), 2);
    // … nor does any write of its own bring back its older position.
    snapshot(&other, &me()).unwrap();
    read_all(&engine(4));
    assert_eq!(read.load(Ordering::SeqCst), 2, "a checkpoint moved it back");
    rebuild(&other, &me(), &mut |_| {}).unwrap();
    read_all(&engine(5));
    assert_eq!(read.load(Ordering::SeqCst), 2, "a rebuild moved it back");
    erase(&other, &me(), &[EraseTarget::Event(1)], "test", &mut |_| {}).unwrap();
    read_all(&engine(6));
    assert_eq!(read.load(Ordering::SeqCst), 2, "an erasure moved it back");
}

#[test]
fn a_message_is_appended_without_asking_first_and_a_recall_asks_once() {
    // given an open memory
    let store = RecordingStore::new(Box::new(MemoryStore::new()));
    let calls = store.calls();
    let engine = TestEngine::new(1).engine(Box::new(store));
    said(&engine, &["My sister Ana lives in Porto."]);
    let durable = RememberOptions { durable_only: true, ..RememberOptions::default() };
    let asked = RecallOptions::of("Where does Ana live?");
    recall(&engine, &me(), &asked).unwrap();
    // when a message is recorded
    calls.reset();
    remember(&engine, &me(), &Utterance::of_user("My brother Ben lives in Rome."), &durable).unwrap();
    // then the append is the only call to the store
    assert_eq!(calls.all().into_iter().collect::<Vec<_>>(), [("append", 1)]);
    // and a recall asks whether there are new events, and nothing else
    process(&engine, &me(), Until::Indexed, &Budget::default()).unwrap();
    calls.reset();
    assert!(found(&engine, "Where does Ben live?").iter().any(|text| text.contains("Rome")));
    assert_eq!(calls.all().into_iter().collect::<Vec<_>>(), [("look", 1)]);
}

#[test]
fn a_message_is_recorded_after_what_another_process_did_meanwhile() {
    let (one, other) = two();
    said(&one, &["My sister Ana lives in Porto."]);
    said(&other, &["I am allergic to walnuts."]);
    // Another process has appended.
    said(&one, &["My brother Ben lives in Rome."]);
    let mut all = Vec::new();
    all.extend(found(&one, "Who lives in Rome, who in Porto, and what am I allergic to?"));
    for word in ["Porto", "walnuts", "Rome"] {
        assert!(all.iter().any(|text| text.contains(word)), "{word}: {all:#?}");
    }
    // It has deleted the user, and in the second round created it again.
    for is_again in [false, true] {
        delete_user(&other, &me()).unwrap();
        if is_again {
            said(&other, &["I play the oboe."]);
        }
        said(&one, &["I collect stamps."]);
        let kept = found(&one, "stamps, oboe, Rome, Porto, walnuts");
        assert_eq!(kept.iter().any(|text| text.contains("oboe")), is_again, "{kept:#?}");
        assert!(kept.iter().any(|text| text.contains("stamps")), "{kept:#?}");
        assert!(kept.iter().all(|text| !text.contains("Rome")), "{kept:#?}");
        assert_eq!(found(&other, "stamps, oboe, Rome, Porto, walnuts"), kept);
    }
}
