//! Many users: what it takes to create them, and requests of users with a Zipf-like distribution while only some of the memories
//! stay open.

use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_core::id::UserId;
use quipu_engine::{
    Engine, Error, OpenLimits, RecallOptions, RememberOptions, Result, Utterance, gauges, recall, remember,
};
use serde::Serialize;

use super::popularity::{Popularity, found_open};
use super::transactions::BareDatabase;
use super::{components, machine, now, seconds, sentence};
use crate::args::BenchOptions;
use crate::environment::{Environment, Measurement, Output, Place};
use crate::metrics::Quantiles;
use crate::{refuse_users, render, temporary_folder};

/// Threads that create users.
const CREATORS: usize = 4;
/// Requests to the users. The first half fills the open memories and is not counted. Every second one records a message, the others
/// search.
const REQUESTS: usize = 40_000;
/// Users and requests of the simulation, whose first half is not counted either.
const SIMULATED_USERS: usize = 1_000_000;
const SIMULATED_REQUESTS: usize = 8_000_000;
/// Open memories for which it is made.
const SIMULATED_OPEN: [usize; 6] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000];
/// Exponents for which it is made.
const SIMULATED_SKEWS: [f64; 3] = [0.8, 1.0, 1.2];
const SEED: u64 = 1;

#[derive(Debug, Serialize)]
struct Report {
    store: &'static str,
    users: usize,
    creation: Creation,
    /// Opening the store with all of them, and listing them.
    store_open_ms: f64,
    store_list_ms: f64,
    requests: Requests,
    simulation: Vec<Simulation>,
}

/// Creation of the users, each with one message.
#[derive(Debug, Serialize)]
struct Creation {
    seconds: f64,
    users_per_second: f64,
    bytes_on_disk_per_user: Option<f64>,
    /// Written to disks by this process; by a database to its write-ahead log.
    bytes_written_per_user: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Requests {
    skew: f64,
    /// Requests counted.
    requests: usize,
    per_second: f64,
    open_max: usize,
    /// Open memories at the end.
    open: usize,
    /// Share of requests whose memory was open, measured and simulated.
    found_open: f64,
    found_open_simulated: f64,
    search_open_ms: Quantiles,
    search_closed_ms: Quantiles,
    record_open_ms: Quantiles,
    record_closed_ms: Quantiles,
    /// Estimated bytes of an open memory, which the limit on open memories counts.
    bytes_estimated_per_open: f64,
    /// Growth of the resident memory of this process for each open memory.
    bytes_resident_per_open: Option<f64>,
    file_handles: Option<usize>,
}

/// A simulated share of requests whose memory is open, among a million users.
#[derive(Debug, Serialize)]
struct Simulation {
    users: usize,
    skew: f64,
    open: usize,
    found_open: f64,
}

pub(super) fn users(
    environment: &dyn Environment,
    output: &dyn Output,
    options: &BenchOptions,
    users: usize,
) -> Result<Measurement> {
    let bar = output.progress();
    let folder = temporary_folder()?;
    let place = options.store.as_deref().map_or(Place::Folder(folder.path()), Place::Database);
    let database = options.store.as_deref().map(BareDatabase::open).transpose()?;
    let open_max = options.open.unwrap_or(users / 10).max(1);
    let limits = OpenLimits { memories_max: open_max, ..OpenLimits::default() };
    let open_engine =
        || -> Result<Engine> { Ok(quipu::open_engine_on(environment.ledgers(place, None)?, components(None, limits))) };
    let creation = {
        let engine = open_engine()?;
        refuse_users(engine.store())?;
        create(&engine, users, place, database.as_ref())?
    };
    let start = now();
    let engine = open_engine()?;
    let store_open_ms = seconds(start) * 1e3;
    let start = now();
    engine.store().users()?;
    let store_list_ms = seconds(start) * 1e3;
    let requests = send(&engine, users, open_max, options.skew)?;
    let simulation = SIMULATED_SKEWS.into_iter().flat_map(simulate).collect();
    drop(bar);
    if options.store.is_some() {
        output.hint("The users stay in the database: drop it.");
    }
    let store = if options.store.is_some() { "database" } else { "folder" };
    let report = Report { store, users, creation, store_open_ms, store_list_ms, requests, simulation };
    Measurement::of(&report, in_words)
}

fn named(number: usize) -> Result<UserId> {
    Ok(UserId::parse(&format!("bench-{number}"))?)
}

fn create(engine: &Engine, users: usize, place: Place<'_>, database: Option<&BareDatabase>) -> Result<Creation> {
    let written = || match database {
        Some(database) => database.number(include_str!("sql/log_bytes.sql")).map(|bytes| u64::try_from(bytes).ok()),
        None => Ok(machine::written_bytes()),
    };
    let on_disk = || match (database, place) {
        (Some(database), _) => database.number(include_str!("sql/database_bytes.sql")).map(|bytes| bytes as u64),
        (None, Place::Folder(folder)) => bytes_below(folder),
        (None, Place::Database(_)) => Ok(0),
    };
    let (written_before, on_disk_before, start) = (written()?, on_disk()?, now());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let creators: Vec<_> = (0..CREATORS)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= users {
                            return Ok(());
                        }
                        let said = Utterance::of_user(sentence(number));
                        remember(engine, &named(number)?, &said, &RememberOptions::default())?;
                    }
                })
            })
            .collect();
        creators.into_iter().try_for_each(|one| one.join().map_err(|_| Error::Bug("a creator panicked".to_owned()))?)
    })?;
    let took = seconds(start);
    let per_user = |before: u64, after: u64| after.saturating_sub(before) as f64 / users as f64;
    Ok(Creation {
        seconds: took,
        users_per_second: users as f64 / took,
        bytes_on_disk_per_user: Some(per_user(on_disk_before, on_disk()?)),
        bytes_written_per_user: written_before.zip(written()?).map(|(before, after)| per_user(before, after)),
    })
}

