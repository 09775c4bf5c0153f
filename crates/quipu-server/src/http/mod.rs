//! The door itself: connections, framing, who may ask, and which path is what.

mod accept;
mod api;
mod caller;
mod fault;
mod health;
mod origin;
mod pass;
mod proxied;
mod rate;
mod router;
mod screen;

pub(crate) use accept::run;
pub(crate) use origin::Hosts;
pub(crate) use rate::Rates;
pub(crate) use router::router;
