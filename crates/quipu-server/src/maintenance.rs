//! Maintenance: the server does what is due by itself, one user at a time, while no request is being worked on.
//!
//! What is due is a predicate over the ledger, and [`Policy`] only decides who is looked at next; so a server that is started
//! again goes on where it was. The work itself is the engine's [`tend_while`], under a lease: of several processes on one folder one
//! does it. Nothing is decided here that needs a person: categories and lines of the self-model are proposed, not accepted.

mod figures;
mod policy;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_engine::{Engine, MaintainOptions, MaintenanceReport, maintain_while};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

pub(crate) use self::figures::Figures;
use self::policy::{Job, Outcome, Policy, Tally};
use crate::metrics::Metrics;

/// How long a run waits for requests to be answered before it leaves the rest for later.
const YIELDS_FOR: Duration = Duration::from_secs(2);
/// How often it looks meanwhile.
const YIELD_LOOK: Duration = Duration::from_millis(2);

/// What a server does by itself, and how much of it at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaintenanceOptions {
    /// The server does what is due by itself. Default: true.
    pub enabled: bool,
    /// Pause between two looks at what is due, and between two runs. Default: 1 s.
    pub interval: Duration,
    /// After this silence of a user, what was said is read, summarised and told. Default: 2 min.
    pub quiet: Duration,
    /// Without a silence, a language model reads once so many messages of a user wait: its instructions are paid once for all of
    /// them. Rules read every message at once. Default: 8.
    pub read_together: usize,
    /// After this silence the user's sessions count as over: everything else that is due is done too. Default: 30 min, as long as
    /// the silence that ends an episode.
    pub session_end: Duration,
    /// Pause between two users of the sweep over all users of the store, which comes after those that were active. Default: 5 s.
    pub sweep_pause: Duration,
    /// A sweep begins at most this often. Default: 1 h.
    pub sweep_interval: Duration,
    /// At most so many events of evolution, reflection and compaction a run. Default: 256.
    pub events_max: usize,
    /// At most so many messages read by rules, and so many exchanges summarised, a run. Default: 64.
    pub items_max: usize,
    /// At most so many messages read by a language model a run. Default: 16.
    pub sources_max: usize,
    /// What failed is tried again after this, after twice this if it fails again, and so on. Default: 30 s.
    pub backoff: Duration,
    /// What fails is tried again after this at the latest. Default: 1 h.
    pub backoff_max: Duration,
}

impl Default for MaintenanceOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            interval: Duration::from_secs(1),
            quiet: Duration::from_secs(2 * 60),
            read_together: 8,
            session_end: Duration::from_secs(30 * 60),
            sweep_pause: Duration::from_secs(5),
            sweep_interval: Duration::from_secs(60 * 60),
            events_max: 256,
            items_max: 64,
            sources_max: 16,
            backoff: Duration::from_secs(30),
            backoff_max: Duration::from_secs(60 * 60),
        }
    }
}

/// How maintenance stands in this process.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub(crate) struct MaintenanceStatus {
    /// False if it is switched off in the settings.
    enabled: bool,
    /// When a run last ended.
    last_run_at: Option<Timestamp>,
    /// What is left due of the users that were looked at last, by step.
    due: BTreeMap<&'static str, usize>,
    /// Steps and users that are tried again later, because they failed.
    backing_off: usize,
    /// Users the sweep has still to come to.
    sweep_waiting: usize,
}

/// Does what is due.
pub(crate) struct Maintenance {
    engine: Arc<Engine>,
    /// Only this user's memory is looked at; none: everybody's.
    only: Option<UserId>,
    options: MaintenanceOptions,
    metrics: Arc<Metrics>,
    policy: Mutex<Policy>,
    last_run_at: Mutex<Option<Timestamp>>,
    is_stopping: AtomicBool,
    started: Instant,
}

/// Stops maintenance when the server is dropped without having been stopped.
struct StopOnDrop(Arc<Maintenance>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.is_stopping.store(true, Ordering::SeqCst);
    }
}

impl Maintenance {
    pub(crate) fn new(engine: Arc<Engine>, options: MaintenanceOptions, metrics: Arc<Metrics>) -> Self {
        Self {
            engine,
            only: None,
            policy: Mutex::new(Policy::new(options.clone())),
            options,
            metrics,
            last_run_at: Mutex::default(),
            is_stopping: AtomicBool::new(false),
            started: Instant::now(),
        }
    }

    /// Looks at one user's memory only.
    pub(crate) fn only(self, user: UserId) -> Self {
        Self { only: Some(user), ..self }
    }

