//! Reading: the cost of a view depends on what it shows, not on the size of the memory.

use std::sync::Arc;

use quipu_core::event::SourceKind;
use quipu_core::id::Seq;
use quipu_engine::erase::EraseTarget;
use quipu_engine::log::{erasures, growth, log};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    Engine, LogOptions, ReviewsAsked, WriteRequest, decide_review, erase, files, origins, revert, review_page, reviews,
    waiting, write,
};
use quipu_testkit::{Calls, MemoryStore, RecordingStore, TestEngine};

use crate::{me, said};

const DAY: i64 = 86_400_000_000;
/// The beginning of 2026.
const BEGIN: i64 = 1_767_225_600_000_000;

/// Time of a day, counted from the start of a test clock.
fn day(number: i64) -> i64 {
    BEGIN + number * DAY
}

fn recorded(rig: &TestEngine) -> (Engine, Calls) {
    let store = RecordingStore::new(Box::new(MemoryStore::new()));
    let calls = store.calls();
    (rig.engine(Box::new(store)), calls)
}

fn newest(limit: usize) -> LogOptions {
    LogOptions { before: None, limit, reference: None }
}

fn of(reference: &str) -> LogOptions {
    LogOptions { reference: Some(reference.to_owned()), ..newest(100) }
}

fn writes(engine: &Engine, json: &str) {
    let request: WriteRequest = serde_json::from_str(json).unwrap();
    write(engine, &me(), &request, SourceKind::UserSaid).unwrap();
}

fn takes_back(engine: &Engine, seq: Seq) {
    let options = RevertOptions { rationale: None, probes: Vec::new() };
    revert(engine, &me(), &Selection::Events(vec![EventRef::Seq(seq)]), &options, &mut |_| {}).unwrap();
}

