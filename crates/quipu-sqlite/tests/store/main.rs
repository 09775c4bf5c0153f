//! Tests of the store on real files. Files named `damage_…` are named after the damage they cause.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod backup;
mod damage_crashed_step;
mod damage_files;
mod damage_full_disk;
mod erase;
mod fixture;
mod keys;
mod ledger;
mod lock;
mod projections;
mod users;
