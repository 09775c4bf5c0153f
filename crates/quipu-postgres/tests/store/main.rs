//! The store on a real server, which is started for these tests.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod ambiguous;
mod contract;
mod encryption;
mod exchange;
mod isolation;
mod lint;
mod lost_connections;
mod messages;
mod pgbouncer;
mod proxy;
mod racing;
mod schema;
mod server;
mod sharding;
mod speed;
mod tls;
