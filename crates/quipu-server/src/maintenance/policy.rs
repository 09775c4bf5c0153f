//! Chooses the next user and steps of maintenance. Pure: times are arguments, measured from the start of the server.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use quipu_core::id::{Seq, UserId};
use quipu_engine::ports::AbandonedLease;
use quipu_engine::{MaintenanceReport, MaintenanceStep};

use super::MaintenanceOptions;

/// Steps that run once per pause, and again only after a new message or in the next sweep: they append events, and work
/// they leave over is meant for the next pause.
const ONCE_A_SILENCE: [MaintenanceStep; 4] =
    [MaintenanceStep::Hits, MaintenanceStep::Evolve, MaintenanceStep::Reflect, MaintenanceStep::Compact];

/// How long ago a user's last message was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Less than [`MaintenanceOptions::quiet`].
    Talking,
    /// At least that long: new sources are read and summarised.
    Quiet,
    /// At least [`MaintenanceOptions::session_end`]: all due steps run.
    Over,
}

impl Stage {
    fn steps(self) -> impl Iterator<Item = MaintenanceStep> {
        let wanted = move |step: &MaintenanceStep| match self {
            Self::Talking => false,
            Self::Quiet => !ONCE_A_SILENCE.contains(step),
            Self::Over => true,
        };
        MaintenanceStep::ALL.into_iter().filter(wanted)
    }
}

/// One run: some steps for one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) user: UserId,
    pub(super) steps: Vec<MaintenanceStep>,
    stage: Stage,
}

/// Result of a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outcome<'a> {
    /// The engine's report.
    Ran(&'a MaintenanceReport),
    /// The memory could not be opened.
    Failed,
}

/// A failure, and when to retry.
#[derive(Debug, Clone, Copy)]
struct BackOff {
    times: u32,
    until: Duration,
}

impl BackOff {
    /// The state after one more failure: twice the last pause, up to the bound.
    fn after(previous: Option<&Self>, now: Duration, options: &MaintenanceOptions) -> Self {
        let times = previous.map_or(0, |one| one.times).saturating_add(1);
        let factor = 2u32.saturating_pow(times - 1);
        let pause = options.backoff.saturating_mul(factor).min(options.backoff_max);
        Self { times, until: now + pause }
    }
}

/// State of a user.
#[derive(Debug)]
struct UserState {
    /// The version up to which events have been observed; later ones are activity of somebody else.
    version: Seq,
    /// When somebody else last appended, measured from the start of the server.
    active_at: Option<Duration>,
    /// The steps of this stage have nothing due, unless they failed.
    done: Stage,
    last_run: Option<Duration>,
    /// Steps of [`ONCE_A_SILENCE`] that already ran in this pause.
    taken: BTreeSet<MaintenanceStep>,
    /// Backs off the whole user: the memory cannot be opened, or another process maintains it.
    whole: Option<BackOff>,
    failing: BTreeMap<MaintenanceStep, BackOff>,
    left: BTreeMap<MaintenanceStep, usize>,
    /// A sweep opened the memory, and nobody else has used it since.
    is_swept: bool,
}

impl UserState {
    fn new(version: Seq, active_at: Option<Duration>) -> Self {
        Self {
            version,
            active_at,
            done: Stage::Talking,
            last_run: None,
            taken: BTreeSet::new(),
            whole: None,
            failing: BTreeMap::new(),
            left: BTreeMap::new(),
            is_swept: active_at.is_none(),
        }
    }

    fn active(&mut self, version: Seq, now: Duration) {
        self.version = version;
        self.active_at = Some(now);
        self.done = Stage::Talking;
        self.taken.clear();
        self.is_swept = false;
    }

    fn stage(&self, now: Duration, options: &MaintenanceOptions) -> Stage {
        let silent = self.active_at.map(|at| now.saturating_sub(at));
        match silent {
            Some(silent) if silent < options.quiet.min(options.session_end) => Stage::Talking,
            Some(silent) if silent < options.session_end => Stage::Quiet,
            _ => Stage::Over,
        }
    }

