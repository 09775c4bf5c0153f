//! The setting of a torture run: engines over one folder, worker threads, and the collected faults.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quipu_core::id::UserId;
use quipu_engine::keys::Keys;
use quipu_engine::{Engine, EngineParts, EngineRules, Error, OpenLimits, OptionalParts};
use quipu_files::{FolderVault, KeyFile};
use quipu_models::{HashedNgrams, RuleExtractor, RuleSummarizer};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{FixedClock, MemoryKeys, Rng, SeededEntropy, seed};

use crate::following;
use crate::parts::{Reviewer, SecondReader};
use crate::said::Said;
use crate::verb::{self, Verb};
use crate::watchdog::Watchdog;
use crate::worker::Worker;

/// Users whose words are checked.
pub(crate) const USERS: usize = 60;
/// Number of preceding operations that are printed with a fault.
const TOLD_MAX: usize = 24;
/// Number of faults after which a run ends.
const FAULTS_MAX: usize = 6;
/// Limits on the memories and ledgers an engine holds open: fewer than there are threads.
pub(crate) const LIMITS: OpenLimits = OpenLimits { memories_max: 5, bytes_max: 1 << 30, ledgers_max: 4 };

/// Counts of each outcome, by operation.
type Outcomes = BTreeMap<&'static str, BTreeMap<&'static str, u64>>;

pub(crate) struct World {
    pub(crate) engines: Vec<Engine>,
    pub(crate) folder: tempfile::TempDir,
    clock: Arc<FixedClock>,
    pub(crate) said: Said,
    pub(crate) keys: Keys,
    pub(crate) signer: KeyFile,
    pub(crate) seed: u64,
    title: &'static str,
    last: Mutex<VecDeque<String>>,
    outcomes: Mutex<Outcomes>,
    faults: Mutex<Vec<String>>,
    is_stopped: AtomicBool,
    /// Number of started rounds, each with different random operations.
    rounds: AtomicUsize,
}

impl World {
    pub(crate) fn new(title: &'static str, engines: usize) -> Self {
        let (folder, seed) = (tempfile::tempdir().unwrap(), seed());
        let clock = Arc::new(FixedClock::starting(1_767_225_600_000_000, 10_000));
        let entropy = |number: u64| Arc::new(SeededEntropy::new(seed.wrapping_mul(31).wrapping_add(number)));
        let keys = Keys::new(Arc::new(MemoryKeys::new()), clock.clone(), entropy(100));
        let signer = KeyFile::new(folder.path().join("signing.key"), entropy(101));
        let opened = (0..engines).map(|number| engine(folder.path().join("data"), &clock, entropy(number as u64)));
        Self {
            engines: opened.collect(),
            clock,
            folder,
            said: Said::default(),
            keys,
            signer,
            seed,
            title,
            last: Mutex::default(),
            outcomes: Mutex::default(),
            faults: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            rounds: AtomicUsize::new(0),
        }
    }

    /// Runs `operations` operations on `threads` threads, which are distributed over the engines.
    pub(crate) fn run(&self, threads: usize, operations: usize) {
        let all = verb::all().flat_map(|verb| std::iter::repeat_n(verb, verb.weight));
        self.round(threads, operations, &all.collect::<Vec<_>>());
    }

