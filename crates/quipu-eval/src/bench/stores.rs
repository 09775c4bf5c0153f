//! Compares a PostgreSQL database with a folder, each with and without encryption: durable appends beside bare transactions,
//! opening a memory, and recall on an open one.
//!
//! The variants take turns for each append, opening and question, so that other work on the machine affects all of them.

use std::time::Duration;

use data_encoding::HEXLOWER;
use quipu::system::SystemEntropy;
use quipu_core::id::UserId;
use quipu_engine::ports::Entropy;
use quipu_engine::{Engine, FactOptions, Freshness, OpenLimits, RecallOptions, RememberOptions, Result, Utterance};
use serde::Serialize;

use super::transactions::BareDatabase;
use super::{components, now, seconds, sentence, turn};
use crate::environment::{Environment, Measurement, Output, Place};
use crate::metrics::Quantiles;
use crate::{refuse_users, render, temporary_folder};

/// Appends, openings and questions of each variant. The first ones warm connections and caches and are not counted.
const APPENDS: usize = 1_000;
const APPENDS_WARMING: usize = 50;
const OPENINGS: usize = 30;
const OPENINGS_WARMING: usize = 3;
const QUESTIONS: usize = 500;
const QUESTIONS_WARMING: usize = 20;
/// Items of the memory that is opened and searched; the last ones are behind its checkpoint.
const ITEMS: usize = 10_000;
const TAIL: usize = 100;
/// Bytes of an event beside its text, as in the benchmark of a folder.
const EVENT_BYTES: usize = 700;
/// How long a request that accepts it need not ask the database.
const STALENESS: Duration = Duration::from_secs(600);

#[derive(Debug, Serialize)]
struct Report {
    items: usize,
    /// The least that a question to the database costs.
    round_trip_ms: Quantiles,
    /// A compare-and-set with a row of the same bytes, in one prepared statement.
    bare_append_ms: Quantiles,
    variants: Vec<Variant>,
    /// Rate of appends to the database in the clear, as a share of the rate of bare transactions.
    append_share_of_bare: f64,
    /// What encryption costs, as a share of the time in the clear: appends and openings of the folder and of the database.
    encryption: Vec<EncryptionCost>,
    recall_ms: Recall,
}

#[derive(Debug, Serialize)]
struct Variant {
    store: &'static str,
    encrypted: bool,
    append_ms: Quantiles,
    appends_per_second: f64,
    open_ms: Quantiles,
}

#[derive(Debug, Serialize)]
struct EncryptionCost {
    store: &'static str,
    append: f64,
    open: f64,
}

/// Recall on an open memory, with made-up vectors.
#[derive(Debug, Serialize)]
struct Recall {
    folder: Quantiles,
    database: Quantiles,
    /// With a memory that may be older, so that the database is not asked.
    database_without_asking: Quantiles,
    /// Difference of the medians of database and folder, in round trips.
    round_trips: f64,
}

/// One store with a memory in it.
struct Subject {
    store: &'static str,
    is_encrypted: bool,
    engine: Engine,
    appends: Vec<f64>,
    openings: Vec<f64>,
}

/// Names of the stores.
const FOLDER: &str = "folder";
const DATABASE: &str = "database";

/// The users of the benchmark: one that is appended to, and one with many items.
struct Users {
    written: UserId,
    read: UserId,
}

pub(super) fn stores(environment: &dyn Environment, output: &dyn Output, address: &str) -> Result<Measurement> {
    let bar = output.progress();
    refuse_users(environment.ledgers(Place::Database(address), None)?.as_ref())?;
    let folder = temporary_folder()?;
    let mut secret = [0u8; 32];
    SystemEntropy.fill(&mut secret);
    let master_key = HEXLOWER.encode(&secret);
    let mut subjects = Vec::new();
    for (store, is_encrypted) in [(FOLDER, false), (FOLDER, true), (DATABASE, false), (DATABASE, true)] {
        let own = folder.path().join(if is_encrypted { "encrypted" } else { "clear" });
        let place = if store == FOLDER { Place::Folder(&own) } else { Place::Database(address) };
        let ledgers = environment.ledgers(place, is_encrypted.then_some(master_key.as_str()))?;
        let engine = quipu::open_engine_on(ledgers, components(None, OpenLimits::default()));
        subjects.push(Subject { store, is_encrypted, engine, appends: Vec::new(), openings: Vec::new() });
    }
    let users = |subject: &Subject| -> Result<Users> {
        let kind = if subject.is_encrypted { "encrypted" } else { "clear" };
        Ok(Users {
            written: UserId::parse(&format!("bench-{kind}"))?,
            read: UserId::parse(&format!("bench-{kind}-items"))?,
        })
    };
    let measured = BareDatabase::open(address).and_then(|mut bare| measure(&mut bare, &mut subjects, &users));
    // Also after an error, as the database is empty again then.
    for subject in subjects.iter().filter(|subject| subject.store == DATABASE) {
        let users = users(subject)?;
        for user in [users.written, users.read] {
            subject.engine.let_go(&user);
            if subject.engine.store().users()?.contains(&user) {
                subject.engine.store().remove(&user, None)?;
            }
        }
    }
    drop(bar);
    Measurement::of(&measured?, in_words)
}

