//! The contracts of the ports.

use quipu_postgres::{PostgresKeys, PostgresOptions};
use quipu_testkit::contract;

use crate::server::{database, open, server, store, url};

#[test]
fn the_postgres_store_keeps_the_contract() {
    contract::ledger_store(&|| Box::new(store()));
}

#[test]
fn the_postgres_store_keeps_the_contract_of_sharing() {
    contract::shared_store(&|| {
        let database = database();
        (Box::new(open(&database)), Box::new(open(&database)))
    });
}

#[test]
fn the_postgres_keys_keep_the_contract() {
    let database = database();
    let again = PostgresKeys::open(&url(server().port, &database), PostgresOptions::default()).unwrap();
    contract::key_store(&open(&database).keys(), &again);
}