    fn policy(&self) -> MutexGuard<'_, Policy> {
        self.policy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what is due until the server is to stop. `is_busy` says whether a request is being worked on. Ends at most one piece
    /// of one step after `stopping` turns true.
    pub(crate) async fn run(
        self: Arc<Self>,
        mut stopping: watch::Receiver<bool>,
        is_busy: impl Fn() -> bool + Send + Sync + 'static,
    ) {
        if !self.options.enabled {
            return;
        }
        let is_busy = Arc::new(is_busy);
        let _stop = StopOnDrop(self.clone());
        // It changes once, from false to true.
        while tokio::time::timeout(self.options.interval, stopping.changed()).await.is_err() {
            let (own, busy) = (self.clone(), is_busy.clone());
            let mut round = tokio::task::spawn_blocking(move || own.round(busy.as_ref()));
            let ended = tokio::select! {
                ended = &mut round => Some(ended),
                _ = stopping.changed() => None,
            };
            let is_last = ended.is_none();
            let ended = match ended {
                Some(ended) => ended,
                None => {
                    self.is_stopping.store(true, Ordering::SeqCst);
                    round.await
                }
            };
            if ended.is_err() {
                tracing::error!("maintenance panicked; it goes on with the next user");
            }
            if is_last {
                return;
            }
        }
    }

    /// One look, and at most one run.
    fn round(&self, is_busy: &dyn Fn() -> bool) {
        if is_busy() {
            return;
        }
        let job = {
            let mut open = self.engine.open_versions();
            open.retain(|(user, _)| self.only.as_ref().is_none_or(|only| only == user));
            let mut policy = self.policy();
            policy.observe(open, self.started.elapsed());
            policy.next(self.started.elapsed())
        };
        let job = job.or_else(|| self.swept());
        if let Some(job) = job {
            self.do_job(&job, is_busy);
        }
    }

    /// The next user of a sweep that begins now, if one does.
    fn swept(&self) -> Option<Job> {
        let now = self.started.elapsed();
        if !self.policy().wants_users(now) {
            return None;
        }
        let users = match self.only.clone().map_or_else(|| self.engine.store().users(), |user| Ok(vec![user])) {
            Ok(users) => users,
            Err(error) => {
                tracing::warn!(%error, "the users of the store cannot be listed; maintenance lists them at the next sweep");
                Vec::new()
            }
        };
        let mut policy = self.policy();
        policy.users(users, now);
        policy.next(now)
    }

    fn do_job(&self, job: &Job, is_busy: &dyn Fn() -> bool) {
        let span = tracing::info_span!("maintain_memory", "gen_ai.operation.name" = "maintain_memory");
        let _in = span.enter();
        let start = Instant::now();
        let options = MaintainOptions {
            dry_run: false,
            steps: job.steps.clone(),
            events_max: self.options.events_max,
            sources_max: self.options.sources_max,
            items_max: self.options.items_max,
        };
        let outcome = maintain_while(&self.engine, &job.user, &options, &mut || self.goes_on(is_busy));
        self.count(&outcome, start);
        let version = self.engine.open_versions().into_iter().find(|(user, _)| *user == job.user).map(|(_, seq)| seq);
        let (lets_go, tally) = {
            let mut policy = self.policy();
            let seen = outcome.as_ref().map_or(Outcome::Failed, Outcome::Ran);
            let lets_go = policy.finished(job, seen, version, self.started.elapsed());
            (lets_go, policy.tally())
        };
        if lets_go {
            self.engine.let_go(&job.user);
        }
        let now = self.engine.now();
        *self.last_run_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        self.metrics.maintenance.stands(&tally, now);
    }

    fn count(&self, outcome: &quipu_engine::Result<MaintenanceReport>, start: Instant) {
        let word = match outcome {
            Ok(report) => {
                self.metrics.maintenance.ran(report);
                let faults = report.steps.iter().filter_map(|one| Some((one.step, one.fault.as_ref()?)));
                for (step, fault) in faults {
                    tracing::warn!(
                        step = step.as_str(),
                        fault,
                        "a step of maintenance failed; it is tried again later"
                    );
                }
                if report.fault.is_some() { "held" } else { "ok" }
            }
            Err(error) => {
                tracing::warn!(%error, "a memory cannot be maintained; it is tried again later");
                "error"
            }
        };
        self.metrics.took("maintain_memory", word, start.elapsed().as_secs_f64());
    }

    /// Waits while requests are worked on. False if the rest is to be left for later.
    fn goes_on(&self, is_busy: &dyn Fn() -> bool) -> bool {
        let start = Instant::now();
        while !self.is_stopping.load(Ordering::SeqCst) {
            if !is_busy() {
                return true;
            }
            if start.elapsed() > YIELDS_FOR {
                return false;
            }
            std::thread::sleep(YIELD_LOOK);
        }
        false
    }

    /// How maintenance stands in this process.
    pub(crate) fn status(&self) -> MaintenanceStatus {
        let Tally { left, backing_off, sweep_waiting } = self.policy().tally();
        MaintenanceStatus {
            enabled: self.options.enabled,
            last_run_at: *self.last_run_at.lock().unwrap_or_else(PoisonError::into_inner),
            due: left.into_iter().map(|(step, count)| (step.as_str(), count)).collect(),
            backing_off,
            sweep_waiting,
        }
    }
}
