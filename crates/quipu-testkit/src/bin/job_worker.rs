//! Reads what users said with a model, one job for each message, until nothing is left or it is killed. Used by
//! `tests/scorecard/jobs.rs`.
//!
//! `job_worker FOLDER WORKER SEED` prints a line for each call of the model, `read MESSAGE …`, and `done` at the end. Messages with the word
//! `poison` cannot be read, those with `deadly` end the process. Time passes [`FAST`] times as fast, so that the lease of a killed worker ends soon.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use quipu_core::extract::window::{Kind, ModelReply, Operation, Window};
use quipu_core::id::UserId;
use quipu_engine::ports::{Clock, ExtractError, LedgerStore, WindowReader};
use quipu_engine::{
    Engine, EngineParts, EngineRules, Error, ExtractWithModelOptions, OptionalParts, extract_with_model,
};
use quipu_models::HashedNgrams;
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{Rng, SeededEntropy};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// How many times as fast time passes.
const FAST: i64 = 100;
/// Messages that a worker reads of one user before it turns to another one.
const SOURCES_MAX: usize = 8;

/// The system's time, at which leases of all workers are compared, made faster.
struct FastClock;

impl Clock for FastClock {
    #[expect(clippy::disallowed_methods, reason = "leases of several processes need one clock")]
    fn now(&self) -> Timestamp {
        const START_MICROS: i64 = 1_767_225_600_000_000;
        let micros = Timestamp::now().as_microsecond();
        // Only the last days are made faster, so that the result is a date.
        Timestamp::from_microsecond(START_MICROS + micros % 1_000_000_000_000 * FAST).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

/// A model that finds the number in each message, after some milliseconds.
struct Reader;

impl WindowReader for Reader {
    fn id(&self) -> &str {
        "job reader/v1"
    }

    fn read(&self, _: &UserId, window: &Window) -> Result<ModelReply, ExtractError> {
        let new = || window.messages.iter().filter(|message| message.is_new);
        let numbers: Vec<&str> = new().filter_map(|message| message.text.split(' ').next_back()).collect();
        tell(&format!("read {}", numbers.join(" "))).map_err(|error| ExtractError::Unavailable(error.to_string()))?;
        std::thread::sleep(Duration::from_millis(2));
        if new().any(|message| message.text.contains("deadly")) {
            std::process::abort();
        }
        if new().any(|message| message.text.contains("poison")) {
            return Err(ExtractError::Run("this cannot be read".to_owned()));
        }
        let operation = |(number, message): (&str, &str)| Operation {
            kind: Kind::Event,
            about: "user".to_owned(),
            relation: format!("saw_{number}"),
            value: format!("locker {number}"),
            sentence: format!("User saw locker {number}."),
            message: message.to_owned(),
            quote: format!("locker {number}"),
            ..Operation::default()
        };
        let operations = numbers.iter().copied().zip(new().map(|message| message.mark.as_str())).map(operation);
        Ok(ModelReply { operations: operations.collect(), readings: Vec::new() })
    }
}

fn tell(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match work(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a worker whose jobs stay undone must end")]
fn now() -> Instant {
    Instant::now()
}

fn work(arguments: &[String]) -> Outcome {
    let [folder, worker, seed] = arguments else { return Err("usage: job_worker FOLDER WORKER SEED".into()) };
    let seed = seed.parse::<u64>()?.wrapping_mul(1_000_003).wrapping_add(worker.parse()?);
    let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
    let store = SqliteStore::open(Path::new(folder), options)?;
    let mut users = store.users()?;
    let engine = Engine::new(EngineParts {
        store: Box::new(store),
        embedder: Arc::new(HashedNgrams::new()),
        clock: Arc::new(FastClock),
        entropy: Arc::new(SeededEntropy::new(seed)),
        extractor: None,
        summarizer: None,
        rules: EngineRules::default(),
        optional: OptionalParts { reader: Some(Arc::new(Reader)), ..OptionalParts::default() },
    });
    let mut dice = Rng::new(seed);
    let mut last = now();
    while !users.is_empty() {
        let at = dice.below(users.len());
        let options = ExtractWithModelOptions { sources_max: SOURCES_MAX, ..ExtractWithModelOptions::default() };
        match extract_with_model(&engine, &users[at], &options) {
            Ok(report) => {
                if report.sources > 0 {
                    last = now();
                }
                if report.waiting == 0 && report.fault.is_none() {
                    users.swap_remove(at);
                }
            }
            // Another worker was faster, or the memory is in use: the job comes again.
            Err(Error::Conflict(_) | Error::Unavailable(_)) => {}
            Err(error) => return Err(error.into()),
        }
        if last.elapsed() > Duration::from_secs(60) {
            return Err(format!("the jobs of {} users stay undone", users.len()).into());
        }
    }
    Ok(tell("done")?)
}
