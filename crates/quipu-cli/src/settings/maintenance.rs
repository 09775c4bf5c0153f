//! Settings of background maintenance in the server.

use std::time::Duration;

use quipu_engine::{Error, Result};
use quipu_server::MaintenanceOptions;
use serde::Deserialize;

/// Shortest interval between two checks, in milliseconds.
const INTERVAL_MS_MIN: u64 = 10;

/// `[maintenance]` of the settings file. Defaults are those of [`MaintenanceOptions`].
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Maintenance {
    enabled: Option<bool>,
    interval_ms: Option<u64>,
    quiet_ms: Option<u64>,
    read_together: Option<usize>,
    session_end_ms: Option<u64>,
    sweep_pause_ms: Option<u64>,
    sweep_interval_ms: Option<u64>,
    events_max: Option<usize>,
    items_max: Option<usize>,
    sources_max: Option<usize>,
    backoff_ms: Option<u64>,
    backoff_max_ms: Option<u64>,
}

impl Maintenance {
    /// Checks the settings and adds defaults.
    ///
    /// # Errors
    /// `Invalid` for an interval that is too short, and for a budget of zero.
    pub(super) fn checked(&self) -> Result<MaintenanceOptions> {
        let usual = MaintenanceOptions::default();
        if self.interval_ms.is_some_and(|interval| interval < INTERVAL_MS_MIN) {
            return Err(Error::Invalid(format!("[maintenance]: interval_ms must be at least {INTERVAL_MS_MIN}")));
        }
        let budgets = [
            ("events_max", self.events_max),
            ("items_max", self.items_max),
            ("sources_max", self.sources_max),
            ("read_together", self.read_together),
        ];
        if let Some((name, _)) = budgets.iter().find(|(_, budget)| *budget == Some(0)) {
            return Err(Error::Invalid(format!(
                "[maintenance]: {name} must be at least 1; enabled = false turns maintenance off"
            )));
        }
        let pause = |set: Option<u64>, usual: Duration| set.map_or(usual, Duration::from_millis);
        Ok(MaintenanceOptions {
            enabled: self.enabled.unwrap_or(usual.enabled),
            interval: pause(self.interval_ms, usual.interval),
            quiet: pause(self.quiet_ms, usual.quiet),
            read_together: self.read_together.unwrap_or(usual.read_together),
            session_end: pause(self.session_end_ms, usual.session_end),
            sweep_pause: pause(self.sweep_pause_ms, usual.sweep_pause),
            sweep_interval: pause(self.sweep_interval_ms, usual.sweep_interval),
            events_max: self.events_max.unwrap_or(usual.events_max),
            items_max: self.items_max.unwrap_or(usual.items_max),
            sources_max: self.sources_max.unwrap_or(usual.sources_max),
            backoff: pause(self.backoff_ms, usual.backoff),
            backoff_max: pause(self.backoff_max_ms, usual.backoff_max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<MaintenanceOptions> {
        let set: Maintenance = toml::from_str(text).ok()?;
        set.checked().ok()
    }

    #[test]
    fn what_is_left_out_is_as_usual_and_what_makes_no_sense_is_an_error() {
        assert_eq!(check(""), Some(MaintenanceOptions::default()));
        let off = MaintenanceOptions { enabled: false, ..MaintenanceOptions::default() };
        assert_eq!(check("enabled = false"), Some(off));
        let quick = check("interval_ms = 50\nquiet_ms = 5000\nsources_max = 4\nread_together = 2");
        let wanted = MaintenanceOptions {
            interval: Duration::from_millis(50),
            quiet: Duration::from_secs(5),
            sources_max: 4,
            read_together: 2,
            ..MaintenanceOptions::default()
        };
        assert_eq!(quick, Some(wanted));
        for wrong in ["interval_ms = 0", "items_max = 0", "intervall_ms = 50", "enabled = \"yes\""] {
            assert_eq!(check(wrong), None, "{wrong}");
        }
    }
}
