//! All kinds of requests concurrently, on few open memories: turns of new and shared users, questions, pages, metrics,
//! and the proxy. Measured in requests; `QUIPU_EFFORT` increases their number.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quipu_engine::versions::When;
use quipu_engine::{Engine, EngineParts, EngineRules, ListOptions, OpenLimits, OptionalParts, list, users, verify};
use quipu_fake_model::FakeScript;
use quipu_models::{HashedNgrams, RuleExtractor, RuleSummarizer};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{FixedClock, Rng, SeededEntropy, effort, seed};
use serde_json::{Value, json};

use crate::rig::{Answer, TestServer};

/// Without any response for this long, the server hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Number of users shared by several clients.
const SHARED: usize = 4;
/// Clients of each kind.
const CLIENTS: usize = 3;
/// The requests of a client in each round.
const KINDS: [Kind; 9] = [
    Kind::NewUser,
    Kind::SharedTurn,
    Kind::SharedContext,
    Kind::Recall,
    Kind::Proxied,
    Kind::Metrics,
    Kind::Ready,
    Kind::Page,
    Kind::Gone,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    NewUser,
    SharedTurn,
    SharedContext,
    Recall,
    Proxied,
    Metrics,
    Ready,
    Page,
    /// A user is deleted and created again by the next turn.
    Gone,
}

/// State shared by all clients.
struct Run {
    rig: TestServer,
    seed: u64,
    left: AtomicUsize,
    answered: AtomicU64,
    is_over: AtomicBool,
    /// Acknowledged messages, with their user.
    said: Mutex<Vec<(String, String)>>,
    statuses: Mutex<BTreeMap<(Kind, u16), u64>>,
}

fn engine(folder: &std::path::Path, seed: u64) -> Arc<Engine> {
    let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
    let open_limits = OpenLimits { memories_max: 5, ledgers_max: 3, ..OpenLimits::default() };
    Arc::new(Engine::new(EngineParts {
        store: Box::new(SqliteStore::open(folder, options).unwrap()),
        embedder: Arc::new(HashedNgrams::new()),
        clock: Arc::new(FixedClock::starting(1_767_225_600_000_000, 10_000)),
        entropy: Arc::new(SeededEntropy::new(seed)),
        extractor: Some(Arc::new(RuleExtractor::english())),
        summarizer: Some(Arc::new(RuleSummarizer)),
        rules: EngineRules { open_limits, ..EngineRules::default() },
        optional: OptionalParts::default(),
    }))
}

impl Run {
    async fn asked(&self, kind: Kind, dice: &mut Rng, number: usize, round: usize) -> Answer {
        let shared = format!("shared-{}", dice.below(SHARED));
        let word = format!("needle{number}x{round}");
        match kind {
            Kind::NewUser | Kind::SharedTurn => {
                let user = if kind == Kind::NewUser { format!("new-{number}-{round}") } else { shared };
                let wait = if dice.once_in(2) { "durable" } else { "indexed" };
                let body = json!({"messages": [{"role": "user", "content": format!("I like {word} tea.")}],
                    "session_id": "s", "wait": wait});
                let answer = self.rig.ask("POST", &format!("/memory/{user}/turns"), &[], Some(&body)).await;
                if answer.status < 300 {
                    self.said.lock().unwrap_or_else(PoisonError::into_inner).push((user, word));
                }
                answer
            }
            Kind::SharedContext => {
                let body = json!({"query": "What do I like?"});
                self.rig.ask("POST", &format!("/memory/{shared}/context"), &[], Some(&body)).await
            }
            Kind::Recall => {
                let body = json!({"user_id": shared, "query": "What tea do I like?"});
                self.rig.ask("POST", "/memory/retrieve", &[], Some(&body)).await
            }
            Kind::Proxied => {
                let body = json!({"model": "m", "stream": dice.once_in(2),
                    "messages": [{"role": "user", "content": format!("What goes with {word}?")}]});
                let headers = [("x-memory-user", shared.as_str()), ("x-memory-session", "proxied")];
                Answer::of(self.rig.post("/v1/chat/completions", &headers, body.to_string()).await).await
            }
            Kind::Metrics => self.rig.ask("GET", "/metrics", &[], None).await,
            Kind::Ready => self.rig.ask("GET", "/health/ready", &[], None).await,
            Kind::Page => {
                let page = dice.pick(&["", "/memories", "/timeline", "/review", "/search?q=tea", "/upkeep"]);
                let path = format!("/ui/u/{shared}{}", page.copied().unwrap_or_default());
                self.rig.ask("GET", &path, &[], None).await
            }
            Kind::Gone => {
                let announced = self.rig.ask("DELETE", "/memory/passing", &[], None).await;
                let page: Value = serde_json::from_slice(&announced.body).unwrap_or_default();
                match page["error"]["confirm"].as_str() {
                    Some(token) => {
                        let path = format!("/memory/passing?confirm={token}");
                        self.rig.ask("DELETE", &path, &[], None).await
                    }
                    None => announced,
                }
            }
        }
    }

