//! Pages about the server itself: keys, health, maintenance.

pub(super) mod calibration;
pub(in crate::inspector::pages) mod keys;
pub(super) mod metrics;
pub(in crate::inspector::pages) mod server;
pub(in crate::inspector::pages) mod upkeep;
