//! The store behind PgBouncer, which gives each transaction another connection.

use std::fs;
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::ports::{LedgerStore, WatchEvent};
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_testkit::{Sample, contract};

use crate::server::{ROLE, database, find, free_port, server, server_folder, spawn_bound, url};

/// Starts a PgBouncer in transaction mode with fewer connections to the server than it accepts.
fn start() -> u16 {
    let folder = server_folder();
    let port = free_port();
    fs::write(folder.join("users"), format!("\"{ROLE}\" \"pass-word\"\n")).unwrap();
    let at = folder.display();
    let text = format!(
        "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = trust\nauth_file = {at}/users\npool_mode = transaction\ndefault_pool_size = 3\n\
         max_client_conn = 200\nserver_reset_query =\n",
        server().port
    );
    fs::write(folder.join("settings"), text).unwrap();
    let settings = folder.join("settings").display().to_string();
    let mut child = spawn_bound(&find("pgbouncer"), &[&settings], &folder, "TERM");
    for _ in 0..200 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return port;
        }
        assert!(child.ended().is_none(), "{}", fs::read_to_string(folder.join("log")).unwrap_or_default());
        thread::sleep(Duration::from_millis(50));
    }
    panic!("PgBouncer did not start: {}", fs::read_to_string(folder.join("log")).unwrap_or_default());
}

#[test]
fn the_contracts_hold_behind_a_pool_that_changes_connections() {
    let port = start();
    let open = |database: &str| PostgresStore::open(&url(port, database), PostgresOptions::default()).unwrap();
    contract::shared_store(&|| {
        let database = database();
        (Box::new(open(&database)), Box::new(open(&database)))
    });
    let database = database();
    contract::key_store(&open(&database).keys(), &open(&database).keys());
}

fn supports_prepared_statements() -> bool {
    let printed = Command::new(find("pgbouncer")).arg("--version").output().unwrap().stdout;
    let printed = String::from_utf8(printed).unwrap();
    let version = printed.split_whitespace().nth(1).unwrap();
    let minor: u32 = version.split('.').nth(1).unwrap().parse().unwrap();
    // From 1.24 on they are supported by default; 1.21 to 1.23 need a setting, which `start` leaves out.
    minor >= 24
}

/// PgBouncer before 1.21 gives a transaction a connection on which its statements are not prepared.
#[test]
fn a_pool_without_prepared_statements_is_named_as_the_cause() {
    let port = start();
    let url = format!("{}&prepared_statements=on", url(port, &database()));
    let told = thread::scope(|scope| {
        let work = |number: u64| {
            let url = &url;
            move || -> Result<(), String> {
                let store = PostgresStore::open(url, PostgresOptions::default()).map_err(|error| error.to_string())?;
                let user = UserId::parse(&format!("user-{number}")).unwrap();
                let mut sample = Sample::new(&user, number);
                let mut ledger = store.open(&user, true).map_err(|error| error.to_string())?;
                for seq in 0..50 {
                    ledger.append(seq, &[sample.say("a text").unwrap()]).map_err(|error| error.to_string())?;
                }
                Ok(())
            }
        };
        let workers: Vec<_> = (0..8).map(|number| scope.spawn(work(number))).collect();
        workers.into_iter().filter_map(|worker| worker.join().unwrap().err()).collect::<Vec<_>>()
    });
    let refused = |told: &String| told.contains("remove prepared_statements=on from the URL");
    assert!(told.iter().all(refused), "{told:#?}");
    assert_eq!(told.is_empty(), supports_prepared_statements(), "{told:#?}");
}

#[test]
fn many_users_at_once_share_few_connections() {
    let port = start();
    let database = database();
    let store = PostgresStore::open(&url(port, &database), PostgresOptions::default()).unwrap();
    thread::scope(|scope| {
        for number in 0..8 {
            let store = &store;
            scope.spawn(move || {
                let user = UserId::parse(&format!("user-{number}")).unwrap();
                let mut sample = Sample::new(&user, number);
                let mut ledger = store.open(&user, true).unwrap();
                let mut watch = store.watch(&user).unwrap();
                for seq in 0..20 {
                    let event = sample.say_once("a text", &format!("key {seq}")).unwrap();
                    ledger.append(seq, std::slice::from_ref(&event)).unwrap();
                    let looked = watch.look().unwrap();
                    assert!(matches!(looked, WatchEvent::Changed(head) if head.hash == event.hash), "{looked:?}");
                }
                assert_eq!(ledger.check().unwrap(), [""; 0]);
            });
        }
    });
    assert_eq!(store.users().unwrap().len(), 8);
}
