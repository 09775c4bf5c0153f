//! How many messages operations send, whatever time they take.

use quipu_engine::ports::{LedgerStore, WatchEvent};
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_testkit::Sample;

use crate::proxy::Proxy;
use crate::server::{database, me, server, url};

/// The statements among the messages: texts of statements, and statements with values.
fn statements(sent: &str) -> String {
    sent.chars().filter(|kind| "QP".contains(*kind)).collect()
}

#[test]
fn an_append_is_one_statement_in_its_transaction_and_a_look_one_message() {
    // given a ledger that is open and watched, on connections that are there
    let proxy = Proxy::start(server().port);
    let store = PostgresStore::open(&url(proxy.port, &database()), PostgresOptions::default()).unwrap();
    let mut ledger = store.open(&me(), true).unwrap();
    let mut watch = store.watch(&me()).unwrap();
    let mut sample = Sample::new(&me(), 1);
    watch.look().unwrap();
    ledger.append(0, &[sample.say("one").unwrap()]).unwrap();
    proxy.sent();
    // when events are appended, with and without a key
    for (seq, event) in [(1, sample.say("two").unwrap()), (2, sample.say_once("three", "a key").unwrap())] {
        ledger.append(seq, std::slice::from_ref(&event)).unwrap();
        // then the beginning with the settings, the append and the end are sent
        assert_eq!(statements(&proxy.sent()), "QPQ", "{seq}");
        // and a look at the ledger, and its head, are one message each
        assert_eq!(watch.look().unwrap(), WatchEvent::Changed(ledger.head().unwrap()));
        assert_eq!(proxy.sent(), "QQ");
        assert_eq!(ledger.head().unwrap().hash, event.hash);
        assert_eq!(watch.look().unwrap(), WatchEvent::Same);
        assert_eq!(proxy.sent(), "QQ");
    }
    // and payloads are never part of a text of statements
    assert_eq!(ledger.key_use("a key").unwrap().unwrap().seq, 3);
    assert_eq!(statements(&proxy.sent()), "QPQ");
}

#[test]
fn a_prepared_statement_is_sent_once_for_a_connection() {
    // given a store with one connection that prepares statements
    let proxy = Proxy::start(server().port);
    let url = format!("{}&prepared_statements=on", url(proxy.port, &database()));
    let store =
        PostgresStore::open(&url, PostgresOptions { connections_max: 1, ..PostgresOptions::default() }).unwrap();
    let mut ledger = store.open(&me(), true).unwrap();
    let mut sample = Sample::new(&me(), 1);
    proxy.sent();
    // when events are appended
    ledger.append(0, &[sample.say("one").unwrap()]).unwrap();
    let first = statements(&proxy.sent());
    ledger.append(1, &[sample.say("two").unwrap()]).unwrap();
    ledger.append(2, &[sample.say("three").unwrap()]).unwrap();
    // then the first one sends the statement before its transaction, and the others only its values
    assert_eq!(first, "PQQ");
    assert_eq!(statements(&proxy.sent()), "QQQQ");
    assert_eq!(ledger.head().unwrap().seq, 3);
}
