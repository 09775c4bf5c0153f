//! Maintenance: due steps run without any request.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_core::session::{KnownEntry, MergeProposed, SummaryProposal};
use quipu_engine::ports::{SummarizeError, Summarizer, SummaryInput};
use quipu_engine::versions::When;
use quipu_engine::{
    Engine, EngineParts, EngineRules, MaintainOptions, MaintenanceReport, RememberOptions, Utterance, due, episodes,
    maintain, maintain_while, remember, session,
};
use quipu_fake_model::FakeScript;
use quipu_models::{HashedNgrams, RuleExtractor, RuleSummarizer};
use quipu_server::{MaintenanceOptions, ServerOptions};
use quipu_testkit::{FixedClock, MemoryStore, SeededEntropy};

use crate::rig::TestServer;

/// Time limit for a condition that a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);
/// 2026-01-01T00:00:00Z, in microseconds.
const START: i64 = 1_767_225_600_000_000;
const HOUR: i64 = 3_600_000_000;

/// Summarises by rules in the place of a model. It can be unavailable, and counts its calls.
#[derive(Default)]
struct Remote {
    is_down: AtomicBool,
    asked: AtomicUsize,
    /// Runs during the first call.
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Summarizer for Remote {
    fn id(&self) -> &str {
        "remote/v1"
    }

    fn asks_outside(&self) -> bool {
        true
    }

    fn summarize(&self, telling: &SummaryInput) -> Result<SummaryProposal, SummarizeError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let meanwhile = self.meanwhile.lock().unwrap().take();
        meanwhile.into_iter().for_each(|work| work());
        match self.is_down.load(Ordering::SeqCst) {
            true => Err(SummarizeError::Unavailable("it took more than 8 s".to_owned())),
            false => RuleSummarizer.summarize(telling),
        }
    }

    fn consolidate(&self, user: &UserId, base_truth: &[KnownEntry]) -> Result<Vec<MergeProposed>, SummarizeError> {
        RuleSummarizer.consolidate(user, base_truth)
    }
}

fn engine(store: &MemoryStore, clock: &Arc<FixedClock>, seed: u64, summarizer: Arc<dyn Summarizer>) -> Arc<Engine> {
    Arc::new(Engine::new(EngineParts {
        store: Box::new(store.clone()),
        embedder: Arc::new(HashedNgrams::new()),
        clock: clock.clone(),
        entropy: Arc::new(SeededEntropy::new(seed)),
        extractor: Some(Arc::new(RuleExtractor::english())),
        summarizer: Some(summarizer),
        rules: EngineRules::default(),
        optional: quipu_engine::OptionalParts::default(),
    }))
}

/// A clock that hardly advances, so that sessions end when the test says so.
fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::starting(START, 1000))
}

fn soon(options: &mut ServerOptions) {
    options.maintenance = MaintenanceOptions {
        interval: Duration::from_millis(2),
        quiet: Duration::from_millis(20),
        session_end: Duration::from_millis(40),
        sweep_pause: Duration::from_millis(2),
        sweep_interval: Duration::from_millis(20),
        backoff: Duration::from_millis(5),
        backoff_max: Duration::from_millis(20),
        ..MaintenanceOptions::default()
    };
}

fn ada() -> UserId {
    UserId::parse("ada").unwrap()
}

/// Waits for a condition that no request brings about.
async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let waits = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.unwrap_or_else(|_| panic!("{what}"));
}

fn summaries_left(engine: &Engine) -> usize {
    session(engine, &ada(), "s", When::Now).unwrap().unsummarized.len()
}

