//! The measured parts of a big memory. Each runs in a process of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_core::id::{ItemKind, UserId};
use quipu_engine::erase::EraseTarget;
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    ContextOptions, Engine, Error, IngestOptions, ListOptions, Progress, RecallOptions, RememberOptions, Result,
    Utterance, context, erase, ingest, list, recall, remember, revert, status,
};
use quipu_models::RuleExtractor;
use serde::{Deserialize, Serialize};

use super::super::{machine, name, now, seconds};
use crate::assistant::Noise;
use crate::environment::Environment;
use crate::metrics::Quantiles;
use crate::worlds::WorldRng;

/// Questions asked, of which the first warm the caches and are not counted.
const QUESTIONS: usize = 110;
const WARMING: usize = 10;
/// Messages recorded.
const RECORDED: usize = 40;
const SEED: u64 = 11;

/// Time and memory of a step.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Phase {
    pub(super) ms: f64,
    /// The most that the process had resident meanwhile.
    pub(super) peak_bytes: Option<u64>,
}

/// The import of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Imported {
    pub(super) seconds: f64,
    /// Until every turn was durable and read by the rules, of these seconds.
    pub(super) recorded_seconds: f64,
    pub(super) facts: u64,
    pub(super) peak_bytes: Option<u64>,
    pub(super) bytes_on_disk: u64,
}

/// What was done with the memory.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Used {
    pub(super) open: Phase,
    /// After opening.
    pub(super) resident_bytes: Option<u64>,
    /// As the engine estimates it.
    pub(super) estimated_bytes: usize,
    pub(super) recall_ms: Quantiles,
    pub(super) pack_ms: Quantiles,
    pub(super) record_ms: Quantiles,
    /// Of the newest message.
    pub(super) revert: Phase,
    /// Of a message in the middle.
    pub(super) erase: Phase,
    pub(super) erased_changes: usize,
}

/// The file to import.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join("chats.jsonl")
}

fn user() -> Result<UserId> {
    Ok(UserId::parse("bench")?)
}

fn engine(environment: &dyn Environment, folder: &Path, made_up: bool) -> Result<Engine> {
    let data = folder.join("data");
    if made_up {
        super::super::engine(&data, Some(Arc::new(RuleExtractor::english())))
    } else {
        environment.open_in(&data)
    }
}

pub(super) fn import(environment: &dyn Environment, folder: &Path, made_up: bool) -> Result<Imported> {
    let engine = engine(environment, folder, made_up)?;
    let user = user()?;
    let options = IngestOptions {
        dry_run: false,
        conversation: None,
        extract: true,
        own_words: true,
        me: None,
        into: Some(user.clone()),
        default_user: user.clone(),
        read: ReadOptions::default(),
    };
    let start = now();
    let mut recorded_seconds = 0.0;
    let (report, fault) = ingest(&engine, ImportFormat::OpenAi, &file(folder), &options, &mut |progress| {
        if let Progress::Imported(_) = progress {
            recorded_seconds = seconds(start);
        }
    });
    let seconds = seconds(start);
    if let Some(fault) = fault {
        return Err(fault);
    }
    if let Some(notice) = report.notices.first() {
        return Err(Error::Bug(format!("{}: {}", notice.place, notice.reason)));
    }
    let bytes_on_disk = status(&engine, &user)?.bytes_on_disk;
    Ok(Imported { seconds, recorded_seconds, facts: report.facts, peak_bytes: machine::peak_bytes(), bytes_on_disk })
}

/// Runs a step and measures it.
fn measured<T>(step: impl FnOnce() -> Result<T>) -> Result<(Phase, T)> {
    let is_own_peak = machine::forget_peak();
    let start = now();
    let done = step()?;
    let ms = seconds(start) * 1e3;
    Ok((Phase { ms, peak_bytes: machine::peak_bytes().filter(|_| is_own_peak) }, done))
}

pub(super) fn use_memory(environment: &dyn Environment, folder: &Path, made_up: bool) -> Result<Used> {
    let engine = engine(environment, folder, made_up)?;
    let user = user()?;
    let (open, status) = measured(|| status(&engine, &user))?;
    let resident_bytes = machine::resident_bytes();
    let (noise, mut rng) = (Noise::new()?, WorldRng::new(SEED));
    let (mut recalls, mut packs, mut records) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..QUESTIONS {
        let who = name(number * 3 % 400);
        let question = match number % 4 {
            0 => format!("Where does {who} live?"),
            1 => format!("What does {who} like?"),
            2 => format!("Where did I go with {who}?"),
            _ => noise.sentence(true, &mut rng)?,
        };
        let found = recall(&engine, &user, &RecallOptions { k: 10, ..RecallOptions::of(&question) })?;
        let start = now();
        context(&engine, &user, &ContextOptions::of(&question))?;
        // The same question was embedded for the recall.
        let pack = seconds(start) * 1e3 - found.timing.embed_us as f64 / 1e3;
        if number >= WARMING {
            recalls.push(found.timing.recall_us as f64 / 1e3);
            packs.push(pack.max(0.0));
        }
    }
    let mut newest = 0;
    for number in 0..RECORDED {
        let text = format!("{} Note {number} of today.", super::super::statement(number));
        let said = Utterance { session: Some("today".to_owned()), ..Utterance::of_user(text) };
        let start = now();
        newest = remember(&engine, &user, &said, &RememberOptions::default())?.seq;
        records.push(seconds(start) * 1e3);
    }
    let selection = Selection::Events(vec![EventRef::Seq(newest)]);
    let (revert, _) = measured(|| revert(&engine, &user, &selection, &RevertOptions::default(), &mut |_| {}))?;
    let middle =
        ListOptions { at: When::Now, session: None, kind: Some(ItemKind::Turn), offset: status.items / 2, limit: 1 };
    let target = list(&engine, &user, &middle)?.items.first().map(|item| EraseTarget::Item(item.id));
    let target = target.ok_or_else(|| Error::Bug("there is no turn to erase".to_owned()))?;
    let (erase, receipt) = measured(|| erase(&engine, &user, &[target], "measured", &mut |_| {}))?;
    Ok(Used {
        open,
        resident_bytes,
        estimated_bytes: status.bytes_in_memory,
        recall_ms: Quantiles::of(recalls),
        pack_ms: Quantiles::of(packs),
        record_ms: Quantiles::of(records),
        revert,
        erase,
        erased_changes: receipt.erased.len(),
    })
}
