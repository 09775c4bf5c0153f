//! The pages, one file per group, and the table of all of them.

mod admin;
mod calibration;
mod conflicts;
mod core;
mod erase;
mod home;
mod item;
mod memories;
mod metrics;
mod overview;
mod pack;
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
        item::pages(),
        core::pages(),
        topics::pages(),
        tasks::pages(),
        sessions::pages(),
        timeline::pages(),
        review::pages(),
        conflicts::pages(),
        search::pages(),
        pack::pages(),
        admin::upkeep::pages(),
        privacy::pages(),
        erase::pages(),
        metrics::pages(),
        admin::server::pages(),
        calibration::pages(),
        admin::keys::pages(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