    fn is_backing_off(&self, step: MaintenanceStep, now: Duration) -> bool {
        self.failing.get(&step).is_some_and(|one| one.until > now)
    }

    /// The steps to run now, if any.
    fn steps(&self, now: Duration, options: &MaintenanceOptions) -> Vec<MaintenanceStep> {
        if self.whole.is_some_and(|one| one.until > now) {
            return Vec::new();
        }
        let stage = self.stage(now, options);
        let is_new = stage > self.done || self.whole.is_some();
        let is_wanted = |step: &MaintenanceStep| {
            let is_failing = self.failing.contains_key(step);
            !self.is_backing_off(*step, now) && (is_failing || (is_new && !self.taken.contains(step)))
        };
        stage.steps().filter(is_wanted).collect()
    }

    /// True if nothing has to be remembered about the user.
    fn is_settled(&self) -> bool {
        self.done == Stage::Over && self.failing.is_empty() && self.whole.is_none()
    }

    fn note(&mut self, job: &Job, report: &MaintenanceReport, now: Duration, options: &MaintenanceOptions) {
        self.whole = None;
        for &step in &job.steps {
            let one = report.steps.iter().find(|one| one.step == step);
            let left = one.map_or(0, |one| one.left);
            match left {
                0 => drop(self.left.remove(&step)),
                left => drop(self.left.insert(step, left)),
            }
            let is_stuck = one.is_some_and(|one| one.left >= one.due && one.fault.is_none());
            if is_stuck && report.stopped {
                // It did not run.
                continue;
            }
            let once = ONCE_A_SILENCE.contains(&step);
            // A step without progress is not retried in each round either.
            if one.is_some_and(|one| one.fault.is_some()) || (is_stuck && !once) {
                let next = BackOff::after(self.failing.get(&step), now, options);
                self.failing.insert(step, next);
                continue;
            }
            self.failing.remove(&step);
            if once {
                self.taken.insert(step);
            } else if one.is_some() {
                // It made progress: it, or a step that depends on it, may have more to do.
                self.done = Stage::Talking;
            }
        }
        if report.steps.is_empty() {
            self.done = self.done.max(job.stage);
        }
    }
}

/// The slow sweep over all users of the store.
#[derive(Debug, Default)]
struct Sweep {
    waiting: VecDeque<UserId>,
    next_at: Duration,
    refresh_at: Duration,
}

/// State for metrics and status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Work left due for the users looked at last, by step.
    pub(super) left: BTreeMap<MaintenanceStep, usize>,
    /// Steps and users whose retry is pending after a failure.
    pub(super) backing_off: usize,
    /// Users that the sweep has not reached yet.
    pub(super) sweep_waiting: usize,
}

/// Chooses the next run.
#[derive(Debug)]
pub(super) struct Policy {
    options: MaintenanceOptions,
    users: BTreeMap<UserId, UserState>,
    sweep: Sweep,
    /// Leases of dead servers, whose work is next.
    abandoned: VecDeque<AbandonedLease>,
}

impl Policy {
    pub(super) fn new(options: MaintenanceOptions) -> Self {
        Self { options, users: BTreeMap::new(), sweep: Sweep::default(), abandoned: VecDeque::new() }
    }

    /// Takes the versions of all open memories: a new version is activity of its user.
    pub(super) fn observe(&mut self, open: Vec<(UserId, Seq)>, now: Duration) {
        let open: HashMap<UserId, Seq> = open.into_iter().collect();
        self.users.retain(|user, known| open.contains_key(user) || !known.is_settled());
        for (user, version) in open {
            match self.users.get_mut(&user) {
                Some(known) if known.version == version => {}
                Some(known) => known.active(version, now),
                None => drop(self.users.insert(user, UserState::new(version, Some(now)))),
            }
        }
    }

    /// Takes leases whose holder died.
    pub(super) fn take_over(&mut self, leases: Vec<AbandonedLease>) {
        // A newer list contains what is left of an older one.
        self.abandoned = leases.into();
    }