#[test]
fn a_view_reads_the_events_it_shows() {
    // given a long ledger
    let rig = TestEngine::new(1);
    let (engine, calls) = recorded(&rig);
    let texts: Vec<String> = (0..300).map(|n| format!("turn {n}")).collect();
    said(&engine, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    erase(&engine, &me(), &[EraseTarget::Event(7)], "a test", &mut |_| {}).unwrap();
    writes(&engine, r#"{"notes": [{"text": "Tea helps."}]}"#);
    let head = log(&engine, &me(), &newest(1)).unwrap()[0].seq;
    assert!(head > 300);
    let reads = |what: &str, expected: u64, view: &dyn Fn()| {
        calls.reset();
        view();
        assert_eq!(calls.of("event"), expected, "{what}: {:?}", calls.all());
    };
    // when it is viewed, then only the shown events are read
    reads("the newest events", 8, &|| assert_eq!(log(&engine, &me(), &newest(8)).unwrap().len(), 8));
    reads("how it grew", 2, &|| assert_eq!(growth(&engine, &me(), 120).unwrap().len(), 120));
    reads("what was erased", 1, &|| assert_eq!(erasures(&engine, &me(), None, 40).unwrap().len(), 1));
    // and what requires a full pass is not read a second time
    origins(&engine, &me()).unwrap();
    files::glance(&engine, &me()).unwrap();
    reads("imports", 0, &|| assert_eq!(origins(&engine, &me()).unwrap().len(), 1));
    reads("topics", 0, &|| drop(files::glance(&engine, &me()).unwrap()));
    reads("events of one source", 1, &|| assert_eq!(log(&engine, &me(), &of("write")).unwrap().len(), 1));
    reads("events of no source", 0, &|| assert!(log(&engine, &me(), &of("nobody")).unwrap().is_empty()));
    // not even after later events
    rig.clock.put(day(3));
    said(&engine, &["one more"]);
    reads("imports and one more", 1, &|| assert_eq!(origins(&engine, &me()).unwrap().len(), 1));
    files::glance(&engine, &me()).unwrap();
    said(&engine, &["and another"]);
    // Today's events: once for the header, once for the topics they change.
    reads("topics and one more", 4, &|| drop(files::glance(&engine, &me()).unwrap()));
}

#[test]
fn what_is_kept_of_a_look_is_what_a_new_look_finds() {
    let rig = TestEngine { extractor: Some(Arc::new(quipu_models::RuleExtractor::english())), ..TestEngine::new(3) };
    let store = MemoryStore::new();
    let engine = rig.engine(Box::new(store.clone()));
    let same = |what: &str| {
        let anew = rig.engine(Box::new(store.clone()));
        let (kept, new) = (files::glance(&engine, &me()).unwrap(), files::glance(&anew, &me()).unwrap());
        assert_eq!(kept, new, "{what}");
        assert_eq!(origins(&engine, &me()).unwrap(), origins(&anew, &me()).unwrap(), "{what}");
        kept
    };
    said(&engine, &["I live in Lyon.", "I love liquorice."]);
    same("the first day");
    said(&engine, &["I like tea."]);
    same("more on the same day");
    rig.clock.put(day(1));
    said(&engine, &["I moved to Porto."]);
    writes(&engine, r#"{"notes": [{"text": "Tea helps."}]}"#);
    same("the next day");
    takes_back(&engine, log(&engine, &me(), &of("write")).unwrap()[0].seq);
    let one = origins(&engine, &me()).unwrap().into_iter().find(|one| one.reference == "write").unwrap();
    assert_eq!((one.events, one.counting), (1, 0), "what was taken back counts no longer");
    same("a revert on an open day");
    rig.clock.put(day(5));
    takes_back(&engine, 1);
    said(&engine, &["I play chess."]);
    let kept = same("a revert of a day that is over");
    assert!(serde_json::to_string(&*kept).unwrap().contains("liquorice"));
    let told = log(&engine, &me(), &newest(100)).unwrap();
    let liquorice = told.iter().find(|entry| entry.summary.starts_with("user: \"I love liquorice")).unwrap().seq;
    erase(&engine, &me(), &[EraseTarget::Event(liquorice)], "a test", &mut |_| {}).unwrap();
    let kept = same("an erasure of a day that is over");
    assert!(!serde_json::to_string(&*kept).unwrap().contains("liquorice"));
}

#[test]
fn growth_is_that_of_the_log() {
    let rig = TestEngine::new(1);
    let (engine, _) = recorded(&rig);
    assert!(growth(&engine, &me(), 9).unwrap().is_empty(), "nothing was said yet");
    said(&engine, &["one"]);
    assert_eq!(growth(&engine, &me(), 9).unwrap().last().map(|last| last.1), Some(1));
    for number in [1, 2, 9] {
        rig.clock.put(day(number));
        said(&engine, &["two", "three"]);
    }
    let entries = log(&engine, &me(), &newest(100)).unwrap();
    let grown = growth(&engine, &me(), 9).unwrap();
    assert_eq!((grown.len(), grown[0].1, grown[8].1), (9, 1, entries[0].seq));
    for (time, seq) in grown {
        let by_hand = entries.iter().filter(|entry| entry.recorded_at <= time).count() as Seq;
        assert_eq!(seq, by_hand, "{time}");
    }
}

#[test]
fn the_queue_is_turned_page_by_page() {
    let rig = TestEngine::new(1);
    let (engine, _) = recorded(&rig);
    said(&engine, &["hello"]);
    for n in 0..7 {
        let json = format!(r#"{{"tenets": [{{"kind": "value", "text": "Value {n}"}}]}}"#);
        let request: WriteRequest = serde_json::from_str(&json).unwrap();
        write(&engine, &me(), &request, SourceKind::AssistantSaid).unwrap();
    }
    let all: Vec<String> =
        reviews(&engine, &me(), false).unwrap().iter().map(|one| one.review.id.to_string()).collect();
    assert_eq!((all.len(), waiting(&engine, &me()).unwrap()), (7, 7));
    let turn = |decided: bool, after: Option<&str>| {
        let asked = ReviewsAsked { decided, after: after.map(str::to_owned), limit: 3 };
        let page = review_page(&engine, &me(), &asked).unwrap();
        (page.items.iter().map(|one| one.review.id.to_string()).collect::<Vec<_>>(), page.total, page.next)
    };
    let walk = |decided: bool| {
        let (mut seen, mut after) = (Vec::new(), None::<String>);
        loop {
            let (page, _, next) = turn(decided, after.as_deref());
            seen.extend(page);
            after = next;
            if after.is_none() {
                return seen;
            }
        }
    };
    assert_eq!(walk(false), all);
    // The next page starts in the right place even if the last item of the previous one was decided in between.
    let (first, total, next) = turn(false, None);
    assert_eq!((total, next.as_ref()), (7, first.last()));
    let decide = |id: &str| {
        let (decision, by) = (quipu_core::item::ReviewDecision::Declined, quipu_core::event::Actor::User);
        decide_review(&engine, &me(), id, &decision, by, None).unwrap();
    };
    decide(&first[2]);
    decide(&first[0]);
    assert_eq!(turn(false, next.as_deref()).0, all[3..6]);
    assert_eq!(walk(false), [&all[1..2], &all[3..]].concat());
    assert_eq!(walk(true), [first[2].clone(), first[0].clone()], "the newest first");
    let unknown = ReviewsAsked { decided: false, after: Some("review_0000000000000".to_owned()), limit: 3 };
    assert!(review_page(&engine, &me(), &unknown).unwrap_err().to_string().contains("begin with the first page"));
}
