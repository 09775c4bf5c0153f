//! Calls every operation of the engine from many threads, with a small limit on open memories, and with two engines
//! over one folder, like two processes.
//!
//! The length of a run is a number of operations. Its seed determines everything except the interleaving of threads.
//! It ends with an audit of every ledger. `QUIPU_EFFORT` makes it longer, `QUIPU_SEED` sets the seed.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]

mod audit;
mod changing;
mod coverage;
mod following;
mod keeping;
mod looking;
mod parts;
mod said;
mod saying;
mod verb;
mod watchdog;
mod worker;
mod world;

use quipu_testkit::effort;

use world::World;

#[test]
fn every_verb_from_eight_threads_leaves_sound_ledgers() {
    let world = World::new("one engine", 1);
    world.run(8, effort(20_000) as usize);
    world.expect_every_verb(8);
    audit::check(world);
}

#[test]
fn two_engines_over_one_folder_follow_each_other() {
    let world = World::new("two engines", 2);
    world.run(8, effort(1_000) as usize);
    audit::check(world);
}
