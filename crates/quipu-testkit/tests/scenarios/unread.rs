//! A process that dies between recording and extraction: the sources are read later, once, and only if they were to be
//! read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use quipu_core::event::Actor;
use quipu_core::limit;
use quipu_core::source::Role;
use quipu_engine::erase::EraseTarget;
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    Budget, ContextOptions, Engine, FactOptions, IngestOptions, LogOptions, RememberOptions, Until, Utterance, context,
    erase, facts, ingest, log, process, remember, revert, status, verify,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{FailingExtractor, MemoryStore, TestEngine};
use serde_json::json;

use crate::{me, said};

type Reader = Arc<FailingExtractor<RuleExtractor>>;

/// A store, and engines over it that are started one after another.
struct House {
    rig: TestEngine,
    store: MemoryStore,
    reader: Reader,
}

impl House {
    fn new() -> Self {
        let reader: Reader = Arc::new(FailingExtractor::new(RuleExtractor::english()));
        let rig = TestEngine { extractor: Some(reader.clone()), ..TestEngine::new(1) };
        Self { rig, store: MemoryStore::new(), reader }
    }

    /// Starts another process.
    fn start(&self) -> Engine {
        self.reader.die_after(u64::MAX);
        self.rig.engine(Box::new(self.store.clone()))
    }

    /// Runs a process that dies after reading `after` more texts.
    fn dies(&self, after: u64, work: impl FnOnce(&Engine)) {
        let engine = self.start();
        self.reader.die_after(after);
        assert!(catch_unwind(AssertUnwindSafe(|| work(&engine))).is_err(), "it was to die");
    }

    fn read(&self) -> Vec<String> {
        self.reader.take_read().into_iter().map(|text| text.trim().to_owned()).collect()
    }
}

fn known(engine: &Engine) -> Vec<String> {
    let mut all: Vec<String> = facts(engine, &me(), &FactOptions::default())
        .unwrap()
        .into_iter()
        .map(|shown| shown.fact.text.clone())
        .collect();
    all.sort();
    all
}

fn speak(engine: &Engine, role: Role, text: &str) {
    remember(engine, &me(), &Utterance { role, ..Utterance::of_user(text) }, &RememberOptions::default()).unwrap();
}

#[test]
fn the_next_turn_reads_what_a_dead_process_did_not() {
    // given a process that dies between recording and extraction, at first use or later
    for before in [&[][..], &["I work as a nurse."], &["What a day!"]] {
        let house = House::new();
        said(&house.start(), before);
        house.dies(0, |engine| said(engine, &["I live in Lyon."]));
        house.read();
        // when another process starts
        let engine = house.start();
        said(&engine, &["I like jazz."]);
        // then both messages are read, in order and once
        assert_eq!(house.read(), ["I live in Lyon.", "I like jazz."], "{before:?}");
        assert!(known(&engine).contains(&"User lives in Lyon".to_owned()), "{before:?}");
        // and nothing is read again, by any process
        process(&engine, &me(), Until::Extracted, &Budget::default()).unwrap();
        let engine = house.start();
        said(&engine, &["I like tea."]);
        assert_eq!(house.read(), ["I like tea."], "{before:?}");
        assert!(verify(&engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
        assert!(quipu_engine::rebuild(&engine, &me(), &mut |_| {}).unwrap().identical);
        said(&house.start(), &["I like chess."]);
        assert_eq!(house.read(), ["I like chess."], "after a rebuild, {before:?}");
    }
}

#[test]
fn a_reading_is_an_effect_of_the_words_it_is_of() {
    let house = House::new();
    house.dies(0, |engine| said(engine, &["I live in Lyon."]));
    let engine = house.start();
    assert_eq!(process(&engine, &me(), Until::Extracted, &Budget::default()).unwrap().read.sources, 1);
    let events = log(&engine, &me(), &LogOptions { before: None, limit: 9, reference: None }).unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].actor, Actor::System);
    // and a second run finds nothing to do
    assert_eq!(process(&engine, &me(), Until::Extracted, &Budget::default()).unwrap().read.sources, 0);
    assert_eq!(status(&engine, &me()).unwrap().version, 2);
}

#[test]
fn a_retry_after_a_crash_is_understood() {
    let house = House::new();
    let once = RememberOptions { idempotency_key: Some("k".to_owned()), ..RememberOptions::default() };
    let lyon = Utterance::of_user("I live in Lyon.");
    house.dies(0, |engine| drop(remember(engine, &me(), &lyon, &once)));
    let engine = house.start();
    let receipt = remember(&engine, &me(), &lyon, &once).unwrap();
    assert!(receipt.replayed);
    assert_eq!(receipt.understood.asserted.len(), 1, "{:?}", receipt.understood);
    remember(&engine, &me(), &lyon, &once).unwrap();
    assert_eq!(house.read(), ["I live in Lyon."]);
}

#[test]
fn turns_in_which_nothing_was_found_are_not_read_again() {
    let house = House::new();
    for day in 0..5 {
        let engine = house.start();
        said(&engine, &["What a day!", "I like jazz."]);
        speak(&engine, Role::Assistant, "You live in Oslo.");
        assert_eq!(house.read(), ["What a day!", "I like jazz."], "day {day}");
    }
}

