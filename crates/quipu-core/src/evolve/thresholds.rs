//! Thresholds of schema evolution.

use crate::refusal::Refusal;

/// The support a pattern needs before it is proposed. Promotion should be rare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromotionThresholds {
    /// Number of instances; default 3, from 2 to 1,000.
    pub instances: u32,
    /// Number of days with an instance; default 3, from 1 to 366.
    pub days: u32,
    /// Greatest age of the latest instance, in days; default 365, from 1 to 36,500.
    pub recent_days: u32,
    /// Number of episodes about it; default 0, up to 1,000.
    pub links: u32,
}

impl Default for PromotionThresholds {
    fn default() -> Self {
        Self { instances: 3, days: 3, recent_days: 365, links: 0 }
    }
}

impl PromotionThresholds {
    /// The thresholds, if each is within its bounds.
    ///
    /// # Errors
    /// `Invalid` names the threshold and its bounds.
    pub fn checked(self) -> Result<Self, Refusal> {
        let knobs = [
            ("instances", self.instances, 2, 1_000),
            ("days", self.days, 1, 366),
            ("recent days", self.recent_days, 1, 36_500),
            ("links", self.links, 0, 1_000),
        ];
        for (name, value, least, most) in knobs {
            if !(least..=most).contains(&value) {
                return Err(Refusal::invalid(format!("{name} is a number from {least} to {most}, not {value}")));
            }
        }
        Ok(self)
    }
}
