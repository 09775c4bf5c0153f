//! Recall latency of one reader, alone and beside eight threads that append to the same memory.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quipu_core::id::UserId;
use quipu_engine::{Engine, Error, RecallOptions, RememberOptions, Result, Utterance, recall, remember};
use serde::Serialize;

use super::{engine, now, seconds, sentence, turn};

/// Turns in the memory at the start.
const TURNS: usize = 10_000;
/// Appending threads.
const WRITERS: usize = 8;
/// Questions asked in each phase.
const ASKED: usize = 2_000;

/// Recall latency in milliseconds, without a real model's embedding.
#[derive(Debug, Serialize)]
pub(super) struct Contention {
    items: usize,
    writers: usize,
    alone: Waits,
    beside: Waits,
    /// Append rate of the writers meanwhile.
    appends_per_second: f64,
}

#[derive(Debug, Serialize)]
struct Waits {
    p50: f64,
    p99: f64,
}

impl Waits {
    fn of(mut all: Vec<f64>) -> Self {
        all.sort_by(f64::total_cmp);
        let at = |share: f64| all.get(((all.len() as f64 * share) as usize).min(all.len().saturating_sub(1)));
        Self { p50: at(0.5).copied().unwrap_or_default(), p99: at(0.99).copied().unwrap_or_default() }
    }
}

pub(super) fn contention(folder: &Path) -> Result<Contention> {
    let user = UserId::parse("bench")?;
    let engine = engine(folder, None)?;
    let batches = (0..TURNS).step_by(5000).map(|from| (from..TURNS.min(from + 5000)).map(turn).collect::<Vec<_>>());
    quipu_engine::ingest::record_sources(&engine, &user, batches, "bench")?;
    asked(&engine, &user)?;
    let alone = asked(&engine, &user)?;
    let (stop, appended) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (beside, elapsed) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (engine, user, stop, appended) = (&engine, &user, &stop, &appended);
                scope.spawn(move || -> Result<()> {
                    let options = RememberOptions { durable_only: true, ..RememberOptions::default() };
                    while !stop.load(Ordering::Relaxed) {
                        let number = appended.fetch_add(1, Ordering::Relaxed);
                        let said = Utterance::of_user(sentence(number * WRITERS + writer));
                        remember(engine, user, &said, &options)?;
                    }
                    Ok(())
                })
            })
            .collect();
        let start = now();
        let beside = asked(&engine, &user);
        let elapsed = seconds(start);
        stop.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.join().map_err(|_| Error::Bug("a writer panicked".to_owned()))??;
        }
        beside.map(|beside| (beside, elapsed))
    })?;
    Ok(Contention {
        items: TURNS,
        writers: WRITERS,
        alone: Waits::of(alone),
        beside: Waits::of(beside),
        appends_per_second: appended.load(Ordering::Relaxed) as f64 / elapsed,
    })
}

fn asked(engine: &Engine, user: &UserId) -> Result<Vec<f64>> {
    let mut waits = Vec::with_capacity(ASKED);
    for number in 0..ASKED {
        let question = sentence(number * 31 + 5).split(' ').take(6).collect::<Vec<_>>().join(" ");
        let start = now();
        recall(engine, user, &RecallOptions { k: 10, ..RecallOptions::of(&question) })?;
        waits.push(seconds(start) * 1e3);
    }
    Ok(waits)
}

impl Contention {
    pub(super) fn rows(&self) -> [Vec<String>; 2] {
        let Self { items, writers, alone, beside, appends_per_second } = self;
        [
            vec![format!("a recall among {items} items"), format!("p50 {:.3} ms, p99 {:.3} ms", alone.p50, alone.p99)],
            vec![
                format!("the same beside {writers} writers"),
                format!(
                    "p50 {:.3} ms, p99 {:.3} ms; {appends_per_second:.0} appends/s meanwhile",
                    beside.p50, beside.p99
                ),
            ],
        ]
    }
}
