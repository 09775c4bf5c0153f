//! Encrypted connections.

use quipu_engine::ports::{LedgerStore, StoreError};
use quipu_postgres::{PostgresOptions, PostgresStore};

use crate::server::{Admin, ROLE, database, me, server};

#[test]
fn the_server_is_verified_as_the_url_asks() {
    let database = database();
    let (port, authority) = (server().port, server().authority.display());
    let other = tempfile::NamedTempFile::new().unwrap();
    let open = |host: &str, query: &str| {
        let url = format!("postgres://{ROLE}:pass-word@{host}:{port}/{database}?{query}");
        PostgresStore::open(&url, PostgresOptions::default())
    };
    let good = [
        ("127.0.0.1", "sslmode=prefer".to_owned()),
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={authority}")),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={authority}")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={authority}")),
    ];
    let encrypted =
        format!("SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE datname = '{database}'");
    let mut admin = Admin::connect(server(), "postgres");
    for (host, query) in good {
        let store = open(host, &query).unwrap_or_else(|error| panic!("{query}: {error}"));
        store.open(&me(), true).unwrap();
        assert_eq!(admin.rows(&encrypted), [["t"]], "{query}");
        drop(store);
        // Connections of a store end with it.
        let count = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'");
        while admin.rows(&count) != [["0"]] {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    let bad = [
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={authority}"), "certificate"),
        ("localhost", "sslmode=verify-full".to_owned(), "certificate"),
        ("localhost", "sslmode=verify-ca".to_owned(), "sslrootcert"),
        ("localhost", "sslrootcert=system".to_owned(), "certificate"),
        ("localhost", format!("sslmode=verify-full&sslrootcert={}", other.path().display()), "sslrootcert"),
    ];
    for (host, query, expected) in bad {
        let told = open(host, &query).map(drop).unwrap_err();
        assert!(matches!(&told, StoreError::Unavailable(text) if text.contains(expected)), "{query}: {told}");
        assert!(!told.to_string().contains("pass-word"), "{told}");
    }
}
