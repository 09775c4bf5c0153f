//! Moves memories in and out: import from other systems, migration of flat text, export, bundles, backups, moves
//! to another store.

pub mod backup;
pub mod bundle;
pub mod export;
pub mod import;
pub mod migrate;
pub mod move_ledgers;
