//! The HTTP front end: connections, framing, authentication and routing.

mod accept;
mod api;
mod breaking;
mod caller;
mod counted;
mod fault;
mod health;
mod mcp;
mod oauth;
mod origin;
mod pass;
mod proxied;
mod rate;
mod router;
mod screen;

pub(crate) use accept::{answer_stream, run};
pub(crate) use api::{step_stream, version_stream};
pub(crate) use caller::{Caller, RequestContext};
pub(crate) use fault::Fault;
pub(crate) use origin::Hosts;
pub(crate) use pass::collect_up_to;
pub(crate) use rate::{Rates, RemainingTokens};
pub(crate) use router::router;