/// Bytes of the blocks of the files below a folder.
fn bytes_below(folder: &std::path::Path) -> Result<u64> {
    let failed = |error: std::io::Error| Error::Unavailable(format!("{}: {error}", folder.display()));
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.metadata().map_err(failed)?;
        bytes += if kind.is_dir() { bytes_below(&entry.path())? } else { blocks(&kind) };
    }
    Ok(bytes)
}

#[cfg(unix)]
fn blocks(file: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(file) * 512
}

#[cfg(not(unix))]
fn blocks(file: &std::fs::Metadata) -> u64 {
    file.len()
}

/// Sends requests one after the other.
fn send(engine: &Engine, users: usize, open_max: usize, skew: f64) -> Result<Requests> {
    let mut popularity = Popularity::new(users, skew, SEED);
    let asked: Vec<usize> = (0..REQUESTS).map(|_| popularity.next()).collect();
    let options = RememberOptions { durable_only: true, ..RememberOptions::default() };
    let resident = machine::resident_bytes();
    let warming = REQUESTS / 2;
    let [mut searched_open, mut searched_closed, mut recorded_open, mut recorded_closed] = [(); 4].map(|()| Vec::new());
    let mut total = 0.0;
    for (number, &user) in asked.iter().enumerate() {
        let (user, text, opened) = (named(user)?, sentence(number * 31 + 5), engine.memories_opened());
        let is_search = number % 2 == 0;
        let start = now();
        if is_search {
            let question = text.split(' ').take(6).collect::<Vec<_>>().join(" ");
            recall(engine, &user, &RecallOptions { k: 10, ..RecallOptions::of(&question) })?;
        } else {
            remember(engine, &user, &Utterance::of_user(text), &options)?;
        }
        let took = seconds(start) * 1e3;
        if number < warming {
            continue;
        }
        total += took;
        let was_open = engine.memories_opened() == opened;
        match (is_search, was_open) {
            (true, true) => searched_open.push(took),
            (true, false) => searched_closed.push(took),
            (false, true) => recorded_open.push(took),
            (false, false) => recorded_closed.push(took),
        }
    }
    let counted = REQUESTS - warming;
    let totals = gauges(engine);
    let open = totals.open.max(1) as f64;
    let grown = resident.zip(machine::resident_bytes()).map(|(before, after)| after.saturating_sub(before) as f64);
    Ok(Requests {
        skew,
        requests: counted,
        per_second: counted as f64 * 1e3 / total,
        open_max,
        open: totals.open,
        found_open: (searched_open.len() + recorded_open.len()) as f64 / counted as f64,
        found_open_simulated: found_open(&asked, warming, &[open_max]).first().copied().unwrap_or_default(),
        search_open_ms: Quantiles::of(searched_open),
        search_closed_ms: Quantiles::of(searched_closed),
        record_open_ms: Quantiles::of(recorded_open),
        record_closed_ms: Quantiles::of(recorded_closed),
        bytes_estimated_per_open: totals.bytes as f64 / open,
        bytes_resident_per_open: grown.map(|bytes| bytes / open),
        file_handles: machine::file_handles(),
    })
}

