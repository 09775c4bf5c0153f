//! Which user's maintenance comes next, and what of it. Pure: the time is an argument, counted from the start of the server.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use quipu_core::id::{Seq, UserId};
use quipu_engine::{MaintenanceReport, MaintenanceStep};

use super::MaintenanceOptions;

/// Steps that are taken once a silence, and not again until something was said or the next sweep: they append events, and what
/// they leave for the next time is meant to wait for it.
const ONCE_A_SILENCE: [MaintenanceStep; 4] =
    [MaintenanceStep::Hits, MaintenanceStep::Evolve, MaintenanceStep::Reflect, MaintenanceStep::Compact];

/// How long a user has said nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Less than [`MaintenanceOptions::quiet`].
    Talking,
    /// At least that long: what was said is read and told.
    Quiet,
    /// At least [`MaintenanceOptions::session_end`]: everything that is due is done.
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

/// One run: some steps of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) user: UserId,
    pub(super) steps: Vec<MaintenanceStep>,
    stage: Stage,
}

/// What came of a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outcome<'a> {
    /// The engine says.
    Ran(&'a MaintenanceReport),
    /// The memory could not be looked at.
    Failed,
}

/// Something that failed, and when it is tried again.
#[derive(Debug, Clone, Copy)]
struct BackOff {
    times: u32,
    until: Duration,
}

impl BackOff {
    /// One failure more: twice as long as the last time, up to the bound.
    fn after(previous: Option<&Self>, now: Duration, options: &MaintenanceOptions) -> Self {
        let times = previous.map_or(0, |one| one.times).saturating_add(1);
        let factor = 2u32.saturating_pow(times - 1);
        let pause = options.backoff.saturating_mul(factor).min(options.backoff_max);
        Self { times, until: now + pause }
    }
}

/// What is known of a user.
#[derive(Debug)]
struct UserState {
    /// The version after which nothing happened that this process did not do itself.
    version: Seq,
    /// When something was last appended by somebody else, since the start.
    active_at: Option<Duration>,
    /// Nothing is due of the steps of this stage, unless they failed.
    done: Stage,
    last_run: Option<Duration>,
    /// Steps of [`ONCE_A_SILENCE`] that were taken in this silence.
    taken: BTreeSet<MaintenanceStep>,
    /// The whole user waits: the memory cannot be looked at, or another process does the same.
    whole: Option<BackOff>,
    failing: BTreeMap<MaintenanceStep, BackOff>,
    left: BTreeMap<MaintenanceStep, usize>,
    /// The memory was opened by a sweep and nobody else has asked for it since.
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

    /// The steps to take now, if any.
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

    /// True if nothing has to be remembered of it.
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
                // It was not taken.
                continue;
            }
            let once = ONCE_A_SILENCE.contains(&step);
            // A step that gets no further is not asked again at each round either.
            if one.is_some_and(|one| one.fault.is_some()) || (is_stuck && !once) {
                let next = BackOff::after(self.failing.get(&step), now, options);
                self.failing.insert(step, next);
                continue;
            }
            self.failing.remove(&step);
            if once {
                self.taken.insert(step);
            } else if one.is_some() {
                // It got further: there may be more of it, and of what follows from it.
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

/// How things stand, for metrics and status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// What is left due of the users that were looked at last, by step.
    pub(super) left: BTreeMap<MaintenanceStep, usize>,
    /// Steps and users that are tried again later, because they failed.
    pub(super) backing_off: usize,
    /// Users the sweep has still to come to.
    pub(super) sweep_waiting: usize,
}

/// Decides who is next.
#[derive(Debug)]
pub(super) struct Policy {
    options: MaintenanceOptions,
    users: BTreeMap<UserId, UserState>,
    sweep: Sweep,
}

impl Policy {
    pub(super) fn new(options: MaintenanceOptions) -> Self {
        Self { options, users: BTreeMap::new(), sweep: Sweep::default() }
    }

    /// Takes in which version each open memory has: a version that is new is activity of its user.
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

    /// True if the sweep is at its end and wants to know again who is in the store.
    pub(super) fn wants_users(&self, now: Duration) -> bool {
        self.options.enabled && self.sweep.waiting.is_empty() && now >= self.sweep.refresh_at
    }

    /// Takes in who is in the store.
    pub(super) fn users(&mut self, users: Vec<UserId>, now: Duration) {
        self.sweep.waiting = users.into();
        self.sweep.refresh_at = now + self.options.sweep_interval;
    }

    /// What to do now: of users that were active the one whose last run is longest ago; else the next of the sweep.
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
            // Who talks, or waits for another attempt, comes by itself.
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

    /// Takes in what came of a run, and the version of the memory after it if it is open. True if the memory may be let go: only
    /// the sweep wanted it, and nothing is left to do.
    pub(super) fn finished(&mut self, job: &Job, outcome: Outcome<'_>, version: Option<Seq>, now: Duration) -> bool {
        let options = &self.options;
        let known = self.users.entry(job.user.clone()).or_insert_with(|| UserState::new(version.unwrap_or(0), None));
        known.last_run = Some(now);
        match outcome {
            Outcome::Failed => known.whole = Some(BackOff::after(known.whole.as_ref(), now, options)),
            // Another process does it: looked at again after the shortest pause.
            Outcome::Ran(report) if report.fault.is_some() => {
                known.whole = Some(BackOff { times: 0, until: now + options.backoff });
            }
            Outcome::Ran(report) => {
                known.note(job, report, now, options);
                // What was appended meanwhile by others is looked at by the next run: there is one until nothing is due.
                if let Some(version) = version.filter(|_| !report.steps.is_empty()) {
                    known.version = version;
                }
            }
        }
        known.is_swept && known.done == Stage::Over
    }

    /// How things stand.
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
