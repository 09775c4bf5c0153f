//! What enters a memory from files of other programs, and what leaves it: import, migration, export, bundles, backups.

pub mod backup;
pub mod bundle;
pub mod export;
pub mod import;
pub mod migrate;
