//! The history of a ledger: log, versions, diff, blame, revert, fork, erasure, verification.

pub(crate) mod after_revert;
pub(crate) mod announce;
pub(crate) mod blame;
pub(crate) mod diff;
pub mod erase;
pub(crate) mod erasure_cascade;
pub(crate) mod erasure_epoch;
pub mod fork;
pub(crate) mod item_versions;
pub mod log;
pub mod revert;
pub mod verify;
pub mod versions;
