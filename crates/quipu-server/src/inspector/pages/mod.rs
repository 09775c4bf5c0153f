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

use super::frame::Page;

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
    ]
    .into_iter()
    .flatten()
    .collect()
}
