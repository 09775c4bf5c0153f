//! The contracts of the ports.

use quipu_postgres::{PostgresKeys, PostgresOptions, PostgresStore, PostgresUserKeys};
use quipu_testkit::contract;

use crate::server::{bare_database, database, open, server, store, url};

#[test]
fn the_postgres_store_keeps_the_contract() {
    contract::ledger_store(&|| Box::new(store()));
    contract::sealable_store(&|| Box::new(store()));
}

#[test]
fn the_store_keeps_the_contract_with_prepared_statements() {
    let open = || {
        let url = format!("{}&prepared_statements=on", url(server().port, &database()));
        PostgresStore::open(&url, PostgresOptions::default()).unwrap()
    };
    contract::ledger_store(&|| Box::new(open()));
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

#[test]
fn the_postgres_user_keys_keep_the_contract() {
    let database = bare_database();
    let open = || PostgresUserKeys::open(&url(server().port, &database), PostgresOptions::default()).unwrap();
    contract::user_key_store(&open(), &open());
}
