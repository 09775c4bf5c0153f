//! Creating the schema, and refusing others.

use std::thread;

use jiff::{SignedDuration, Timestamp};
use quipu_engine::ports::{AbandonedLease, LeaseRequest, LedgerStore, ServerRecord, StoreError, UserLedger};
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_testkit::Sample;

use crate::server::{Admin, ROLE, bare_database, database, me, open, server, url};

fn opened(database: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(&url(server().port, database), PostgresOptions::default())
}

#[test]
fn an_empty_database_gets_the_schema_once_however_many_open_it() {
    let database = bare_database();
    let stores: Vec<PostgresStore> = thread::scope(|scope| {
        let opening: Vec<_> = (0..4).map(|_| scope.spawn(|| opened(&database).unwrap())).collect();
        opening.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let event = Sample::new(&me(), 1).say("one").unwrap();
    stores[0].open(&me(), true).unwrap().append(0, std::slice::from_ref(&event)).unwrap();
    assert_eq!(stores[3].open(&me(), false).unwrap().head().unwrap().seq, 1);
    let mut admin = Admin::connect(server(), &database);
    assert_eq!(admin.rows("SELECT version FROM quipu.schema_version ORDER BY version"), [["1"], ["2"]]);
    let partitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'quipu.events'::regclass";
    assert_eq!(admin.rows(partitions), [["64"]]);
    // Every table and partition is behind the second lock.
    let open_tables = "SELECT relname FROM pg_class WHERE relnamespace = 'quipu'::regnamespace AND relkind IN ('r', 'p') \
                       AND NOT (relrowsecurity AND relforcerowsecurity)";
    assert_eq!(admin.rows(open_tables), [["schema_version"]]);
}

#[test]
fn a_newer_schema_is_refused() {
    let database = database();
    let running = open(&database);
    running.open(&me(), true).unwrap();
    Admin::connect(server(), &database)
        .run("INSERT INTO quipu.schema_version (version) SELECT max(version) + 1 FROM quipu.schema_version");
    let told = opened(&database).map(drop).unwrap_err();
    assert!(
        matches!(&told, StoreError::Corrupt(text) if text.contains("newer Quipu") && text.contains("Upgrade")),
        "{told}"
    );
}

#[test]
fn a_database_of_the_first_version_is_upgraded_with_what_is_in_it() {
    let database = bare_database();
    let mut owner = Admin::open(&url(server().port, &database));
    owner.run("CREATE SCHEMA quipu");
    owner.run(include_str!("../../src/sql/migrations/0001_ledger.sql"));
    owner.run("INSERT INTO quipu.schema_version (version) VALUES (1)");
    let hash = "decode(repeat('00', 32), 'hex')";
    owner.run(&format!(
        "BEGIN; SET LOCAL quipu.user_id = 'me'; \
         INSERT INTO quipu.heads (user_id, fence, state, seq, hash) VALUES ('me', gen_random_uuid(), 0, 0, {hash}); \
         INSERT INTO quipu.leases (user_id, fence, name, holder, until) SELECT 'me', fence, 'extract', 1, 5 FROM quipu.heads; COMMIT"
    ));
    let store = opened(&database).unwrap();
    let event = Sample::new(&me(), 3).say("one").unwrap();
    store.open(&me(), false).unwrap().append(0, std::slice::from_ref(&event)).unwrap();
    let registry = store.registry().unwrap();
    let own = ServerRecord { id: "1".to_owned(), name: "east".to_owned(), version: "0".to_owned() };
    registry.beat(&own).unwrap();
    registry.beat(&own).unwrap();
    let servers = registry.servers().unwrap();
    assert!(servers.len() == 1 && servers[0].record == own && servers[0].is_live(), "{servers:?}");
    // A lease of before the upgrade was abandoned long ago.
    let abandoned = registry.abandoned().unwrap();
    assert_eq!(abandoned, [AbandonedLease { user: me(), name: "extract".to_owned() }]);
    registry.forget(&abandoned[0]).unwrap();
    assert_eq!(registry.abandoned().unwrap(), []);
    registry.leave("1").unwrap();
    assert_eq!(registry.servers().unwrap(), []);
}

#[test]
fn a_lease_follows_the_clock_of_the_database() {
    let store = open(&database());
    let mut ledger = store.open(&me(), true).unwrap();
    let take = |ledger: &mut dyn UserLedger, holder, now: &str, lasts| {
        let now: Timestamp = now.parse().unwrap();
        ledger
            .lease(&LeaseRequest { name: "extract", holder, now, until: now + SignedDuration::from_secs(lasts) })
            .unwrap()
    };
    assert!(take(&mut *ledger, 1, "2030-01-01T00:00:00Z", 1000));
    assert!(!take(&mut *ledger, 2, "2031-01-01T00:00:00Z", 1000), "a clock that is ahead takes nothing");
    assert_eq!(store.registry().unwrap().abandoned().unwrap(), []);
    assert!(take(&mut *ledger, 1, "2030-01-01T00:00:00Z", 0));
    assert_eq!(store.registry().unwrap().abandoned().unwrap().len(), 1, "nobody released it");
    assert!(take(&mut *ledger, 2, "2001-01-01T00:00:00Z", 1000), "a clock that is behind takes what is over");
    let forgotten = AbandonedLease { user: me(), name: "extract".to_owned() };
    store.registry().unwrap().forget(&forgotten).unwrap();
    assert!(!take(&mut *ledger, 1, "2030-01-01T00:00:00Z", 1000), "a lease that was taken again is not forgotten");
}

#[test]
fn a_schema_of_another_program_is_refused_and_left_alone() {
    let database = bare_database();
    let mut admin = Admin::connect(server(), &database);
    admin.run(&format!("CREATE SCHEMA quipu AUTHORIZATION {ROLE}; CREATE TABLE quipu.things (name text)"));
    let told = opened(&database).map(drop).unwrap_err();
    assert!(matches!(&told, StoreError::Corrupt(text) if text.contains("another program")), "{told}");
    assert_eq!(admin.rows("SELECT count(*) FROM pg_class WHERE relnamespace = 'quipu'::regnamespace"), [["1"]]);
}

#[test]
fn an_empty_schema_that_an_operator_made_is_used() {
    let database = bare_database();
    Admin::connect(server(), &database).run(&format!("CREATE SCHEMA quipu AUTHORIZATION {ROLE}"));
    opened(&database).unwrap().open(&me(), true).unwrap();
}

#[test]
fn errors_say_what_to_do_and_never_the_password() {
    let port = server().port;
    Admin::connect(server(), "postgres").run(&format!("CREATE DATABASE needs_password OWNER {ROLE}"));
    let closed = crate::server::free_port();
    let cases = [
        (format!("postgres://{ROLE}:pass-wrong@127.0.0.1:{port}/needs_password"), "Check the user and the password"),
        (format!("postgres://{ROLE}:pass-word@127.0.0.1:{port}/nowhere"), "Create the database"),
        (format!("postgres://nobody:pass-word@127.0.0.1:{port}/postgres"), "Check the user"),
        (format!("postgres://{ROLE}:pass-word@127.0.0.1:{closed}/postgres"), "Check that the server runs"),
        (
            format!("postgres://{ROLE}:pass-word@127.0.0.1:{port}/postgres?sslrootcert=/none&sslmode=verify-full"),
            "sslrootcert",
        ),
        (format!("postgres://{ROLE}:pass-word@127.0.0.1:{port}/postgres?sslmode=sometimes"), "sslmode is"),
        (format!("postgres://{ROLE}:pass-word@127.0.0.1:{port}"), "the right to create a schema"),
    ];
    Admin::connect(server(), "postgres").run(&format!("CREATE DATABASE {ROLE}"));
    for (url, expected) in cases {
        let told = PostgresStore::open(&url, PostgresOptions::default()).map(drop).unwrap_err();
        assert!(matches!(told, StoreError::Unavailable(_)), "{told:?}");
        assert!(told.to_string().contains(expected), "{told}");
        assert!(!told.to_string().contains("pass-"), "{told}");
    }
    // The right password is accepted where one is asked for.
    opened("needs_password").unwrap();
}

#[test]
fn a_read_only_server_and_a_slow_statement_are_told_apart() {
    let database = database();
    let mut admin = Admin::connect(server(), &database);
    let mut ledger = open(&database).open(&me(), true).unwrap();
    let event = Sample::new(&me(), 2).say("one").unwrap();
    let options =
        PostgresOptions { statement_wait: std::time::Duration::from_millis(300), ..PostgresOptions::default() };
    let hasty = PostgresStore::open(&url(server().port, &database), options).unwrap();
    let mut hasty = hasty.open(&me(), false).unwrap();
    admin.run("BEGIN; SELECT 1 FROM quipu.heads FOR UPDATE");
    let told = hasty.append(0, std::slice::from_ref(&event)).unwrap_err();
    assert!(matches!(&told, StoreError::Unavailable(text) if text.contains("stopped the statement")), "{told}");
    admin.run("COMMIT");
    admin.run(&format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    let told = open(&database).open(&me(), false).unwrap().append(0, std::slice::from_ref(&event)).unwrap_err();
    assert!(matches!(&told, StoreError::Unavailable(text) if text.contains("read-only")), "{told}");
    ledger.append(0, std::slice::from_ref(&event)).unwrap();
    let lines = open(&database).examine();
    assert!(lines.iter().any(|line| line.as_ref().is_err_and(|text| text.contains("read-only"))), "{lines:?}");
}

#[test]
fn an_error_of_the_server_says_what_to_do_and_changes_nothing() {
    let database = database();
    let mut admin = Admin::connect(server(), &database);
    admin.run("CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'");
    admin.run("CREATE TRIGGER fail BEFORE INSERT ON quipu.changes FOR EACH ROW EXECUTE FUNCTION fail()");
    let mut ledger = open(&database).open(&me(), true).unwrap();
    let event = Sample::new(&me(), 3).say("one").unwrap();
    let cases = [
        ("53100", false, "Free space"),
        ("53200", false, "max_locks_per_transaction"),
        ("53300", false, "lacks resources"),
        ("42501", false, "does not permit"),
        ("55P03", false, "Try again"),
        ("40P01", false, "Try again"),
        ("57014", false, "stopped the statement"),
        ("58030", false, "Check the server"),
        ("54000", false, "too large"),
        ("XX001", true, "restore a backup"),
        ("23514", true, "restore a backup"),
        ("42P01", true, "restore a backup"),
        ("22012", false, "code 22012"),
        ("XX000", false, "as the test says"),
    ];
    for (code, is_corrupt, expected) in cases {
        admin.run(&format!(
            "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN RAISE EXCEPTION USING ERRCODE = ''{code}'', MESSAGE = ''as the test says''; END'"
        ));
        let told = ledger.append(0, std::slice::from_ref(&event)).unwrap_err();
        assert_eq!(matches!(told, StoreError::Corrupt(_)), is_corrupt, "{code}: {told:?}");
        assert!(told.to_string().contains(expected), "{code}: {told}");
        assert_eq!(ledger.head().unwrap().seq, 0, "{code}");
    }
    admin.run("DROP TRIGGER fail ON quipu.changes");
    ledger.append(0, std::slice::from_ref(&event)).unwrap();
}

#[test]
fn an_examination_finds_nothing_wrong_with_this_server() {
    let lines = open(&database()).examine();
    assert!(lines.len() >= 4 && lines.iter().all(Result::is_ok), "{lines:?}");
}

#[test]
fn a_server_that_accepts_a_connection_and_says_nothing_is_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("postgres://quipu@127.0.0.1:{port}/m?sslmode=disable&connect_timeout=1");
    let told = PostgresStore::open(&url, PostgresOptions::default()).map(drop);
    assert!(matches!(&told, Err(StoreError::Unavailable(text)) if text.contains("does not answer")), "{told:?}");
}