    fn round(&self, threads: usize, operations: usize, drawn: &[&'static Verb]) {
        let round = self.rounds.fetch_add(1, Ordering::Relaxed);
        let watchdog = Watchdog::new(format!("{}, QUIPU_SEED={}", self.title, self.seed), threads);
        let left = AtomicUsize::new(operations);
        std::thread::scope(|scope| {
            scope.spawn(|| watchdog.watch());
            let workers: Vec<_> = (0..threads)
                .map(|number| {
                    let (watchdog, left) = (&watchdog, &left);
                    let dice = Rng::new(self.seed ^ ((number as u64) << 32) ^ ((round as u64) << 48));
                    scope.spawn(move || self.work((number, dice), drawn, watchdog, left))
                })
                .collect();
            let ended: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
            watchdog.over();
            assert!(ended.iter().all(Result::is_ok), "{}: a worker panicked", self.title);
        });
        let faults = std::mem::take(&mut *self.faults.lock().unwrap_or_else(PoisonError::into_inner));
        let left = left.into_inner();
        assert!(faults.is_empty(), "{left} of {operations} operations were left\n{}", faults.join("\n\n"));
    }

    fn work(&self, (number, dice): (usize, Rng), drawn: &[&'static Verb], watchdog: &Watchdog, left: &AtomicUsize) {
        let own = number % self.engines.len();
        let mut worker = Worker {
            world: self,
            engine: &self.engines[own],
            other: &self.engines[(own + 1) % self.engines.len()],
            dice,
            number,
            count: 0,
            about: String::new(),
        };
        let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        while !self.is_stopped.load(Ordering::Relaxed) && take() {
            // With two engines, acknowledgements for users without deletions are also compared between them.
            let verb = if self.engines.len() > 1 && worker.dice.once_in(4) {
                &following::SEEN_AT_ONCE
            } else {
                worker.dice.pick(drawn).copied().expect("there are verbs")
            };
            watchdog.begins(number, format!("{}, operation {}", verb.name, worker.count));
            worker.count += 1;
            worker.about.clear();
            let outcome = catch_unwind(AssertUnwindSafe(|| (verb.act)(&mut worker)));
            watchdog.ended();
            self.note(&worker, verb, outcome);
        }
    }

    fn note(&self, worker: &Worker<'_>, verb: &Verb, outcome: std::thread::Result<quipu_engine::Result<()>>) {
        let (kind, fault) = match outcome {
            Ok(Ok(())) => ("ok", None),
            Ok(Err(error)) => (kind(&error), is_fault(&error).then(|| format!("{error:?}"))),
            Err(panic) => ("panic", Some(message(panic.as_ref()))),
        };
        let line = format!("worker {} {} {}: {kind}", worker.number, verb.name, worker.about);
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.len() == TOLD_MAX {
                last.pop_front();
            }
            last.push_back(line.clone());
        }
        *self.outcomes().entry(verb.name).or_default().entry(kind).or_default() += 1;
        if let Some(fault) = fault {
            self.fail(&format!("{line}: {fault}"));
        }
    }

    fn outcomes(&self) -> std::sync::MutexGuard<'_, Outcomes> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a fault with the preceding operations. The run continues for a few more, as one cause may hide another.
    fn fail(&self, fault: &str) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let last: Vec<&str> = last.iter().map(String::as_str).collect();
        let text = format!("{}, QUIPU_SEED={}: {fault}\nafter:\n  {}", self.title, self.seed, last.join("\n  "));
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push(text);
        if faults.len() >= FAULTS_MAX {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Checks that every operation succeeded at least once: a run in which all are refused proves nothing. The
    /// interleaving is not seeded, so an operation that needs an object which others remove may have found none; such
    /// operations are repeated, together with others that create these objects.
    pub(crate) fn expect_every_verb(&self, threads: usize) {
        const ROUNDS_MAX: usize = 20;
        for _ in 0..ROUNDS_MAX {
            let never = self.never_done();
            if never.is_empty() {
                return;
            }
            let others = verb::all().flat_map(|verb| std::iter::repeat_n(verb, verb.weight.div_ceil(10)));
            let again = never.iter().flat_map(|verb| std::iter::repeat_n(*verb, 10));
            self.round(threads, 200, &others.chain(again).collect::<Vec<_>>());
        }
        let never: Vec<&str> = self.never_done().into_iter().map(|verb| verb.name).collect();
        assert!(never.is_empty(), "QUIPU_SEED={}: never done: {never:?} of {:?}", self.seed, self.outcomes());
    }

    fn never_done(&self) -> Vec<&'static Verb> {
        let outcomes = self.outcomes();
        let is_done = |verb: &&Verb| outcomes.get(verb.name).is_some_and(|kinds| kinds.contains_key("ok"));
        verb::all().filter(|verb| !is_done(verb)).collect()
    }

    /// Another engine over the memories.
    pub(crate) fn engine(&self) -> Engine {
        engine(self.data(), &self.clock, Arc::new(SeededEntropy::new(!self.seed)))
    }

    /// The folder of the memories.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// A path beside the memories.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn engine(folder: PathBuf, clock: &Arc<FixedClock>, entropy: Arc<SeededEntropy>) -> Engine {
    let vault = FolderVault::new(folder.join("vault"));
    let store = SqliteStore::open(&folder, StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() }).unwrap();
    Engine::new(EngineParts {
        store: Box::new(store),
        embedder: Arc::new(HashedNgrams::new()),
        clock: clock.clone(),
        entropy,
        extractor: Some(Arc::new(RuleExtractor::english())),
        summarizer: Some(Arc::new(RuleSummarizer)),
        rules: EngineRules { open_limits: LIMITS, ..EngineRules::default() },
        optional: OptionalParts {
            reader: Some(Arc::new(SecondReader(RuleExtractor::english()))),
            reflector: Some(Arc::new(Reviewer)),
            vault: Some(Arc::new(vault)),
            ..OptionalParts::default()
        },
    })
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::Invalid(_) => "invalid",
        Error::Conflict(_) => "conflict",
        Error::Stale(_) => "stale",
        Error::NotFound(_) => "not found",
        Error::Refused(_) => "refused",
        Error::Unavailable(_) => "unavailable",
        Error::Corrupt(_) => "corrupt",
        Error::Bug(_) => "bug",
    }
}

/// Whether no interleaving explains the error.
fn is_fault(error: &Error) -> bool {
    matches!(error, Error::Unavailable(_) | Error::Corrupt(_) | Error::Bug(_))
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// The user with this name.
pub(crate) fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}
