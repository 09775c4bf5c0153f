//! Recall: its cost, no side effects, deterministic answers, and reading past versions.

use quipu_core::limit;
use quipu_engine::versions::When;
use quipu_engine::{RecallOptions, RecallReport, RememberOptions, Utterance, core_at, list, recall, remember, status};
use quipu_testkit::{MemoryStore, RecordingStore, TestEngine, tale::check};

use crate::{me, said};

const TEXTS: [&str; 6] = [
    "My sister Ana lives in Porto",
    "My brother Rui lives in Lisbon",
    "The cat sleeps on the sofa",
    "I start work at nine",
    "Ana's birthday is in May",
    "Rui plays the cello",
];

fn answers(report: &RecallReport) -> Vec<(String, u32, String)> {
    report.hits.iter().map(|hit| (hit.id.to_string(), hit.raw_score.to_bits(), hit.text.clone())).collect()
}

#[test]
fn a_warm_recall_reads_no_page_and_embeds_once() {
    // given a memory that has answered before
    let rig = TestEngine::new(1);
    let store = RecordingStore::new(Box::new(MemoryStore::new()));
    let calls = store.calls();
    let engine = rig.engine(Box::new(store));
    said(&engine, &TEXTS);
    let asked = RecallOptions::of("Where does my sister live?");
    let first = recall(&engine, &me(), &asked).unwrap();
    // when the question is repeated
    calls.reset();
    let embedded = (rig.embedder.calls(), rig.embedder.texts());
    let second = recall(&engine, &me(), &asked).unwrap();
    // then the store is only polled, one text is embedded, and the answer is the same
    assert_eq!((calls.total(), calls.of("look")), (1, 1), "{:?}", calls.all());
    assert_eq!((rig.embedder.calls(), rig.embedder.texts()), (embedded.0 + 1, embedded.1 + 1));
    assert_eq!(answers(&first), answers(&second));
    assert_eq!(first.hits[0].text, TEXTS[0]);
}

#[test]
fn a_first_recall_after_a_restart_embeds_only_the_question() {
    let rig = TestEngine::new(1);
    let store = MemoryStore::new();
    said(&rig.engine(Box::new(store.clone())), &TEXTS);
    let texts = rig.embedder.texts();
    let engine = rig.engine(Box::new(store));
    let report = recall(&engine, &me(), &RecallOptions::of("Where does my sister live?")).unwrap();
    assert_eq!(rig.embedder.texts(), texts + 1, "what was embedded before is kept");
    assert_eq!(report.hits[0].text, TEXTS[0]);
    assert_eq!(report.degraded, None);
}

#[test]
fn an_answer_without_every_vector_says_so() {
    // given a few turns that are durable but not embedded
    let engine = TestEngine::new(1).engine(Box::new(MemoryStore::new()));
    said(&engine, &TEXTS);
    let later = RememberOptions { durable_only: true, ..RememberOptions::default() };
    let waiting = || status(&engine, &me()).unwrap().passages_waiting;
    let ask = || recall(&engine, &me(), &RecallOptions::of("Where does my sister live?")).unwrap();
    remember(&engine, &me(), &Utterance::of_user("Ana moved to Braga"), &later).unwrap();
    assert_eq!(waiting(), 1);
    // when a question is asked, then they are embedded first
    assert_eq!(ask().degraded, None);
    assert_eq!(waiting(), 0);
    // and with too many to embed in time, the answer is marked as degraded
    for n in 0..=limit::EMBED_ON_READ_MAX {
        remember(&engine, &me(), &Utterance::of_user(format!("turn {n}")), &later).unwrap();
    }
    assert!(ask().degraded.is_some());
    // and no longer after the next turn has caught up
    said(&engine, &["Rui stays in Lisbon"]);
    assert_eq!(ask().degraded, None);
}

#[test]
fn looking_appends_nothing() {
    let rig = TestEngine::new(1);
    let store = RecordingStore::new(Box::new(MemoryStore::new()));
    let calls = store.calls();
    let engine = rig.engine(Box::new(store));
    said(&engine, &TEXTS);
    let before = status(&engine, &me()).unwrap();
    calls.reset();
    for at in [When::Now, When::Seq(3)] {
        recall(&engine, &me(), &RecallOptions { at, explain: true, ..RecallOptions::of("cat") }).unwrap();
        core_at(&engine, &me(), at).unwrap();
        let all = quipu_engine::ListOptions { at, session: None, kind: None, offset: 0, limit: 9 };
        list(&engine, &me(), &all).unwrap();
    }
    for writing in ["append", "erase", "checkpoint", "put_vectors", "drop_projections", "remove", "restore"] {
        assert_eq!(calls.of(writing), 0, "{writing}");
    }
    let after = status(&engine, &me()).unwrap();
    assert_eq!((before.version, before.head), (after.version, after.head));
}

#[test]
fn the_same_question_has_the_same_answer_everywhere() {
    // given the same events in a memory that grew in use, one that was reopened, and one that was rebuilt
    let rig = TestEngine::new(7);
    let store = MemoryStore::new();
    let engine = rig.engine(Box::new(store.clone()));
    said(&engine, &TEXTS);
    let reopened = rig.engine(Box::new(store.clone()));
    let rebuilt = rig.engine(Box::new(store));
    assert!(quipu_engine::rebuild(&rebuilt, &me(), &mut |_| {}).unwrap().identical);
    for question in
        ["Where does my sister live?", "cello", "Who sleeps?", "nothing of the kind: zzz", "birthday in May"]
    {
        let asked = RecallOptions::of(question);
        // when each gets the question twice
        let all: Vec<_> =
            [&engine, &reopened, &rebuilt, &engine].map(|one| answers(&recall(one, &me(), &asked).unwrap())).into();
        // then all answers are identical to the last bit
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{question}: {all:#?}");
    }
}

#[test]
fn any_version_can_be_read() {
    check(
        "time travel",
        r#"
given said "I live in Lyon"
given set /location/current "Lyon"
given said "I moved to Porto"
given set /location/current "Porto"
when  revert 3
then  at 0 says nothing
      at 1 says "I live in Lyon"
      at 1 core /location nothing
      at 2 core /location/current "Lyon"
      at 3 says "I live in Lyon" "I moved to Porto"
      at 3 core /location/current "Lyon"
      at 4 core /location/current "Porto"
      at 5 says "I live in Lyon"
      says "I live in Lyon"
      at 4 recalls "Who moved to Porto?" "I moved to Porto"
      recalls "Where do I live?" "User lives in Porto."
      at 0 recalls "Where do I live?" nothing
"#,
    );
}
