//! The routes of the mem0 platform, so that its published clients work with another `host`. The wire format is mem0's;
//! the semantics of a memory are Quipu's.
//!
//! A `user_id` is a user. Without one the memory is that of the agent, app or run: the users `agent:NAME`, `app:NAME`
//! and `run:NAME`. The id of a memory is `USER~ITEM`, so that a path names its owner.

mod add;
mod entities;
mod filter;
mod find;
mod record;
mod single;
mod whose;

use super::frame::Route;

pub(super) fn routes() -> Vec<Route> {
    [add::routes(), find::routes(), single::routes(), entities::routes()].into_iter().flatten().collect()
}
