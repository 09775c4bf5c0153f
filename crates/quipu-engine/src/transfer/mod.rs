//! Moves memories in and out: import from other systems, migration of flat text, export, bundles, backups.

pub mod backup;
pub mod bundle;
pub mod export;
pub mod import;
pub mod migrate;
