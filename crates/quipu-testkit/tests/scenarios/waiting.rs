//! Deadlines, and models that miss them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_engine::ports::{EmbedError, Embedder, EmbeddingModel, Reranker};
use quipu_engine::{ContextOptions, Engine, RecallOptions, RememberOptions, Utterance, context, recall, remember};
use quipu_models::HashedNgrams;
use quipu_testkit::{CountingEmbedder, MemoryStore, RecordingStore, TestEngine};

use crate::{me, said};

/// Embeds questions only on request, and passages at once.
struct Held {
    inner: HashedNgrams,
    question: &'static str,
    released: Mutex<Receiver<()>>,
}

impl Embedder for Held {
    fn model(&self) -> &EmbeddingModel {
        self.inner.model()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.contains(&self.question) {
            // A message or the end of the test releases it.
            let _ = self.released.lock().unwrap().recv();
        }
        self.inner.embed(texts)
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.inner.count_tokens(text)
    }
}

const QUESTION: &str = "Who plays the violin?";

fn held() -> (Engine, Sender<()>) {
    let (release, released) = channel();
    let embedder = Held { inner: HashedNgrams::new(), question: QUESTION, released: Mutex::new(released) };
    let rig = TestEngine { embedder: Arc::new(CountingEmbedder::new(Arc::new(embedder))), ..TestEngine::new(1) };
    let engine = rig.engine(Box::new(MemoryStore::new()));
    said(&engine, &["Ana plays the violin.", "I bake bread.", "The bus was late."]);
    (engine, release)
}

#[test]
fn a_slow_embedder_is_done_without_and_the_answer_says_so() {
    // given a model that does not answer
    let (engine, release) = held();
    // when a question has a deadline
    let options = RecallOptions { deadline: Some(Duration::from_millis(1)), ..RecallOptions::of(QUESTION) };
    let report = recall(&engine, &me(), &options).unwrap();
    // then lexical matches answer, and the report says what was skipped
    assert_eq!(report.hits[0].text, "Ana plays the violin.");
    assert_eq!(report.hits[0].contributions.x, 0.0);
    let why = report.degraded.unwrap();
    assert!(why.contains("did not answer before the deadline; only words"), "{why}");
    // and packs are made as well
    let asked = ContextOptions { deadline: Some(Duration::from_millis(1)), ..ContextOptions::of(QUESTION) };
    assert!(context(&engine, &me(), &asked).unwrap().text.contains("Ana plays the violin"));
    // and without a deadline recall waits for the model
    drop(release);
    let report = recall(&engine, &me(), &RecallOptions::of(QUESTION)).unwrap();
    assert!(report.degraded.is_none() && report.hits[0].contributions.x > 0.0, "{report:#?}");
}

/// Scores each text by a function, or fails.
struct Judge(fn(&str) -> Option<f32>);

impl Reranker for Judge {
    fn model(&self) -> &str {
        "judge"
    }

    fn score(&self, _question: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let scores = passages.iter().map(|text| (self.0)(text)).collect::<Option<Vec<f32>>>();
        scores.ok_or_else(|| EmbedError::Run("out of memory".to_owned()))
    }
}

fn judged_by(judge: fn(&str) -> Option<f32>) -> Engine {
    let rig = TestEngine { reranker: Some(Arc::new(Judge(judge))), ..TestEngine::new(1) };
    let engine = rig.engine(Box::new(MemoryStore::new()));
    said(&engine, &["Ana plays the violin.", "I bake bread.", "The bus was late."]);
    engine
}

#[test]
fn a_reranker_has_the_last_word_on_the_order_and_its_scores_are_shown() {
    let engine = judged_by(|text| Some(if text.contains("bus") { 3.0 } else { -1.0 }));
    let report = recall(&engine, &me(), &RecallOptions { k: 2, ..RecallOptions::of(QUESTION) }).unwrap();
    let found: Vec<_> = report.hits.iter().map(|hit| (hit.text.as_str(), hit.reranked)).collect();
    assert_eq!(found, [("The bus was late.", Some(3.0)), ("Ana plays the violin.", Some(-1.0))]);
    assert_eq!(report.degraded, None);
}

#[test]
fn a_reranker_that_fails_leaves_the_order_and_is_named() {
    for (judge, why) in [
        ((|_| None) as fn(&str) -> Option<f32>, "out of memory"),
        (|_| Some(f32::NAN), "did not return one score per answer"),
    ] {
        let report = recall(&judged_by(judge), &me(), &RecallOptions::of(QUESTION)).unwrap();
        assert_eq!(report.hits[0].text, "Ana plays the violin.");
        assert!(report.hits.iter().all(|hit| hit.reranked.is_none()));
        let said = report.degraded.unwrap();
        assert!(said.contains("the reranker judge") && said.contains(why), "{said}");
    }
}

#[test]
fn a_recall_does_not_wait_for_whoever_appends() {
    // given a store in which the third append hangs
    let (entered, is_appending) = channel();
    let (release, released) = channel::<()>();
    let (appends, released) = (AtomicU64::new(0), Mutex::new(released));
    let store = RecordingStore::new(Box::new(MemoryStore::new())).before(move |called| {
        if called == "append" && appends.fetch_add(1, Ordering::SeqCst) == 2 {
            entered.send(()).unwrap();
            // A message or the end of the test releases it.
            let _ = released.lock().unwrap().recv();
        }
        Ok(())
    });
    let calls = store.calls();
    let rig = TestEngine::new(1);
    let engine = rig.engine(Box::new(store));
    let haste = RememberOptions { durable_only: true, ..RememberOptions::default() };
    let say = |text: &str| remember(&engine, &me(), &Utterance::of_user(text), &haste).map(|_| ());
    // and messages that are durable and have no vector yet
    say("Ana plays the violin.").unwrap();
    say("I bake bread.").unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| say("The bus was late."));
        is_appending.recv().unwrap();
        let embedded = rig.embedder.texts();
        // when a question is asked in the meantime
        let report = recall(&engine, &me(), &RecallOptions::of(QUESTION)).unwrap();
        // then both are found by meaning, nothing is written, and the next question only embeds itself
        assert!(report.degraded.is_none() && report.hits[0].contributions.x > 0.0, "{report:#?}");
        assert_eq!((rig.embedder.texts() - embedded, calls.of("put_vectors")), (3, 0));
        recall(&engine, &me(), &RecallOptions::of(QUESTION)).unwrap();
        assert_eq!(rig.embedder.texts() - embedded, 4);
        drop(release);
        writer.join().unwrap().unwrap();
    });
    // and without a concurrent append vectors are stored as usual
    recall(&engine, &me(), &RecallOptions::of(QUESTION)).unwrap();
    assert_eq!(calls.of("put_vectors"), 1);
}
