//! The knobs of evolution.

use crate::refusal::Refusal;

/// How much must speak for a category before it is proposed. Promotion should be rare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromotionThresholds {
    /// How often something of it was written down or said; default 3, from 2 to 1,000.
    pub instances: u32,
    /// On how many days; default 3, from 1 to 366.
    pub days: u32,
    /// It was seen within so many days; default 365, from 1 to 36,500.
    pub recent_days: u32,
    /// Episodes that tell of it; default 0, up to 1,000.
    pub links: u32,
}

impl Default for PromotionThresholds {
    fn default() -> Self {
        Self { instances: 3, days: 3, recent_days: 365, links: 0 }
    }
}

impl PromotionThresholds {
    /// The knobs, if each is within its bounds.
    ///
    /// # Errors
    /// `Invalid` names the knob and its bounds.
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