#[test]
fn what_was_not_to_be_read_is_not_read() {
    let house = House::new();
    let engine = house.start();
    said(&engine, &["I live in Lyon."]);
    // given an import without extraction, a pack pasted into a turn, and messages of others
    import(&engine, false);
    let asked = ContextOptions { max_tokens: 800, ..ContextOptions::of("Where do I live?") };
    let pack = context(&engine, &me(), &asked).unwrap();
    house.read();
    house.dies(0, |engine| {
        speak(engine, Role::Assistant, "You live in Oslo.");
        said(engine, &[&format!("{}\nWhat a day!", pack.text)]);
    });
    // when the next process catches up
    let engine = house.start();
    said(&engine, &["Hm."]);
    // then only the user's own words in the turn are read
    assert_eq!(house.read(), ["What a day!", "Hm."]);
    assert_eq!(known(&engine), ["User lives in Lyon"]);
}

#[test]
fn what_was_taken_back_or_erased_is_not_read_again() {
    let jazz = |engine: &Engine| {
        let all = facts(engine, &me(), &FactOptions::default()).unwrap();
        all.iter().find(|shown| shown.fact.object == "jazz").unwrap().fact.id
    };
    let take_back = |engine: &Engine| {
        let selection = Selection::Events(vec![EventRef::Seq(4)]);
        revert(engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap();
    };
    let destroy = |engine: &Engine| {
        erase(engine, &me(), &[EraseTarget::Item(jazz(engine))], "asked to", &mut |_| {}).unwrap();
    };
    for (how, gone) in [("revert", &take_back as &dyn Fn(&Engine)), ("erase", &destroy)] {
        // given a reading that was reverted or erased
        let house = House::new();
        let engine = house.start();
        said(&engine, &["I live in Lyon.", "I like jazz."]);
        gone(&engine);
        house.read();
        // when a process dies and another one catches up
        house.dies(0, |engine| said(engine, &["I work as a nurse."]));
        let engine = house.start();
        said(&engine, &["Hm."]);
        // then it is not read again
        assert_eq!(house.read(), ["I work as a nurse.", "Hm."], "{how}");
        assert_eq!(known(&engine), ["User lives in Lyon", "User works as a nurse"], "{how}");
    }
}

fn import(engine: &Engine, extract: bool) -> quipu_engine::IngestReport {
    let folder = tempfile::tempdir().unwrap();
    let said = [("user", "I live in Porto."), ("assistant", "Noted."), ("user", "I like fado."), ("user", "So it is.")];
    let messages = said.map(|(role, content)| json!({"role": role, "content": content}));
    let file = folder.path().join("chat.jsonl");
    std::fs::write(&file, json!({"id": "chat", "messages": messages}).to_string()).unwrap();
    let (report, fault) = ingest(engine, ImportFormat::OpenAi, &file, &options(extract), &mut |_| {});
    assert!(fault.is_none(), "{fault:?}");
    report
}

fn options(extract: bool) -> IngestOptions {
    IngestOptions {
        dry_run: false,
        conversation: None,
        extract,
        own_words: true,
        me: None,
        into: Some(me()),
        default_user: me(),
        read: ReadOptions::default(),
    }
}

#[test]
fn an_import_that_was_cut_is_read_to_its_end_when_it_is_run_again() {
    let house = House::new();
    // given an import that is interrupted after one reading
    house.dies(1, |engine| drop(import(engine, true)));
    assert_eq!(house.read(), ["I live in Porto."]);
    // when it is repeated
    let engine = house.start();
    let report = import(&engine, true);
    // then the rest is read, as part of the same import
    assert_eq!(house.read(), ["I like fado.", "So it is."]);
    assert_eq!((report.conversations[0].new, report.facts), (0, 1));
    let undo = Selection::Reference(report.reference);
    revert(&engine, &me(), &undo, &RevertOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(known(&engine), [""; 0]);
}

#[test]
fn an_import_that_was_taken_back_is_read_again_when_it_is_repeated() {
    let house = House::new();
    let engine = house.start();
    // given an import that was taken back as a whole
    import(&engine, true);
    let before = known(&engine);
    let all = 1..=status(&engine, &me()).unwrap().version;
    let selection = Selection::Events(all.map(EventRef::Seq).collect());
    revert(&engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(known(&engine), [""; 0]);
    // when it is repeated, then it is understood as the first time
    import(&engine, true);
    assert!(!before.is_empty());
    assert_eq!(known(&engine), before);
}

#[test]
fn memories_of_another_model_are_facts_only_if_the_user_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memories.json");
    let memories =
        json!({"memories": [{"id": "1", "memory": "User lives in Porto."}, {"id": "2", "memory": "I like fado."}]});
    std::fs::write(&file, memories.to_string()).unwrap();
    for (own_words, facts) in [(false, Vec::new()), (true, vec!["User likes fado", "User lives in Porto"])] {
        let engine = House::new().start();
        let options = IngestOptions { own_words, ..options(true) };
        let (report, fault) = ingest(&engine, ImportFormat::Mem0, &file, &options, &mut |_| {});
        assert!(fault.is_none(), "{fault:?}");
        assert_eq!(known(&engine), facts);
        assert_eq!(report.notices.iter().any(|notice| notice.reason.contains("--mine")), !own_words);
    }
}

#[test]
fn one_turn_reads_only_so_much_of_what_was_left() {
    let house = House::new();
    let engine = house.start();
    let later = RememberOptions { durable_only: true, ..RememberOptions::default() };
    let many = limit::UNREAD_PER_TURN_MAX * 2 + 10;
    for turn in 0..many {
        remember(&engine, &me(), &Utterance::of_user(format!("Turn {turn} was fine.")), &later).unwrap();
    }
    assert_eq!(house.read().len(), 0);
    drop(engine);
    for expected in [limit::UNREAD_PER_TURN_MAX, limit::UNREAD_PER_TURN_MAX, 10, 0] {
        said(&house.start(), &["Hm."]);
        let read = house.read();
        assert_eq!(read.iter().filter(|text| text.starts_with("Turn")).count(), expected);
    }
}