fn measure(
    bare: &mut BareDatabase,
    subjects: &mut [Subject],
    users: &dyn Fn(&Subject) -> Result<Users>,
) -> Result<Report> {
    let (round_trips, bare_appends) = append(bare, subjects, users)?;
    for subject in subjects.iter() {
        fill(&subject.engine, &users(subject)?.read)?;
    }
    open(subjects, users)?;
    let recall_ms = recall(subjects, users, Quantiles::of(round_trips.clone()).p50)?;
    let variants: Vec<Variant> = subjects
        .iter()
        .map(|subject| Variant {
            store: subject.store,
            encrypted: subject.is_encrypted,
            append_ms: Quantiles::of(subject.appends.clone()),
            appends_per_second: rate(&subject.appends),
            open_ms: Quantiles::of(subject.openings.clone()),
        })
        .collect();
    let of = |store: &str, is_encrypted: bool| {
        variants.iter().find(|one| one.store == store && one.encrypted == is_encrypted)
    };
    let encryption = [FOLDER, DATABASE]
        .into_iter()
        .filter_map(|store| {
            let (clear, encrypted) = (of(store, false)?, of(store, true)?);
            Some(EncryptionCost {
                store,
                append: encrypted.append_ms.p50 / clear.append_ms.p50 - 1.0,
                open: encrypted.open_ms.p50 / clear.open_ms.p50 - 1.0,
            })
        })
        .collect();
    let bare_append_ms = Quantiles::of(bare_appends);
    let append_share_of_bare = of(DATABASE, false).map_or(0.0, |one| bare_append_ms.p50 / one.append_ms.p50);
    Ok(Report {
        items: ITEMS,
        round_trip_ms: Quantiles::of(round_trips),
        bare_append_ms,
        variants,
        append_share_of_bare,
        encryption,
        recall_ms,
    })
}

/// Operations per second of times in milliseconds.
fn rate(times: &[f64]) -> f64 {
    times.len() as f64 * 1e3 / times.iter().sum::<f64>()
}

/// Runs something and returns its time in milliseconds.
fn timed(run: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = now();
    run()?;
    Ok(seconds(start) * 1e3)
}

/// Times single appends, bare transactions and round trips.
fn append(
    bare: &mut BareDatabase,
    subjects: &mut [Subject],
    users: &dyn Fn(&Subject) -> Result<Users>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let options = RememberOptions { durable_only: true, ..RememberOptions::default() };
    let (mut round_trips, mut bare_appends) = (Vec::new(), Vec::new());
    for number in 0..APPENDS + APPENDS_WARMING {
        let is_counted = number >= APPENDS_WARMING;
        let text = sentence(number);
        let row = vec![0u8; EVENT_BYTES + text.len()];
        let asked = timed(|| bare.ask())?;
        let appended = timed(|| bare.append(&row))?;
        if is_counted {
            round_trips.push(asked);
            bare_appends.push(appended);
        }
        for subject in subjects.iter_mut() {
            let (user, said) = (users(subject)?.written, Utterance::of_user(text.clone()));
            let took = timed(|| quipu_engine::remember(&subject.engine, &user, &said, &options).map(drop))?;
            if is_counted {
                subject.appends.push(took);
            }
        }
    }
    Ok((round_trips, bare_appends))
}

