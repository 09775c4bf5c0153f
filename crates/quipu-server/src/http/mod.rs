//! The door itself: connections, framing, who may ask, and which path is what.

mod accept;
mod fault;
mod health;
mod origin;
mod pass;
mod proxied;
mod router;
mod screen;

pub(crate) use accept::run;
pub(crate) use origin::Hosts;
pub(crate) use router::router;
