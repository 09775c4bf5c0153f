//! The state after a process ends, or a store fails, between two calls of one operation.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quipu_engine::erase::{EraseTarget, erase};
use quipu_engine::ports::StoreError;
use quipu_engine::revert::{RevertOptions, Selection, revert};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{Engine, Error, FactOptions, core_at, episodes, facts, status, users};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, RecordingStore, TestEngine};

use crate::{me, said};

fn rig() -> TestEngine {
    TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(1) }
}

/// How many calls of the store still succeed, and how many fail after that.
#[derive(Default)]
struct Failing {
    call: &'static str,
    after: AtomicU64,
    times: AtomicU64,
}

impl Failing {
    fn after(call: &'static str, after: u64, times: u64) -> Arc<Self> {
        Arc::new(Self { call, after: AtomicU64::new(after), times: AtomicU64::new(times) })
    }

    fn store(self: &Arc<Self>, inner: &MemoryStore) -> Box<RecordingStore> {
        let own = self.clone();
        let takes =
            |one: &AtomicU64| one.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        Box::new(RecordingStore::new(Box::new(inner.clone())).before(move |called| {
            if called == own.call && !takes(&own.after) && takes(&own.times) {
                return Err(StoreError::Unavailable("the process ended here".to_owned()));
            }
            Ok(())
        }))
    }
}

/// Everything a revert may change: the document, the facts, and the turns in episodes.
fn seen(engine: &Engine) -> (serde_json::Value, Vec<String>, Vec<String>) {
    let mut core = core_at(engine, &me(), When::Now).unwrap();
    core.as_object_mut().unwrap().remove("_meta");
    let mut held: Vec<String> =
        facts(engine, &me(), &FactOptions::default()).unwrap().into_iter().map(|shown| shown.fact.text).collect();
    held.sort();
    let told = episodes(engine, &me(), None).unwrap();
    let mut told: Vec<String> = told.into_iter().map(|episode| format!("{:?}", episode.sources)).collect();
    told.sort();
    (core, held, told)
}

fn reverts(engine: &Engine, events: RangeInclusive<u64>) -> quipu_engine::Result<()> {
    let selection = Selection::Events(events.map(EventRef::Seq).collect());
    revert(engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).map(drop)
}

/// Fills a memory and returns the events to revert; their revert has consequences in further events.
type Given = fn(&Engine) -> RangeInclusive<u64>;

fn said_twice(engine: &Engine) -> RangeInclusive<u64> {
    said(engine, &["I'm allergic to peanuts."]);
    let first = status(engine, &me()).unwrap().version;
    said(engine, &["I'm allergic to peanuts.", "I live in Oslo."]);
    1..=first
}

fn older_than_another(engine: &Engine) -> RangeInclusive<u64> {
    let version = || status(engine, &me()).unwrap().version;
    said(engine, &["I live in Lyon."]);
    let lyon = version();
    said(engine, &["I moved to Oslo last week."]);
    let oslo = version();
    said(engine, &["I moved to Rome in 2021."]);
    reverts(engine, lyon + 1..=oslo).unwrap();
    1..=lyon
}

#[test]
fn a_revert_and_what_follows_from_it_are_there_together_or_not_at_all() {
    for (name, given) in
        [("a fact that was said twice", said_twice as Given), ("a value older than another", older_than_another)]
    {
        let made = || {
            let (store, rig) = (MemoryStore::new(), rig());
            let events = given(&rig.engine(Box::new(store.clone())));
            (store, rig, events)
        };
        let whole = {
            let (store, rig, events) = made();
            let engine = rig.engine(Box::new(store));
            let (before, from) = (seen(&engine), status(&engine, &me()).unwrap().version);
            reverts(&engine, events).unwrap();
            let to = status(&engine, &me()).unwrap().version;
            assert!(to > from + 1, "{name}: nothing follows from the revert");
            [(before, from), (seen(&engine), to)]
        };
        for appends in 0.. {
            // Given a process that ends before an append
            let (store, rig, events) = made();
            let failing = Failing::after("append", appends, u64::MAX);
            let outcome = reverts(&rig.engine(failing.store(&store)), events);
            // Then the next process finds the whole effect, or none
            let next = rig.engine(Box::new(store));
            let now = (seen(&next), status(&next, &me()).unwrap().version);
            let expected = &whole[usize::from(outcome.is_ok())];
            assert_eq!(now, *expected, "{name}: cut after {appends} appends");
            if outcome.is_ok() {
                break;
            }
        }
    }
}

#[test]
fn a_memory_that_cannot_be_read_once_after_a_revert_is_read_again_at_once() {
    let (store, rig) = (MemoryStore::new(), rig());
    said(&rig.engine(Box::new(store.clone())), &["I live in Oslo.", "I like tea."]);
    // Given an open memory, whose control events are read once when it opens and once more after the revert
    let failing = Failing::after("controls", 1, 2);
    let engine = rig.engine(failing.store(&store));
    assert!(seen(&engine).0["location"].is_object());
    reverts(&engine, 1..=2).unwrap();
    // Then readers see the revert without another read of the ledger
    assert!(seen(&engine).0["location"].is_null());
}

#[test]
fn what_is_recorded_and_cannot_be_shown_is_not_said_to_have_failed() {
    let (store, rig) = (MemoryStore::new(), rig());
    said(&rig.engine(Box::new(store.clone())), &["I live in Oslo.", "I like tea."]);
    let failing = Failing::after("controls", 1, 100);
    let engine = rig.engine(failing.store(&store));
    let version = status(&engine, &me()).unwrap().version;
    let Err(Error::Unavailable(why)) = reverts(&engine, 1..=2) else { panic!("it cannot be read") };
    assert!(why.contains(&format!("recorded as event {}", version + 1)), "{why}");
    // And the next operation reads the ledger as soon as that is possible
    failing.times.store(0, Ordering::SeqCst);
    assert!(seen(&engine).0["location"].is_null());
    assert_eq!(users(&engine).unwrap(), [me()]);
}

#[test]
fn an_erasure_whose_consequences_fail_says_that_it_is_done() {
    let (rig, store) = (rig(), MemoryStore::new());
    let engine = rig.engine(Box::new(store.clone()));
    said(&engine, &["I live in Porto. My dog is called Rex.", "I live in Porto."]);
    drop(engine);
    // The erasure is not an append; what is read again in the second message is.
    let full = rig.engine(Failing::after("append", 0, u64::MAX).store(&store));
    let receipt = erase(&full, &me(), &[EraseTarget::Event(1)], "asked to", &mut |_| {}).unwrap();
    let lag = receipt.lag.unwrap();
    assert!(lag.contains("its targets are destroyed") && lag.contains("the process ended here"), "{lag}");
    let again = rig.engine(Box::new(store.clone()));
    let left = store.contents().iter().any(|bytes| String::from_utf8_lossy(bytes).contains("Rex"));
    assert!(!left, "nothing of it is stored");
    let refused = erase(&again, &me(), &[EraseTarget::Event(1)], "asked to", &mut |_| {});
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
}
