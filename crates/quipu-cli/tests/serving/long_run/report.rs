//! The report of a run, and what must stay level.

use std::fmt;
use std::time::Duration;

use quipu_eval::Line;

use super::Plan;
use super::load::Tally;
use super::samples::Sample;

/// The growth of the resident memory above which a run fails, in MiB an hour.
const GROWTH_MAX_MIB_HOUR: f64 = 16.0;
/// Standard errors that the growth must be above it.
const ERRORS: f64 = 2.0;
/// Groups of samples in the second half, of which the means are fitted: samples that follow each other are not independent.
const GROUPS: usize = 30;
/// More handles or threads at the end than before, above which a run fails.
const HANDLES_MORE_MAX: usize = 16;
const THREADS_MORE_MAX: usize = 4;
/// A log is cut back to this size (`journal_size_limit` in `quipu-sqlite/src/connection.rs`).
const LOG_BYTES_MAX: u64 = 64 << 20;
const MIB: f64 = (1 << 20) as f64;

/// The figures of a run.
pub(crate) struct Report<'a> {
    pub(crate) plan: &'a Plan,
    /// Time that creating the users took.
    pub(crate) created: Duration,
    /// Requests a second in the closed loop.
    pub(crate) capacity: f64,
    pub(crate) tallies: &'a [Tally],
    pub(crate) samples: &'a [Sample],
    /// Bytes on disk and messages, before and after the steady load.
    pub(crate) before: (u64, usize),
    pub(crate) after: (u64, usize),
}

/// The value at or below which a share of the values lies.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

impl Report<'_> {
    fn halves(&self) -> (&[Sample], &[Sample]) {
        self.samples.split_at(self.samples.len() / 2)
    }

    /// The growth of the resident memory in the second half, in MiB an hour.
    fn growth(&self) -> Option<Line> {
        let (_, second) = self.halves();
        let mean = |group: &[Sample], of: fn(&Sample) -> f64| group.iter().map(of).sum::<f64>() / group.len() as f64;
        let groups = second.chunks(second.len().div_ceil(GROUPS).max(1));
        let points: Vec<(f64, f64)> = groups
            .map(|group| (mean(group, |one| one.seconds) / 3600.0, mean(group, |one| one.resident_bytes) / MIB))
            .collect();
        Line::through(&points)
    }

    /// The most of a figure before, and in the last quarter.
    fn most(&self, of: fn(&Sample) -> usize) -> (usize, usize) {
        let (before, last) = self.samples.split_at(self.samples.len() * 3 / 4);
        let most = |part: &[Sample]| part.iter().map(of).max().unwrap_or(0);
        (most(before), most(last))
    }

    /// Fails if memory, handles or threads grow, or a log does not end.
    pub(crate) fn assert_level(&self) {
        let log = self.samples.iter().map(|one| one.log_bytes_max).max().unwrap_or(0);
        assert!(log <= LOG_BYTES_MAX, "a write-ahead log has {log} bytes");
        if !self.plan.is_long {
            return;
        }
        let growth = self.growth().unwrap();
        let least = growth.slope - ERRORS * growth.slope_error.unwrap();
        assert!(
            least <= GROWTH_MAX_MIB_HOUR,
            "the resident memory grows by at least {least:.1} MiB an hour; at most {GROWTH_MAX_MIB_HOUR} are permitted"
        );
        let (before, last) = self.most(|one| one.handles);
        assert!(last <= before + HANDLES_MORE_MAX, "{before} file handles became {last}");
        let (before, last) = self.most(|one| one.threads);
        assert!(last <= before + THREADS_MORE_MAX, "{before} threads became {last}");
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, created, capacity, tallies, samples, before, after } = self;
        writeln!(
            f,
            "{} users created in {:.0} s; open memories at most {} MiB",
            plan.users,
            created.as_secs_f64(),
            plan.open_memories_mib
        )?;
        let sent: usize = tallies.iter().map(|tally| tally.took_ms.len()).sum();
        writeln!(
            f,
            "capacity {capacity:.1} requests a second; {sent} answered in {:.0} s, {:.1} a second",
            plan.seconds,
            sent as f64 / plan.seconds
        )?;
        writeln!(f, "{:<14}{:>9}{:>11}{:>11}{:>11}", "request", "answered", "p50 ms", "p99 ms", "most ms")?;
        for Tally { kind, took_ms } in *tallies {
            let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| quantile(took_ms, share));
            writeln!(f, "{:<14}{:>9}{p50:>11.1}{p99:>11.1}{most:>11.1}", kind.as_str(), took_ms.len())?;
        }
        let (first, second) = self.halves();
        for (name, part) in [("first half", first), ("second half", second)] {
            let Some((begin, end)) = part.first().zip(part.last()) else { continue };
            writeln!(
                f,
                "{name}: resident {:.1} to {:.1} MiB, handles {} to {}, threads {} to {}",
                begin.resident_bytes / MIB,
                end.resident_bytes / MIB,
                begin.handles,
                end.handles,
                begin.threads,
                end.threads
            )?;
        }
        if let Some(growth) = self.growth() {
            let error = growth.slope_error.unwrap_or(f64::NAN);
            writeln!(f, "growth in the second half: {:.2} ± {error:.2} MiB an hour", growth.slope)?;
        }
        let (handles, threads) = (self.most(|one| one.handles), self.most(|one| one.threads));
        writeln!(
            f,
            "most handles before and in the last quarter: {} and {}; threads: {} and {}",
            handles.0, handles.1, threads.0, threads.1
        )?;
        let most = |of: fn(&Sample) -> u64| samples.iter().map(of).max().unwrap_or(0) as f64 / MIB;
        writeln!(
            f,
            "write-ahead logs: largest {:.1} MiB, together at most {:.1} MiB",
            most(|one| one.log_bytes_max),
            most(|one| one.log_bytes)
        )?;
        let (grown, messages) = (after.0 as f64 - before.0 as f64, after.1 - before.1);
        write!(
            f,
            "on disk: {:.1} to {:.1} MiB, {messages} messages, {:.0} bytes each",
            before.0 as f64 / MIB,
            after.0 as f64 / MIB,
            grown / messages.max(1) as f64
        )
    }
}
