//! The pages, one file per group, and the table of all of them.

mod admin;
mod ask;
mod bulk;
mod conflicts;
mod core;
mod erase;
mod home;
mod import;
mod item;
mod memories;
mod overview;
mod pack;
mod people;
mod privacy;
mod review;
mod search;
mod sessions;
mod tasks;
mod timeline;
mod topics;

use quipu_engine::ports::Scope;

use super::frame::{Page, PageContext, PageResult};
use crate::http::Fault;

/// All pages.
pub(super) fn all() -> Vec<Page> {
    [
        home::pages(),
        overview::pages(),
        memories::pages(),
        bulk::pages(),
        item::pages(),
        core::pages(),
        topics::pages(),
        people::pages(),
        tasks::pages(),
        sessions::pages(),
        timeline::pages(),
        review::pages(),
        conflicts::pages(),
        ask::pages(),
        search::pages(),
        pack::pages(),
        admin::upkeep::pages(),
        import::pages(),
        privacy::pages(),
        erase::pages(),
        admin::metrics::pages(),
        admin::server::pages(),
        admin::calibration::pages(),
        admin::keys::pages(),
        vec![Page::get("/ui", Scope::Read, front), Page::get("/ui/{*rest}", Scope::Read, unknown)],
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn front(_: &PageContext<'_>) -> Result<PageResult, Fault> {
    Ok(PageResult::See("/".to_owned()))
}

fn unknown(_: &PageContext<'_>) -> Result<PageResult, Fault> {
    Err(Fault::not_found("there is no such page"))
}
