//! The pages, one file per group, and the table of all of them.

mod calibration;
mod conflicts;
mod core;
mod erase;
mod home;
mod item;
mod keys;
mod memories;
mod metrics;
mod overview;
mod pack;
mod privacy;
mod review;
mod search;
mod server;
mod sessions;
mod tasks;
mod timeline;
mod topics;
mod upkeep;

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
        upkeep::pages(),
        privacy::pages(),
        erase::pages(),
        metrics::pages(),
        server::pages(),
        calibration::pages(),
        keys::pages(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
