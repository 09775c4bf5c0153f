//! The time of the last maintenance, as seen by every process.

use std::sync::Arc;

use quipu_engine::erase::{EraseTarget, erase};
use quipu_engine::{MaintainOptions, maintain, maintained_at, status};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, RecordingStore, TestEngine};

use crate::{me, said};

#[test]
fn another_process_sees_when_what_was_due_was_done() {
    let rig = TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(1) };
    let store = MemoryStore::new();
    let (server, command) = (rig.engine(Box::new(store.clone())), rig.engine(Box::new(store.clone())));
    said(&server, &["I live in Porto.", "I like tea."]);
    // Given a command that has already opened the memory
    assert_eq!(status(&command, &me()).unwrap().maintained_at, None);
    // When a server runs maintenance
    maintain(&server, &me(), &MaintainOptions::default()).unwrap();
    let done = maintained_at(&server, &me()).unwrap().unwrap();
    // Then the command sees the time, and so does a later process
    assert_eq!(status(&command, &me()).unwrap().maintained_at, Some(done));
    assert_eq!(maintained_at(&rig.engine(Box::new(store.clone())), &me()).unwrap(), Some(done));
    // And an erasure, which drops derived data, preserves it
    erase(&server, &me(), &[EraseTarget::Event(1)], "asked to", &mut |_| {}).unwrap();
    assert_eq!(status(&command, &me()).unwrap().maintained_at, Some(done));
}

#[test]
fn whoever_finds_nothing_to_do_writes_seldom() {
    let rig = TestEngine::new(1);
    let store = RecordingStore::new(Box::new(MemoryStore::new()));
    let calls = store.calls();
    let engine = rig.engine(Box::new(store));
    said(&engine, &["I live in Porto."]);
    maintain(&engine, &me(), &MaintainOptions::default()).unwrap();
    calls.reset();
    for _ in 0..10 {
        assert!(maintain(&engine, &me(), &MaintainOptions::default()).unwrap().steps.is_empty());
    }
    assert_eq!(calls.of("checkpoint"), 0);
    // After an hour it is worth a notice.
    let now = quipu_core::calendar::to_micros(engine.now()).as_microsecond();
    rig.clock.put(now + 3_600_000_000);
    maintain(&engine, &me(), &MaintainOptions::default()).unwrap();
    assert_eq!(calls.of("checkpoint"), 1);
}