/// Records two exchanges of a session, the first of which is closed; nothing is derived from them.
fn talk(engine: &Engine) {
    for words in ["My dentist is called Ines.", "Remind me to call her."] {
        let said = Utterance { session: Some("s".to_owned()), ..Utterance::of_user(words) };
        let options = RememberOptions { durable_only: true, ..RememberOptions::default() };
        remember(engine, &ada(), &said, &options).unwrap();
        let reply = Utterance { role: quipu_core::source::Role::Assistant, ..said };
        remember(engine, &ada(), &reply, &options).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_goes_silent_is_told_without_another_request() {
    let (store, clock) = (MemoryStore::new(), clock());
    let engine = engine(&store, &clock, 1, Arc::new(RuleSummarizer));
    let rig = TestServer::over(engine, FakeScript::saying("Noted."), soon).await;
    rig.say("ada", "s", "I live in Bruges and work as a nurse.").await;
    assert!(episodes(&rig.engine, &ada(), None).unwrap().is_empty(), "the session goes on");
    clock.put(START + 2 * HOUR);
    eventually("the session is told", || !episodes(&rig.engine, &ada(), None).unwrap().is_empty()).await;
    eventually("nothing is due", || due(&rig.engine, &ada()).unwrap().is_empty()).await;
    assert!(quipu_engine::status::status(&rig.engine, &ada()).unwrap().maintained_at.is_some());

    let status = rig.ask("GET", "/health/maintenance", &[], None).await.json();
    assert_eq!((&status["enabled"], &status["backing_off"]), (&true.into(), &0.into()), "{status}");
    assert!(status["last_run_at"].is_string(), "{status}");
    let page = String::from_utf8(rig.ask("GET", "/metrics", &[], None).await.body).unwrap();
    for line in [
        "quipu_maintenance_runs_total{step=\"episodes\",outcome=\"done\"} 1",
        "quipu_maintenance_due{step=\"episodes\"} 0",
        "quipu_maintenance_backing_off 0",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_process_left_is_done_after_a_restart_and_not_if_it_is_switched_off() {
    let (store, clock) = (MemoryStore::new(), clock());
    let remote = Arc::new(Remote::default());
    talk(&engine(&store, &clock, 1, remote.clone()));
    clock.put(START + 2 * HOUR);
    let off = TestServer::over(engine(&store, &clock, 2, remote.clone()), FakeScript::saying("Noted."), |options| {
        soon(options);
        options.maintenance.enabled = false;
    })
    .await;
    let (_, engine_off, _) = off.stop().await;
    assert_eq!(remote.asked.load(Ordering::SeqCst), 0);
    let before = due(&engine_off, &ada()).unwrap();
    assert!(!before.is_empty());

    let rig = TestServer::over(engine(&store, &clock, 3, remote.clone()), FakeScript::saying("Noted."), soon).await;
    // No request names the user: the server finds it in the store.
    eventually("nothing is due", || due(&rig.engine, &ada()).unwrap().is_empty()).await;
    assert_eq!(summaries_left(&rig.engine), 0);
    assert_eq!(episodes(&rig.engine, &ada(), None).unwrap().len(), 1);
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_that_failed_is_made_without_another_turn() {
    let (store, clock) = (MemoryStore::new(), clock());
    let remote = Arc::new(Remote::default());
    remote.is_down.store(true, Ordering::SeqCst);
    let rig = TestServer::over(engine(&store, &clock, 1, remote.clone()), FakeScript::saying("Noted."), soon).await;
    talk(&rig.engine);
    eventually("it is asked again and again", || remote.asked.load(Ordering::SeqCst) >= 3).await;
    assert!(summaries_left(&rig.engine) > 0);
    remote.is_down.store(false, Ordering::SeqCst);
    eventually("it is summarised", || summaries_left(&rig.engine) == 0).await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_on_one_store_do_a_piece_of_work_once() {
    let (store, clock) = (MemoryStore::new(), clock());
    let remote = Arc::new(Remote::default());
    let first = engine(&store, &clock, 1, remote.clone());
    talk(&first);
    let due_exchanges = summaries_left(&first);
    assert!(due_exchanges > 0);
    let second = engine(&store, &clock, 2, remote.clone());
    let one = TestServer::over(first, FakeScript::saying("Noted."), soon).await;
    let two = TestServer::over(second, FakeScript::saying("Noted."), soon).await;
    eventually("it is summarised", || summaries_left(&one.engine) == 0 && summaries_left(&two.engine) == 0).await;
    clock.put(START + 2 * HOUR);
    let told = |rig: &TestServer| episodes(&rig.engine, &ada(), None).unwrap().len();
    eventually("the session is told", || told(&one) == 1 && told(&two) == 1).await;
    eventually("nothing is due", || [&one, &two].iter().all(|rig| due(&rig.engine, &ada()).unwrap().is_empty())).await;
    let summarised = one.reasons("ada").iter().filter(|why| why.starts_with("summarised by")).count();
    assert_eq!(summarised, due_exchanges, "each exchange once");
    assert_eq!(remote.asked.load(Ordering::SeqCst), due_exchanges, "and asked once");
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_stops_while_a_summary_is_being_made_again_and_again() {
    let (store, clock) = (MemoryStore::new(), clock());
    let remote = Arc::new(Remote::default());
    remote.is_down.store(true, Ordering::SeqCst);
    let rig = TestServer::over(engine(&store, &clock, 1, remote.clone()), FakeScript::saying("Noted."), soon).await;
    talk(&rig.engine);
    eventually("it is asked", || remote.asked.load(Ordering::SeqCst) >= 1).await;
    let (drained, engine, _) = rig.stop().await;
    assert_eq!(drained.lost, 0);
    let asked = remote.asked.load(Ordering::SeqCst);
    tokio::task::yield_now().await;
    assert_eq!(remote.asked.load(Ordering::SeqCst), asked, "nothing goes on after the end");
    assert!(summaries_left(&engine) > 0);
}

#[test]
fn while_one_process_maintains_a_user_others_say_so_and_do_nothing() {
    let (store, clock) = (MemoryStore::new(), clock());
    let remote = Arc::new(Remote::default());
    let first = engine(&store, &clock, 1, remote.clone());
    let second = engine(&store, &clock, 2, remote.clone());
    talk(&first);
    let exchanges = summaries_left(&first);
    let seen: Arc<Mutex<Vec<MaintenanceReport>>> = Arc::default();
    let (own, others, told) = (first.clone(), second.clone(), seen.clone());
    *remote.meanwhile.lock().unwrap() = Some(Box::new(move || {
        for engine in [&own, &others] {
            told.lock().unwrap().push(maintain(engine, &ada(), &MaintainOptions::default()).unwrap());
        }
    }));
    let done = maintain(&first, &ada(), &MaintainOptions::default()).unwrap();
    assert_eq!((done.fault, done.stopped), (None, false));
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(seen.len(), 2);
    for report in seen {
        assert!(report.fault.is_some());
        assert!(!report.steps.is_empty() && report.steps.iter().all(|step| step.left == step.due), "{report:?}");
    }
    let after = maintain(&second, &ada(), &MaintainOptions::default()).unwrap();
    assert_eq!((after.steps.len(), after.fault), (0, None), "the lease is given back, and nothing is left");
    assert_eq!(remote.asked.load(Ordering::SeqCst), exchanges, "each exchange was asked about once");
}

#[test]
fn a_run_that_is_to_stop_ends_after_the_piece_it_is_at() {
    let (store, clock) = (MemoryStore::new(), clock());
    let remote = Arc::new(Remote::default());
    let engine = engine(&store, &clock, 1, remote.clone());
    (0..3).for_each(|_| talk(&engine));
    let left = summaries_left(&engine);
    assert!(left > 2, "{left}");
    let mut go_on = || remote.asked.load(Ordering::SeqCst) == 0;
    let report = maintain_while(&engine, &ada(), &MaintainOptions::default(), &mut go_on).unwrap();
    assert!(report.stopped && report.fault.is_none(), "{report:?}");
    assert_eq!(remote.asked.load(Ordering::SeqCst), 1);
    assert_eq!(summaries_left(&engine), left - 1);
    maintain(&engine, &ada(), &MaintainOptions::default()).unwrap();
    assert_eq!(summaries_left(&engine), 0, "what was left is still due");
}
