//! Maintenance: the server runs due steps by itself, one user at a time, while no request is being answered.
//!
//! Due steps are computed from the ledger, and [`Policy`] only chooses the next user, so a restarted server continues
//! where it stopped. The engine's [`maintain_while`] does the work under a lease: of several processes on one folder,
//! one does it. Decisions that need a person are left to people: categories and lines of the self-model are only
//! proposed.

mod figures;
mod policy;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_engine::ports::AbandonedLease;
use quipu_engine::{Engine, MaintainOptions, MaintenanceReport, maintain_while};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

pub(crate) use self::figures::Figures;
use self::policy::{Job, Outcome, Policy, Tally};
use crate::metrics::Metrics;

/// How long a run waits for requests to finish before it leaves the rest for later.
const YIELDS_FOR: Duration = Duration::from_secs(2);
/// How often it checks for them meanwhile.
const YIELD_LOOK: Duration = Duration::from_millis(2);

/// What the server does by itself, and how much at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaintenanceOptions {
    /// The server runs due steps by itself. Default: true.
    pub enabled: bool,
    /// Pause between two checks for due steps, and between two runs. Default: 1 s.
    pub interval: Duration,
    /// After this long without a message of a user, new sources are read and summarised. Default: 2 min.
    pub quiet: Duration,
    /// Without such a pause, a language model reads once this many messages of a user wait, so that its instructions
    /// are paid for once per batch. Rules read every message at once. Default: 8.
    pub read_together: usize,
    /// After this long without a message, the user's sessions count as over and all other due steps run. Default: 30
    /// min, the pause that ends an episode.
    pub session_end: Duration,
    /// Pause between two users of the sweep over all users of the store, which comes after active users. Default: 5 s.
    pub sweep_pause: Duration,
    /// Shortest time between the starts of two sweeps. Default: 1 h.
    pub sweep_interval: Duration,
    /// Most events of evolution, reflection and compaction in a run. Default: 256.
    pub events_max: usize,
    /// Most messages read by rules, and most exchanges summarised, in a run. Default: 64.
    pub items_max: usize,
    /// Most messages read by a language model in a run. Default: 16.
    pub sources_max: usize,
    /// Pause before the first retry of a failed step; each further failure doubles it. Default: 30 s.
    pub backoff: Duration,
    /// Longest pause before a retry. Default: 1 h.
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

/// State of maintenance in this process.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub(crate) struct MaintenanceStatus {
    /// False if maintenance is disabled in the settings.
    enabled: bool,
    /// When the last run ended.
    last_run_at: Option<Timestamp>,
    /// Work left due for the users looked at last, by step.
    due: BTreeMap<&'static str, usize>,
    /// Steps and users whose retry is pending after a failure.
    backing_off: usize,
    /// Users that the sweep has not reached yet.
    sweep_waiting: usize,
}

/// Runs due steps.
pub(crate) struct Maintenance {
    engine: Arc<Engine>,
    /// Restricts maintenance to this user. `None`: all users.
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

    /// Restricts maintenance to one user.
    pub(crate) fn only(self, user: UserId) -> Self {
        Self { only: Some(user), ..self }
    }

    fn policy(&self) -> MutexGuard<'_, Policy> {
        self.policy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs due steps until the server stops. `is_busy` says whether a request is being answered. After `stopping`
    /// turns true, at most one more unit of work of one step is done.
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
                tracing::error!("maintenance panicked; it continues with the next user");
            }
            if is_last {
                return;
            }
        }
    }

    /// Takes over leases whose holder died. This work does not wait for requests to finish.
    pub(crate) fn take_over(&self, leases: Vec<AbandonedLease>) {
        if self.options.enabled && self.only.is_none() {
            self.policy().take_over(leases);
        }
    }

    /// Begins a sweep over all users now.
    pub(crate) fn sweep_now(&self) {
        self.policy().sweep_now();
    }

    /// Continues the work under an abandoned lease, and forgets the lease.
    fn continue_abandoned(&self, lease: &AbandonedLease, job: &Job) {
        tracing::info!(
            lease = lease.name,
            "a server died or lost the store; its work is continued here if nobody else does"
        );
        if self.do_job(job, &|| false) {
            self.metrics.takeovers.inc();
        }
        let registry = self.engine.store().registry();
        // What is not forgotten is found again.
        if let Some(Err(error)) = registry.map(|registry| registry.forget(lease)) {
            tracing::warn!(%error, "an abandoned lease cannot be forgotten");
        }
    }

    /// One check, and at most one run.
    fn round(&self, is_busy: &dyn Fn() -> bool) {
        let abandoned = self.policy().next_abandoned();
        if let Some((lease, job)) = abandoned {
            self.continue_abandoned(&lease, &job);
            return;
        }
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

    /// The next user of a new sweep, if one is due.
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

    /// Runs a job. True if there was something to do, and it was done here.
    fn do_job(&self, job: &Job, is_busy: &dyn Fn() -> bool) -> bool {
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
        outcome.is_ok_and(|report| report.fault.is_none() && !report.steps.is_empty())
    }

    fn count(&self, outcome: &quipu_engine::Result<MaintenanceReport>, start: Instant) {
        let word = match outcome {
            Ok(report) => {
                self.metrics.maintenance.ran(report);
                let faults = report.steps.iter().filter_map(|one| Some((one.step, one.fault.as_ref()?)));
                for (step, fault) in faults {
                    tracing::warn!(step = step.as_str(), fault, "a step of maintenance failed; it is retried later");
                }
                if report.fault.is_some() { "held" } else { "ok" }
            }
            Err(error) => {
                tracing::warn!(%error, "a memory cannot be maintained; it is retried later");
                "error"
            }
        };
        self.metrics.took("maintain_memory", word, start.elapsed().as_secs_f64());
    }

    /// Waits while requests are being answered. False if the rest must be left for later.
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

    /// State of maintenance in this process.
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
