//! Administration: API keys, status and health checks, gauges for server metrics.

pub(crate) mod gauges;
pub mod keys;
pub mod status;