    /// The next abandoned lease, and the run that continues its work.
    pub(super) fn next_abandoned(&mut self) -> Option<(AbandonedLease, Job)> {
        let lease = self.abandoned.pop_front()?;
        // A single kind of work was going on, unless it was maintenance or a reflection, which come after a session.
        let stage = if ["maintain", "reflect"].contains(&lease.name.as_str()) { Stage::Over } else { Stage::Quiet };
        let job = Job { user: lease.user.clone(), steps: stage.steps().collect(), stage };
        Some((lease, job))
    }

    /// Begins a sweep now: a list of users is wanted, even if the last sweep is not over.
    pub(super) fn sweep_now(&mut self) {
        self.sweep.waiting.clear();
        self.sweep.refresh_at = Duration::ZERO;
    }

    /// True if the next sweep needs a list of the store's users.
    pub(super) fn wants_users(&self, now: Duration) -> bool {
        self.options.enabled && self.sweep.waiting.is_empty() && now >= self.sweep.refresh_at
    }

    /// Takes the users of the store, for a new sweep.
    pub(super) fn users(&mut self, users: Vec<UserId>, now: Duration) {
        self.sweep.waiting = users.into();
        self.sweep.refresh_at = now + self.options.sweep_interval;
    }

    /// The next run: the active user whose last run is longest ago, else the next user of the sweep.
    pub(super) fn next(&mut self, now: Duration) -> Option<Job> {
        if !self.options.enabled {
            return None;
        }
        let ready = self.users.iter().filter_map(|(user, known)| {
            let steps = known.steps(now, &self.options);
            (!steps.is_empty()).then(|| (known.last_run, user, steps, known.stage(now, &self.options)))
        });
        if let Some((_, user, steps, stage)) = ready.min_by_key(|(last_run, user, ..)| (*last_run, *user)) {
            return Some(Job { user: user.clone(), steps, stage });
        }
        self.next_of_sweep(now)
    }

    fn next_of_sweep(&mut self, now: Duration) -> Option<Job> {
        if now < self.sweep.next_at {
            return None;
        }
        while let Some(user) = self.sweep.waiting.pop_front() {
            let known = self.users.get(&user);
            // Users who are active or backed off are handled without the sweep.
            let comes = |known: &UserState| known.stage(now, &self.options) != Stage::Over || known.whole.is_some();
            if known.is_some_and(comes) {
                continue;
            }
            let waits = |step: &MaintenanceStep| known.is_some_and(|known| known.failing.contains_key(step));
            let steps = Stage::Over.steps().filter(|step| !waits(step)).collect();
            self.sweep.next_at = now + self.options.sweep_pause;
            return Some(Job { user, steps, stage: Stage::Over });
        }
        None
    }

    /// Takes the outcome of a run, and the version of the memory after it if it is open. True if the memory may be
    /// closed: only the sweep used it, and nothing is left to do.
    pub(super) fn finished(&mut self, job: &Job, outcome: Outcome<'_>, version: Option<Seq>, now: Duration) -> bool {
        let options = &self.options;
        let known = self.users.entry(job.user.clone()).or_insert_with(|| UserState::new(version.unwrap_or(0), None));
        known.last_run = Some(now);
        match outcome {
            Outcome::Failed => known.whole = Some(BackOff::after(known.whole.as_ref(), now, options)),
            // Another process does it: retried after the shortest pause.
            Outcome::Ran(report) if report.fault.is_some() => {
                known.whole = Some(BackOff { times: 0, until: now + options.backoff });
            }
            Outcome::Ran(report) => {
                known.note(job, report, now, options);
                // What others appended meanwhile is handled by the next run, which follows until nothing is due.
                if let Some(version) = version.filter(|_| !report.steps.is_empty()) {
                    known.version = version;
                }
            }
        }
        known.is_swept && known.done == Stage::Over
    }

    /// State for metrics and status.
    pub(super) fn tally(&self) -> Tally {
        let mut tally = Tally { sweep_waiting: self.sweep.waiting.len(), ..Tally::default() };
        for known in self.users.values() {
            known.left.iter().for_each(|(step, left)| *tally.left.entry(*step).or_default() += left);
            tally.backing_off += known.failing.len() + usize::from(known.whole.is_some());
        }
        tally
    }
}

#[cfg(test)]
mod tests;