    async fn client(self: Arc<Self>, kind: Kind, number: usize) {
        let mut dice = Rng::new(self.seed ^ ((number as u64) << 32));
        let mut round = 0;
        let take = || self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        while take() {
            round += 1;
            if kind == Kind::Gone {
                let body = json!({"messages": [{"role": "user", "content": "I pass by."}], "wait": "durable"});
                let answer = self.rig.ask("POST", "/memory/passing/turns", &[], Some(&body)).await;
                assert!(answer.status < 500, "QUIPU_SEED={}: {answer:?}", self.seed);
            }
            let answer = self.asked(kind, &mut dice, number, round).await;
            self.answered.fetch_add(1, Ordering::Relaxed);
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            assert!(answer.status < 500, "QUIPU_SEED={} {kind:?}: {} {body}", self.seed, answer.status);
            let key = (kind, answer.status);
            *self.statuses.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
        }
    }

    /// Ends the process if nothing is answered any more; on a separate thread, because those of the runtime may all
    /// hang.
    fn watch(&self) {
        let (mut seen, mut waited, step) = (u64::MAX, Duration::ZERO, Duration::from_millis(250));
        while !self.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(step);
            let answered = self.answered.load(Ordering::Relaxed);
            waited = if answered == seen { waited + step } else { Duration::ZERO };
            seen = answered;
            if waited >= PATIENCE {
                let statuses = self.statuses.lock().unwrap_or_else(PoisonError::into_inner);
                eprintln!(
                    "QUIPU_SEED={}: nothing was answered for {PATIENCE:?} after {answered}: {statuses:?}",
                    self.seed
                );
                std::process::abort();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_clients_of_every_kind_are_all_answered_and_the_end_is_graceful() {
    let (folder, seed) = (tempfile::tempdir().unwrap(), seed());
    let script = FakeScript::making(|_| "Honey goes with it.".to_owned());
    let rig = TestServer::over(engine(folder.path(), seed), script, |options| {
        options.bounds.requests_per_second = 1_000_000;
        options.bounds.requests_at_once = 1_000_000;
    })
    .await;
    for user in 0..SHARED {
        rig.remembers(&format!("shared-{user}"), "I like green tea.");
    }
    let run = Arc::new(Run {
        rig,
        seed,
        left: AtomicUsize::new(effort(20_000) as usize),
        answered: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
        said: Mutex::default(),
        statuses: Mutex::default(),
    });
    let watching = run.clone();
    let watchdog = std::thread::spawn(move || watching.watch());
    let kinds = KINDS.into_iter().cycle().take(KINDS.len() * CLIENTS).enumerate();
    let clients: Vec<_> = kinds.map(|(number, kind)| tokio::spawn(run.clone().client(kind, number))).collect();
    for client in clients {
        client.await.unwrap();
    }
    run.is_over.store(true, Ordering::Relaxed);
    watchdog.join().unwrap();
    let statuses = std::mem::take(&mut *run.statuses.lock().unwrap());
    for kind in KINDS {
        let fine = |((of, status), _): (&(Kind, u16), &u64)| *of == kind && (200..300).contains(status);
        assert!(statuses.iter().any(fine), "QUIPU_SEED={seed}: {kind:?} was never answered well: {statuses:?}");
    }
    let run = Arc::into_inner(run).unwrap();
    let (drained, engine, _upstream) = run.rig.stop().await;
    assert_eq!(drained.lost, 0, "QUIPU_SEED={seed}");
    let mut texts = BTreeMap::new();
    for user in users(&engine).unwrap() {
        let report = verify(&engine, &user, &[], &mut |_| {}).unwrap();
        assert!(report.is_intact(), "QUIPU_SEED={seed} {user}: {report:?}");
        let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
        let words = list(&engine, &user, &all).unwrap().items.into_iter().map(|item| item.text);
        texts.insert(user.to_string(), words.collect::<Vec<_>>());
    }
    for (user, word) in run.said.into_inner().unwrap() {
        let wanted = format!("I like {word} tea.");
        let found = texts.get(&user).into_iter().flatten().filter(|text| **text == wanted).count();
        assert_eq!(found, 1, "QUIPU_SEED={seed} {user}: {wanted}");
    }
}
