//! Parses requests and replies for the proxy, and injects memory into requests.
//!
//! Apart from the stream adapter in `tee`, this code is pure: it has no clock and no store. `http/proxied.rs` is the
//! entry point.

mod aside;
mod ask;
mod credentials;
mod headers;
mod identity;
mod json;
mod reply;
mod response_chain;
mod tee;
mod turns;
mod unanswered;
mod upstream;
mod wire;

pub(crate) use aside::Asides;
pub(crate) use ask::Ask;
pub(crate) use credentials::{asks_anthropic, for_vendor_of};
pub(crate) use headers::{for_client, for_upstream};
pub(crate) use identity::{session, user};
pub(crate) use reply::{Reader, Reply};
pub(crate) use response_chain::ResponseChain;
pub(crate) use tee::{Ended, Hold, Tee};
pub(crate) use turns::{SaidTurn, reply_key, turns};
pub(crate) use unanswered::{Messages, Unanswered};
pub(crate) use upstream::{Key, address, choose, key_to_send};
pub(crate) use wire::{ChatRequest, Dialect, Speaker, read, with_blocks};
