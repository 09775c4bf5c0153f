//! Retries: a repeated write or migration with the same key returns the first answer and changes nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use quipu_core::event::SourceKind;
use quipu_engine::erase::EraseTarget;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    Engine, Error, FactOptions, MigrateOptions, Migration, WriteReport, WriteRequest, erase, facts, migrate, revert,
    status, write,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{FailingExtractor, MemoryStore, TestEngine};
use serde_json::{Value, json};

use crate::{me, said};

fn reading_engine(store: &MemoryStore) -> Engine {
    engine_with_dice(store, 1)
}

fn engine_with_dice(store: &MemoryStore, seed: u64) -> Engine {
    TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(seed) }
        .engine(Box::new(store.clone()))
}

fn request(key: Option<&str>, body: Value) -> WriteRequest {
    let request = serde_json::from_value(body).unwrap();
    WriteRequest { idempotency_key: key.map(str::to_owned), ..request }
}

fn everything() -> Value {
    json!({
        "facts": [{"p": "lives_in", "o": "Porto"}, {"p": "likes", "o": "jazz", "confidence": 0.1}],
        "notes": [{"text": "Short answers work best in the evening."}],
        "tasks": [{"title": "fix the bike", "attempts": [{"approach": "new chain", "outcome": "it slips"}]}],
        "tenets": [{"kind": "value", "text": "Honesty before comfort."}],
    })
}

fn version(engine: &Engine) -> u64 {
    status(engine, &me()).unwrap().version
}

/// The parts of an answer that do not depend on the attempt.
fn answer(report: &WriteReport) -> Value {
    json!([report.accepted, report.rejected, report.source])
}

fn of_migration(found: &Migration) -> Value {
    json!([found.source, found.core, found.episodes, found.not_understood])
}

#[test]
fn a_write_sent_again_answers_as_the_first_time() {
    let store = MemoryStore::new();
    let engine = reading_engine(&store);
    said(&engine, &["I live in Lyon."]);
    let sent = request(Some("k"), everything());
    let first = write(&engine, &me(), &sent, SourceKind::UserEdited).unwrap();
    assert_eq!((first.accepted.len(), first.rejected.len(), first.replayed), (4, 1, false), "{first:#?}");
    let head = version(&engine);
    // also when the memory has changed in between, and from another process
    said(&engine, &["I moved to Oslo.", "I don't like jazz."]);
    let moved_on = version(&engine);
    for engine in [&engine, &reading_engine(&store)] {
        let again = write(engine, &me(), &sent, SourceKind::UserEdited).unwrap();
        assert!(again.replayed);
        assert_eq!(answer(&again), answer(&first));
        let ids = |report: &WriteReport| report.understood.asserted.iter().map(|one| one.id).collect::<Vec<_>>();
        assert_eq!(ids(&again), ids(&first));
        assert_eq!(version(engine), moved_on);
    }
    assert!(moved_on > head);
    // the key is refused for a different request, and without a key a request is a new one
    let other = request(Some("k"), json!({"facts": [{"p": "lives_in", "o": "Rome"}]}));
    for (request, kind) in [(&other, SourceKind::UserEdited), (&sent, SourceKind::ToolOutput)] {
        assert!(matches!(write(&engine, &me(), request, kind), Err(Error::Refused(_))));
    }
    assert_eq!(version(&engine), moved_on);
    assert!(!write(&engine, &me(), &request(None, everything()), SourceKind::UserEdited).unwrap().replayed);
}