/// Makes a memory with a checkpoint and a tail.
fn fill(engine: &Engine, user: &UserId) -> Result<()> {
    let batches =
        (0..ITEMS - TAIL).step_by(2500).map(|from| (from..(from + 2500).min(ITEMS - TAIL)).map(turn).collect());
    quipu_engine::ingest::record_sources(engine, user, batches, "bench")?;
    quipu_engine::snapshot(engine, user)?;
    for number in ITEMS - TAIL..ITEMS {
        let said = Utterance::of_user(sentence(number));
        quipu_engine::remember(engine, user, &said, &RememberOptions::default())?;
    }
    Ok(())
}

/// Times the opening of a memory that this process has closed: from its checkpoint, and the events behind it.
fn open(subjects: &mut [Subject], users: &dyn Fn(&Subject) -> Result<Users>) -> Result<()> {
    for number in 0..OPENINGS + OPENINGS_WARMING {
        for subject in subjects.iter_mut() {
            let user = users(subject)?.read;
            subject.engine.let_go(&user);
            let took = timed(|| quipu_engine::facts(&subject.engine, &user, &FactOptions::default()).map(drop))?;
            if number >= OPENINGS_WARMING {
                subject.openings.push(took);
            }
        }
    }
    Ok(())
}

fn recall(subjects: &[Subject], users: &dyn Fn(&Subject) -> Result<Users>, round_trip_ms: f64) -> Result<Recall> {
    let clear = |store: &str| subjects.iter().find(|one| one.store == store && !one.is_encrypted);
    let mut asked = Vec::new();
    for (store, freshness) in [
        (FOLDER, Freshness::default()),
        (DATABASE, Freshness::default()),
        (DATABASE, Freshness { max_staleness: STALENESS, ..Freshness::default() }),
    ] {
        if let Some(subject) = clear(store) {
            asked.push((subject.engine.requiring(freshness), users(subject)?.read, Vec::with_capacity(QUESTIONS)));
        }
    }
    for number in 0..QUESTIONS + QUESTIONS_WARMING {
        // A question has about six content words.
        let question = sentence(number * 31 + 5).split(' ').take(6).collect::<Vec<_>>().join(" ");
        for (engine, user, times) in &mut asked {
            let options = RecallOptions { k: 10, ..RecallOptions::of(&question) };
            let took = timed(|| quipu_engine::recall(engine, user, &options).map(drop))?;
            if number >= QUESTIONS_WARMING {
                times.push(took);
            }
        }
    }
    let mut all = asked.into_iter().map(|(_, _, times)| Quantiles::of(times));
    let mut next = || all.next().unwrap_or_else(|| Quantiles::of(Vec::new()));
    let (folder, database, database_without_asking) = (next(), next(), next());
    let round_trips = (database.p50 - folder.p50) / round_trip_ms;
    Ok(Recall { folder, database, database_without_asking, round_trips })
}

fn in_words(report: &Report) -> String {
    let quantiles = |times: &Quantiles| format!("p50 {:.2} ms, p95 {:.2} ms", times.p50, times.p95);
    let mut rows = vec![
        vec!["round trip to the database".to_owned(), quantiles(&report.round_trip_ms)],
        vec!["bare compare-and-set with a row".to_owned(), quantiles(&report.bare_append_ms)],
    ];
    for variant in &report.variants {
        let name = format!("{}, {}", variant.store, if variant.encrypted { "encrypted" } else { "in the clear" });
        rows.push(vec![
            format!("durable append, {name}"),
            format!("{}, {:.0}/s", quantiles(&variant.append_ms), variant.appends_per_second),
        ]);
        rows.push(vec![format!("opening {} items, {name}", report.items), quantiles(&variant.open_ms)]);
    }
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    rows.push(vec![
        "append to the database, rate as a share of the bare transaction (medians)".to_owned(),
        percent(report.append_share_of_bare),
    ]);
    for cost in &report.encryption {
        rows.push(vec![
            format!("encryption of the {}, more time", cost.store),
            format!("append {:+.1} %, opening {:+.1} %", cost.append * 100.0, cost.open * 100.0),
        ]);
    }
    let recall = &report.recall_ms;
    rows.push(vec!["recall, folder".to_owned(), quantiles(&recall.folder)]);
    rows.push(vec![
        "recall, database".to_owned(),
        format!("{}: {:.1} round trips more", quantiles(&recall.database), recall.round_trips),
    ]);
    rows.push(vec!["recall, database, may be older".to_owned(), quantiles(&recall.database_without_asking)]);
    render::table(&["what", "figure"], &rows)
}
