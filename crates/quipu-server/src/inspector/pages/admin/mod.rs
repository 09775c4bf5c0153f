//! Pages about the server itself: keys, health, maintenance.

pub(in crate::inspector::pages) mod keys;
pub(in crate::inspector::pages) mod server;
pub(in crate::inspector::pages) mod upkeep;