fn simulate(skew: f64) -> Vec<Simulation> {
    let mut popularity = Popularity::new(SIMULATED_USERS, skew, SEED);
    let asked: Vec<usize> = (0..SIMULATED_REQUESTS).map(|_| popularity.next()).collect();
    let shares = found_open(&asked, SIMULATED_REQUESTS / 2, &SIMULATED_OPEN);
    let with = |(&open, found_open)| Simulation { users: SIMULATED_USERS, skew, open, found_open };
    SIMULATED_OPEN.iter().zip(shares).map(with).collect()
}

fn in_words(report: &Report) -> String {
    let (creation, requests) = (&report.creation, &report.requests);
    let quantiles = |times: &Quantiles| format!("p50 {:.2} ms, p95 {:.2} ms", times.p50, times.p95);
    let bytes = |bytes: Option<f64>| bytes.map_or("unknown".to_owned(), |bytes| render::size(bytes as u64));
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let row = |what: &str, figure: String| vec![what.to_owned(), figure];
    let mut rows = vec![
        row(
            &format!("{} users created in a {}, with a message each", report.users, report.store),
            format!("{:.0} s, {:.0}/s", creation.seconds, creation.users_per_second),
        ),
        row("on disk, for each of them", bytes(creation.bytes_on_disk_per_user)),
        row("written meanwhile, for each of them", bytes(creation.bytes_written_per_user)),
        row(
            "opening the store with them; listing them",
            format!("{:.0} ms; {:.0} ms", report.store_open_ms, report.store_list_ms),
        ),
        row(
            "requests one after the other, half of them recorded",
            format!("{} at {:.0}/s, exponent {}", requests.requests, requests.per_second, requests.skew),
        ),
        row(
            &format!("found open, with at most {} open memories", requests.open_max),
            format!(
                "{}; in the simulation of them {}",
                percent(requests.found_open),
                percent(requests.found_open_simulated)
            ),
        ),
        row("search, memory open", quantiles(&requests.search_open_ms)),
        row("search, memory closed", quantiles(&requests.search_closed_ms)),
        row("record, memory open", quantiles(&requests.record_open_ms)),
        row("record, memory closed", quantiles(&requests.record_closed_ms)),
        row(
            &format!("size of each of {} open memories", requests.open),
            format!(
                "{} estimated, {} resident",
                bytes(Some(requests.bytes_estimated_per_open)),
                bytes(requests.bytes_resident_per_open)
            ),
        ),
        row("file handles", requests.file_handles.map_or("unknown".to_owned(), |count| count.to_string())),
    ];
    rows.extend(report.simulation.iter().map(|one| {
        row(
            &format!("simulated: {} users, exponent {}, {} open", one.users, one.skew, one.open),
            format!("{} found open", percent(one.found_open)),
        )
    }));
    render::table(&["what", "figure"], &rows)
}
