//! Random histories against a simple model: after any sequence of commands, the memory in use, a replay from the first
//! event, a snapshot with its tail, and a naive fold of a list of facts agree.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod command;
mod growing;
mod hits;
mod model;
mod sessions;
mod tree;
mod untold;
mod world;

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, UnwindSafe};
use std::sync::Once;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use quipu_engine::ports::LedgerStore;
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::postgres_server::{Admin, ROLE, copied_database, server, url};
use quipu_testkit::{MemoryStore, effort, seed};

use command::Command;
use world::World;

thread_local! {
    /// Whether a history is being tried. A failure is reported once, after shrinking.
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

static QUIET: Once = Once::new();

fn quietly(history: impl FnOnce() + UnwindSafe) -> Result<(), TestCaseError> {
    QUIET.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !TRYING.get() {
                loud(info);
            }
        }));
    });
    TRYING.set(true);
    let outcome = panic::catch_unwind(history);
    TRYING.set(false);
    outcome.map_err(|cause| {
        let text =
            cause.downcast_ref::<String>().cloned().or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string));
        TestCaseError::fail(text.unwrap_or_default())
    })
}

fn run(what: &str, cases: u32, steps: usize, tell: impl Fn(Vec<Command>)) {
    let seed = seed();
    let config = Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        max_shrink_iters: 50 * cases,
        ..Config::default()
    };
    let commands = proptest::collection::vec(command::any_command(), 1..steps);
    let outcome = TestRunner::new(config).run(&commands, |commands| quietly(AssertUnwindSafe(|| tell(commands))));
    println!("{what}: {cases} histories of up to {steps} commands, seed {seed}");
    if let Err(failure) = outcome {
        panic!("{what}, seed {seed}: {failure}");
    }
}

#[test]
fn random_histories_in_memory_are_what_the_model_says() {
    run("in memory", effort(160), 40, |commands| {
        let store = MemoryStore::new();
        World::new(&|| Box::new(store.clone())).live_through(&commands);
    });
}

#[test]
fn random_histories_on_disk_are_what_the_model_says() {
    run("on disk", effort(20), 30, |commands| {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { ballast_bytes: 0, ..StoreOptions::default() };
        let store = SqliteStore::open(folder.path(), options).unwrap();
        World::new(&|| -> Box<dyn LedgerStore> { Box::new(store.clone()) }).live_through(&commands);
    });
}

#[test]
fn random_histories_in_postgresql_are_what_the_model_says() {
    const TEMPLATE: &str = "template_quipu";
    let options = PostgresOptions::default;
    Admin::connect(server(), "postgres").run(&format!("CREATE DATABASE {TEMPLATE} OWNER {ROLE}"));
    drop(PostgresStore::open(&url(server().port, TEMPLATE), options()).unwrap());
    run("in PostgreSQL", effort(6), 30, |commands| {
        let name = copied_database(TEMPLATE);
        let store = PostgresStore::open(&url(server().port, &name), options()).unwrap();
        World::new(&|| -> Box<dyn LedgerStore> { Box::new(store.clone()) }).live_through(&commands);
        drop(store);
        // Each takes eight megabytes.
        Admin::connect(server(), "postgres").run(&format!("DROP DATABASE {name} WITH (FORCE)"));
    });
}

#[test]
fn the_commands_reach_every_outcome() {
    // A model that refuses everything would agree with an engine that does nothing.
    let store = MemoryStore::new();
    let open = || -> Box<dyn LedgerStore> { Box::new(store.clone()) };
    let mut world = World::new(&open);
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(seed()), ..Config::default() });
    let commands = proptest::collection::vec(command::any_command(), 600);
    let commands = proptest::strategy::ValueTree::current(&commands.new_tree(&mut runner).unwrap());
    world.live_through(&commands);
    for outcome in
        ["done", "replayed", "Invalid", "Refused", "NotFound", "orphan", "skipped", "erased", "left out", "promoted"]
    {
        assert!(world.seen.contains_key(outcome), "nothing was {outcome}: {:?}", world.seen);
    }
}
