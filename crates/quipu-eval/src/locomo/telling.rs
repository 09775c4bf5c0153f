//! Imports a file's conversations into an empty engine, and reads the questions about them.

use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use quipu_core::id::UserId;
use quipu_engine::import::locomo::questions::{self as format, QuestionSet};
use quipu_engine::import::{ImportFormat, ReadError, ReadOptions};
use quipu_engine::{Engine, Error, IngestOptions, Progress, Result};
use serde::Serialize;

use crate::environment::Output;

/// Speed of an import.
#[derive(Debug, Serialize)]
pub(crate) struct Ingest {
    pub(crate) conversations: usize,
    pub(crate) turns: u64,
    /// Until every turn can be recalled.
    pub(crate) turns_per_second: f64,
    /// Until every turn is durable.
    pub(crate) durable_turns_per_second: f64,
}

/// Size of a turn.
#[derive(Debug, Serialize)]
pub(crate) struct Bytes {
    pub(crate) disk_per_turn: f64,
    pub(crate) memory_per_turn: f64,
}

impl Bytes {
    pub(crate) fn of(engine: &Engine, users: &[UserId], turns: u64) -> Result<Self> {
        let (mut disk, mut memory) = (0, 0);
        for user in users {
            let status = quipu_engine::status(engine, user)?;
            disk += status.bytes_on_disk;
            memory += status.bytes_in_memory as u64;
        }
        Ok(Self { disk_per_turn: disk as f64 / turns as f64, memory_per_turn: memory as f64 / turns as f64 })
    }
}

#[expect(clippy::disallowed_methods, reason = "an evaluation measures real time")]
fn now() -> Instant {
    Instant::now()
}

/// Imports the named conversations, or all, and returns their users; with `extract`, facts are extracted from them.
pub(crate) fn import(
    engine: &Engine,
    output: &dyn Output,
    file: &Path,
    only: &[String],
    extract: bool,
) -> Result<(Ingest, Vec<UserId>)> {
    let named: Vec<Option<String>> = only.iter().cloned().map(Some).collect();
    let named = if named.is_empty() { vec![None] } else { named };
    let (mut users, mut turns, mut seconds, mut durable_seconds) = (Vec::new(), 0, 0.0, 0.0);
    for conversation in named {
        let one = import_one(engine, output, file, conversation, extract)?;
        users.extend(one.users.into_iter().filter(|user| !users.contains(user)).collect::<Vec<_>>());
        turns += one.turns;
        seconds += one.seconds;
        durable_seconds += one.durable_seconds;
    }
    let ingest = Ingest {
        conversations: users.len(),
        turns,
        turns_per_second: turns as f64 / seconds,
        durable_turns_per_second: turns as f64 / durable_seconds,
    };
    Ok((ingest, users))
}

struct Imported {
    users: Vec<UserId>,
    turns: u64,
    seconds: f64,
    durable_seconds: f64,
}

fn import_one(
    engine: &Engine,
    output: &dyn Output,
    file: &Path,
    conversation: Option<String>,
    extract: bool,
) -> Result<Imported> {
    let options = IngestOptions {
        dry_run: false,
        extract,
        own_words: false,
        me: None,
        conversation,
        into: None,
        default_user: UserId::parse("eval")?,
        read: ReadOptions::default(),
    };
    let bar = output.progress();
    let start = now();
    let mut durable = None;
    let (report, fault) = quipu_engine::ingest(engine, ImportFormat::Locomo, file, &options, &mut |progress| {
        if matches!(progress, Progress::Embedded(..)) {
            durable.get_or_insert_with(|| start.elapsed().as_secs_f64());
        }
        bar(progress);
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Imported {
        turns: report.conversations.iter().map(|part| part.new).sum(),
        users: report.conversations.into_iter().map(|part| part.user_id).collect(),
        seconds,
        durable_seconds: durable.unwrap_or(seconds),
    })
}

/// The questions of a file, conversation by conversation.
pub(crate) fn questions(file: &Path) -> Result<Vec<QuestionSet>> {
    let opened = std::fs::File::open(file)
        .map_err(|error| Error::NotFound(format!("cannot read {}: {error}", file.display())))?;
    let mut sets = Vec::new();
    let outcome = format::read(&mut BufReader::new(opened), &mut |set| {
        sets.push(set);
        Ok::<(), Error>(())
    });
    match outcome {
        Ok(()) => Ok(sets),
        Err(ReadError::Fault(fault)) => Err(Error::Invalid(format!("{}: {fault}", file.display()))),
        Err(ReadError::Caller(error)) => Err(error),
    }
}
