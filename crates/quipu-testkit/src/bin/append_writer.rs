//! Appends messages of several users to a memory in a folder or a PostgreSQL database, as fast as it can, and prints what came of
//! it. Used by `tests/scorecard/appends.rs`.
//!
//! `append_writer PLACE WRITER USERS APPENDS SEED` prints `ready`, waits for a line, and prints for each message `MICROS USER SEQ`, or
//! `error TEXT`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use quipu_core::id::UserId;
use quipu_engine::ports::LedgerStore;
use quipu_engine::{RememberOptions, Utterance, remember};
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{Rng, TestEngine};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match write(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a report of times, by which nothing is decided")]
fn now() -> Instant {
    Instant::now()
}

fn write(arguments: &[String]) -> Outcome {
    let [place, writer, users, appends, seed] = arguments else {
        return Err("usage: append_writer PLACE WRITER USERS APPENDS SEED".into());
    };
    let (writer, users, seed): (u64, usize, u64) = (writer.parse()?, users.parse()?, seed.parse()?);
    let store: Box<dyn LedgerStore> = if quipu_postgres::is_url(place) {
        Box::new(PostgresStore::open(place, PostgresOptions::default())?)
    } else {
        let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
        Box::new(SqliteStore::open(Path::new(place), options)?)
    };
    let engine = TestEngine::new(seed.wrapping_mul(31).wrapping_add(writer)).engine(store);
    let mut dice = Rng::new(seed ^ (writer << 32));
    println!("ready");
    std::io::stdin().read_line(&mut String::new())?;
    let mut told = String::new();
    for number in 0..appends.parse::<usize>()? {
        let name = dice.below(users);
        let user = UserId::parse(&format!("user-{name}"))?;
        let said = Utterance::of_user(format!("Writer {writer} has seen bird {number} today."));
        let began = now();
        let outcome =
            remember(&engine, &user, &said, &RememberOptions { durable_only: true, ..RememberOptions::default() });
        let micros = began.elapsed().as_micros();
        match outcome {
            Ok(receipt) => told.push_str(&format!("{micros} {name} {}\n", receipt.seq)),
            Err(error) => told.push_str(&format!("error {error}\n")),
        }
    }
    // Nothing is printed while others are measured.
    std::io::stdout().lock().write_all(told.as_bytes())?;
    Ok(())
}