#[test]
fn a_write_that_was_cut_is_finished_by_the_retry() {
    // given a write that exceeds one event, and the ledgers that a crash after each of its events leaves
    let facts_in: Vec<Value> =
        (0..100).map(|n| json!({"s": format!("Friend {n}"), "p": "likes", "o": format!("thing {n}")})).collect();
    let sent = request(Some("k"), json!({"facts": facts_in, "tenets": [{"kind": "value", "text": "Be kind."}]}));
    let whole = MemoryStore::new();
    let first = write(&reading_engine(&whole), &me(), &sent, SourceKind::UserEdited).unwrap();
    let mut events = Vec::new();
    whole.tamper(&me(), |held| events.clone_from(held));
    assert!(events.len() > 3, "{}", events.len());
    for kept in 1..=events.len() {
        let cut = MemoryStore::new();
        said(&reading_engine(&cut), &["Hm."]);
        cut.tamper(&me(), |held| *held = events[..kept].to_vec());
        let engine = engine_with_dice(&cut, 2);
        // when it is repeated
        let again = write(&engine, &me(), &sent, SourceKind::UserEdited).unwrap();
        // then it is complete, and nothing was written twice
        assert_eq!(again.accepted.len(), first.accepted.len(), "{kept} events");
        assert_eq!(version(&engine), events.len() as u64, "{kept} events");
        let held = facts(&engine, &me(), &FactOptions::default()).unwrap();
        assert!(held.len() == 100 && held.iter().all(|shown| shown.fact.seen_count == 1), "{kept} events");
    }
}

#[test]
fn a_retry_of_what_was_reverted_or_erased_brings_nothing_back() {
    let store = MemoryStore::new();
    let engine = reading_engine(&store);
    let sent = request(Some("k"), everything());
    let first = write(&engine, &me(), &sent, SourceKind::UserEdited).unwrap();
    let all = Selection::Events((1..=version(&engine)).map(EventRef::Seq).collect());
    revert(&engine, &me(), &all, &RevertOptions::default(), &mut |_| {}).unwrap();
    let head = version(&engine);
    assert_eq!(answer(&write(&engine, &me(), &sent, SourceKind::UserEdited).unwrap()), answer(&first));
    assert_eq!(version(&engine), head);
    erase(&engine, &me(), &[EraseTarget::Event(2)], "asked to", &mut |_| {}).unwrap();
    let head = version(&engine);
    assert!(matches!(write(&engine, &me(), &sent, SourceKind::UserEdited), Err(Error::Refused(_))));
    assert_eq!(version(&engine), head);
}

#[test]
fn a_migration_sent_again_answers_as_the_first_time() {
    let text = "I live in Porto. I like jazz. The weather was odd.";
    let once = MigrateOptions { idempotency_key: Some("k".to_owned()), ..MigrateOptions::default() };
    let store = MemoryStore::new();
    let engine = reading_engine(&store);
    let first = migrate(&engine, &me(), text, &once).unwrap();
    said(&engine, &["I moved to Oslo."]);
    let head = version(&engine);
    for engine in [&engine, &reading_engine(&store)] {
        let again = migrate(engine, &me(), text, &once).unwrap();
        assert!(again.replayed && !first.replayed);
        assert_eq!(of_migration(&again), of_migration(&first));
        assert_eq!(version(engine), head);
    }
    assert!(matches!(migrate(&engine, &me(), "I live in Rome.", &once), Err(Error::Refused(_))));
    // and an import that was interrupted before anything was read is finished
    let reader = Arc::new(FailingExtractor::new(RuleExtractor::english()));
    let engine =
        TestEngine { extractor: Some(reader.clone()), ..TestEngine::new(1) }.engine(Box::new(MemoryStore::new()));
    reader.die_after(0);
    assert!(catch_unwind(AssertUnwindSafe(|| migrate(&engine, &me(), text, &once))).is_err());
    reader.die_after(9);
    let again = migrate(&engine, &me(), text, &once).unwrap();
    assert_eq!((again.core.clone(), again.episodes.clone()), (first.core, first.episodes));
    assert_eq!(reader.take_read().len(), 1);
    assert_eq!(of_migration(&migrate(&engine, &me(), text, &once).unwrap()), of_migration(&again));
    assert_eq!(reader.take_read().len(), 0);
}
