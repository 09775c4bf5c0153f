//! Compares a folder with and without encryption: time of durable appends and of reading a ledger, and bytes.
//!
//! ```text
//! cargo run --release -p quipu-encryption --example cost
//! ```

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_encryption::{EncryptedStore, MasterKeys, UserKeys, new_master_key};
use quipu_engine::ports::LedgerStore;
use quipu_sqlite::{SqliteStore, SqliteUserKeys, StoreOptions};
use quipu_testkit::{FixedClock, Sample, SeededEntropy};

/// Durable appends of one event, and events that are read as when a memory is opened without a snapshot.
const APPENDS: u64 = 300;
const EVENTS: u64 = 10_000;
const ROUNDS: usize = 5;

struct Measured {
    append: Duration,
    read: Duration,
    bytes: u64,
}

/// A name, and the value of one measurement.
type Part = (&'static str, fn(&Measured) -> f64);

#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

fn main() -> Result<(), Box<dyn Error>> {
    let [mut plain, mut sealed] = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        // In turns, so that other work on the machine meets both.
        plain.push(measure(false)?);
        sealed.push(measure(true)?);
    }
    let median = |all: &[Measured], of: fn(&Measured) -> f64| {
        let mut values: Vec<f64> = all.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let parts: [Part; 3] = [
        ("append, microseconds an event", |one| one.append.as_secs_f64() * 1e6 / APPENDS as f64),
        ("read, microseconds an event", |one| one.read.as_secs_f64() * 1e6 / EVENTS as f64),
        ("ledger, bytes an event", |one| one.bytes as f64 / (APPENDS + EVENTS) as f64),
    ];
    for (name, of) in parts {
        let (plain, sealed) = (median(&plain, of), median(&sealed, of));
        println!("{name}: {plain:.1} in the clear, {sealed:.1} sealed, ratio {:.3}", sealed / plain);
    }
    Ok(())
}

fn measure(is_sealed: bool) -> Result<Measured, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut store: Box<dyn LedgerStore> =
        Box::new(SqliteStore::open(folder.path(), StoreOptions { ballast_bytes: 0, ..StoreOptions::default() })?);
    if is_sealed {
        let keys = UserKeys {
            store: Box::new(SqliteUserKeys::open(&folder.path().join("user-keys.db"))?),
            masters: MasterKeys::from_text(&new_master_key(&SeededEntropy::new(1)), "the example")?,
            clock: Arc::new(FixedClock::new()),
            entropy: Arc::new(SeededEntropy::new(2)),
        };
        store = Box::new(EncryptedStore::new(store, Arc::new(keys))?);
    }
    let user = UserId::parse("me")?;
    let mut sample = Sample::new(&user, 3);
    // About the length of a message in a conversation.
    let text = "I walked along the river with my sister this morning and we talked about her new job. ".repeat(3);
    let mut ledger = store.open(&user, true)?;
    let single = (0..APPENDS).map(|_| sample.say(&text)).collect::<Result<Vec<_>, _>>()?;
    let start = now();
    for event in &single {
        ledger.append(event.seq - 1, std::slice::from_ref(event))?;
    }
    let append = start.elapsed();
    let rest = (0..EVENTS).map(|_| sample.say(&text)).collect::<Result<Vec<_>, _>>()?;
    ledger.append(APPENDS, &rest)?;
    let mut ledger = store.open(&user, false)?;
    let start = now();
    let mut read = 0;
    ledger.read(APPENDS + 1..=APPENDS + EVENTS, &mut |_| {
        read += 1;
        true
    })?;
    assert_eq!(read, EVENTS);
    Ok(Measured { append, read: start.elapsed(), bytes: ledger.bytes()? })
}
