//! What power failures and failing system calls leave of a data folder, of plain files and of backups.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod canaries;
mod errors;
mod judge;
mod power_cut;
mod seen;
mod work;
