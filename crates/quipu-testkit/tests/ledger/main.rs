//! What a ledger promises: the contract of stores, damage, forgery, full disks, released formats, hostile input, and the projections of
//! sessions and facts.

mod contract;
mod damage;
mod disk_full;
mod forged;
mod fuzz_smoke;
mod golden;
mod moving;
mod sessions;
mod understanding;
