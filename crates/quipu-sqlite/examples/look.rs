//! Measures the cost of polling a ledger for changes while nothing changes: `cargo run --release -p quipu-sqlite
//! --example look`.

#![expect(clippy::disallowed_methods, reason = "a timing report")]

use std::time::Instant;

use quipu_core::id::UserId;
use quipu_engine::ports::{LedgerStore, WatchEvent};
use quipu_sqlite::{SqliteStore, StoreOptions};

const LOOKS: u32 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = tempfile::tempdir()?;
    let store = SqliteStore::open(place.path(), StoreOptions::default())?;
    let me = UserId::parse("me")?;
    let _ledger = store.open(&me, true)?;
    let mut watch = store.watch(&me)?;
    watch.look()?;
    let begun = Instant::now();
    for _ in 0..LOOKS {
        if watch.look()? != WatchEvent::Same {
            return Err("somebody wrote".into());
        }
    }
    println!("{:.2} µs a look", begun.elapsed().as_secs_f64() * 1e6 / f64::from(LOOKS));
    Ok(())
}
