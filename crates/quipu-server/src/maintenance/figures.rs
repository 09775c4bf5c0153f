//! Metrics of maintenance.

use jiff::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use quipu_engine::{MaintenanceReport, MaintenanceStep};

use super::policy::Tally;

/// A step and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Run {
    step: &'static str,
    outcome: &'static str,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Step {
    step: &'static str,
}

/// Metrics of maintenance.
#[derive(Default)]
pub(crate) struct Figures {
    runs: Family<Run, Counter>,
    due: Family<Step, Gauge>,
    last_run: Gauge,
    backing_off: Gauge,
    sweep_waiting: Gauge,
}

impl Figures {
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("maintenance_runs", "Steps of maintenance, by outcome", self.runs.clone());
        registry.register("maintenance_due", "Work left due for the users looked at last, by step", self.due.clone());
        registry.register_with_unit(
            "maintenance_last_run_timestamp",
            "Time of the last maintenance run, in seconds since 1970",
            Unit::Seconds,
            self.last_run.clone(),
        );
        registry.register(
            "maintenance_backing_off",
            "Steps and users whose retry is pending after a failure",
            self.backing_off.clone(),
        );
        registry.register(
            "maintenance_sweep_waiting",
            "Users that the sweep over the store has not reached yet",
            self.sweep_waiting.clone(),
        );
    }

    /// Counts a run: per step `done`, `left` (some stays due), `failed`, `held` (another process does it) or `stopped`.
    pub(super) fn ran(&self, report: &MaintenanceReport) {
        for one in &report.steps {
            let outcome = match (&report.fault, &one.fault) {
                (_, Some(_)) => "failed",
                _ if one.left == 0 => "done",
                _ if one.left < one.due => "left",
                (Some(_), _) => "held",
                _ if report.stopped => "stopped",
                _ => "left",
            };
            self.runs.get_or_create(&Run { step: one.step.as_str(), outcome }).inc();
        }
    }

    /// Updates the gauges after a run that has just ended.
    pub(super) fn stands(&self, tally: &Tally, now: Timestamp) {
        let figure = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        for step in MaintenanceStep::ALL {
            let left = tally.left.get(&step).copied().unwrap_or(0);
            self.due.get_or_create(&Step { step: step.as_str() }).set(figure(left));
        }
        self.backing_off.set(figure(tally.backing_off));
        self.sweep_waiting.set(figure(tally.sweep_waiting));
        self.last_run.set(now.as_second());
    }
}
