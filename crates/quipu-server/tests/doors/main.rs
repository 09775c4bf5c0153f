//! The server from outside: raw connections, requests through the proxy, and what is recorded of them.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod attacks;
mod conformity;
mod rig;

mod api;
mod mcp;

mod connections;
mod crowd;
mod durable;
mod faults;
mod fuzzing;
mod history;
mod inspector;
mod logged;
mod maintenance;
mod modes;
mod piped;
mod shown;
mod tls;
mod torture;
mod vendors;
