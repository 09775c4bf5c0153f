//! The ledger as history: log, versions, blame, revert, fork, erasure, and proof that it is intact.

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
