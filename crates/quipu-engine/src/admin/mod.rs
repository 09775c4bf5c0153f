//! Keys, health, and gauges for whoever runs a server.

pub(crate) mod gauges;
pub mod keys;
pub mod status;
