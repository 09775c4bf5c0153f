//! Stores and databases on the PostgreSQL server of this program.

use std::sync::Once;

use quipu_core::id::UserId;
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::UserLedger;
use quipu_postgres::{PostgresOptions, PostgresStore};
pub(crate) use quipu_testkit::postgres_server::{
    Admin, ROLE, bare_database, copied_database, find, free_port, server, server_folder, spawn_bound, url,
};

const TEMPLATE: &str = "template_quipu";

/// Every event of a ledger.
pub(crate) fn everything(ledger: &mut dyn UserLedger) -> Vec<SealedEvent> {
    let mut events = Vec::new();
    ledger
        .read(1..=u64::MAX >> 1, &mut |event| {
            events.push(event);
            true
        })
        .unwrap();
    events
}

pub(crate) fn me() -> UserId {
    UserId::parse("me").unwrap()
}

pub(crate) fn other() -> UserId {
    UserId::parse("other").unwrap()
}

/// A new database with an empty schema of the store.
pub(crate) fn database() -> String {
    static MADE: Once = Once::new();
    MADE.call_once(|| {
        Admin::connect(server(), "postgres").run(&format!("CREATE DATABASE {TEMPLATE} OWNER {ROLE}"));
        drop(open(TEMPLATE));
    });
    copied_database(TEMPLATE)
}

/// A store on a new database.
pub(crate) fn store() -> PostgresStore {
    open(&database())
}

/// A store on a database.
pub(crate) fn open(database: &str) -> PostgresStore {
    PostgresStore::open(&url(server().port, database), PostgresOptions::default()).unwrap()
}
