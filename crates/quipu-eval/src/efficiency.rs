//! Efficiency: cost of remembering and recalling, on the conversations and questions of a LoCoMo file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use quipu_core::id::UserId;
use quipu_core::recall::Intent;
use quipu_engine::ports::{EmbedError, Embedded, Embedder, EmbeddingModel};
use quipu_engine::{
    ContextOptions, Engine, EngineRules, Error, OptionalParts, RecallOptions, RememberOptions, Result, Utterance,
};
use quipu_models::RuleExtractor;
use serde::Serialize;

use super::locomo::{Ingest, import, questions};
use super::metrics::Quantiles;
use crate::environment::{Environment, Measurement, Output};
use crate::render;
use crate::temporary_folder;
use quipu::Components;
use quipu::system::{SystemClock, SystemEntropy};

const INTENTS: [Intent; 5] = [Intent::Recall, Intent::Plan, Intent::Reflect, Intent::Decide, Intent::Nudge];

/// Turns added one by one to see when recall finds them.
const ADDED: usize = 50;

/// Recalls after which a turn counts as never found.
const TRIES_MAX: usize = 100;

#[derive(Debug, Serialize)]
struct Report {
    questions: usize,
    /// By intent.
    pack_tokens: BTreeMap<&'static str, Tokens>,
    recall_ms: Latencies,
    pack_ms: Latencies,
    add: Lag,
    add_durable_only: Lag,
    ingest: Ingest,
    items: usize,
    bytes_per_item: Bytes,
    model: String,
}

#[derive(Debug, Serialize)]
struct Tokens {
    p50: usize,
    p95: usize,
    max: usize,
}

/// Milliseconds, with and without the embedding of the question.
#[derive(Debug, Serialize)]
struct Latencies {
    with_embedding: Quantiles,
    without_embedding: Quantiles,
}

impl Latencies {
    fn of(times: &[(f64, f64)]) -> Self {
        let of = |pick: fn(&(f64, f64)) -> f64| Quantiles::of(times.iter().map(pick).collect());
        Self { with_embedding: of(|times| times.0), without_embedding: of(|times| times.1) }
    }
}

/// Turns added one by one.
#[derive(Debug, Serialize)]
struct Lag {
    turns: usize,
    /// Duration of an addition.
    add_ms: Quantiles,
    /// From then until a recall had returned the turn, including the recall's own time.
    lag_ms: Quantiles,
    /// Turns that the first recall returned.
    seen_at_once: usize,
    never_seen: usize,
}

#[derive(Debug, Serialize)]
struct Bytes {
    disk: f64,
    memory: f64,
}

/// The model, and the time spent in it.
struct Timed {
    model: Arc<dyn Embedder>,
    micros: AtomicU64,
}

impl Embedder for Timed {
    fn model(&self) -> &EmbeddingModel {
        self.model.model()
    }

    fn embed(&self, texts: &[&str]) -> std::result::Result<Vec<Vec<f32>>, EmbedError> {
        let start = now();
        let vectors = self.model.embed(texts);
        self.micros.fetch_add(u64::try_from(start.elapsed().as_micros()).unwrap_or(0), Ordering::Relaxed);
        vectors
    }

    fn embed_tokens(&self, texts: &[&str]) -> std::result::Result<Vec<Embedded>, EmbedError> {
        let start = now();
        let embedded = self.model.embed_tokens(texts);
        self.micros.fetch_add(u64::try_from(start.elapsed().as_micros()).unwrap_or(0), Ordering::Relaxed);
        embedded
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.model.count_tokens(text)
    }
}

#[expect(clippy::disallowed_methods, reason = "an evaluation measures real time")]
fn now() -> Instant {
    Instant::now()
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

pub(crate) fn efficiency(
    environment: &dyn Environment,
    output: &dyn Output,
    file: &Path,
    most: u64,
    only: &[String],
) -> Result<Measurement> {
    let folder = temporary_folder()?;
    let timed = Arc::new(Timed { model: environment.embedder()?, micros: AtomicU64::new(0) });
    let components = Components {
        embedder: timed.clone(),
        clock: Arc::new(SystemClock::at(environment.now())),
        entropy: Arc::new(SystemEntropy),
        extractor: Some(Arc::new(RuleExtractor::english())),
        summarizer: None,
        rules: EngineRules::default(),
        optional: OptionalParts { tokenizers: quipu_models::tokenizers(), ..OptionalParts::default() },
    };
    let engine = quipu::open_engine(folder.path(), components)?;
    let asked = asked(file, most, only)?;
    let (ingest, users) = import(&engine, output, file, only, true)?;
    let (mut items, mut disk, mut memory) = (0, 0, 0);
    for user in &users {
        let status = quipu_engine::status(&engine, user)?;
        (items, disk, memory) =
            (items + status.items, disk + status.bytes_on_disk, memory + status.bytes_in_memory as u64);
    }
    let (tokens, pack_times) = packs(&engine, &timed, &asked)?;
    let first = users.first().ok_or_else(|| Error::Invalid(format!("{} has no conversations", file.display())))?;
    let report = Report {
        questions: asked.len(),
        pack_tokens: tokens,
        recall_ms: Latencies::of(&recalls(&engine, &asked)?),
        pack_ms: Latencies::of(&pack_times),
        add: lag(&engine, first, false)?,
        add_durable_only: lag(&engine, first, true)?,
        ingest,
        items,
        bytes_per_item: Bytes { disk: disk as f64 / items as f64, memory: memory as f64 / items as f64 },
        model: timed.model().id.clone(),
    };
    Measurement::of(&report, in_words)
}

/// Questions and their users: at most this many, spread evenly over the file.
fn asked(file: &Path, most: u64, only: &[String]) -> Result<Vec<(UserId, String)>> {
    let mut all = Vec::new();
    for set in questions(file)? {
        if only.is_empty() || only.contains(&set.conversation) {
            let user = UserId::parse(&set.conversation)?;
            all.extend(set.questions.into_iter().map(|asked| (user.clone(), asked.question)));
        }
    }
    if all.is_empty() {
        let advice = "efficiency is measured with the questions of the conversations chosen";
        return Err(Error::Invalid(format!("{} has no questions; {advice}", file.display())));
    }
    let count = all.len().min(usize::try_from(most).unwrap_or(usize::MAX));
    Ok((0..count).map(|number| all[number * all.len() / count].clone()).collect())
}

fn recalls(engine: &Engine, asked: &[(UserId, String)]) -> Result<Vec<(f64, f64)>> {
    let one = |(user, question): &(UserId, String)| {
        let timing = quipu_engine::recall(engine, user, &RecallOptions::of(question))?.timing;
        Ok(((timing.recall_us + timing.embed_us) as f64 / 1e3, timing.recall_us as f64 / 1e3))
    };
    asked.iter().map(one).collect()
}

/// Tokens by intent, and durations of packs with and without embedding.
type Packs = (BTreeMap<&'static str, Tokens>, Vec<(f64, f64)>);

fn packs(engine: &Engine, timed: &Timed, asked: &[(UserId, String)]) -> Result<Packs> {
    let (mut tokens, mut times) = (BTreeMap::new(), Vec::new());
    for intent in INTENTS {
        let mut costs = Vec::new();
        for (user, question) in asked {
            let options = ContextOptions { intent: Some(intent), ..ContextOptions::of(question) };
            let (start, before) = (now(), timed.micros.load(Ordering::Relaxed));
            costs.push(quipu_engine::context(engine, user, &options)?.tokens);
            let took = ms(start);
            let embedding = (timed.micros.load(Ordering::Relaxed) - before) as f64 / 1e3;
            times.push((took, (took - embedding).max(0.0)));
        }
        tokens.insert(intent.as_str(), spread(costs));
    }
    Ok((tokens, times))
}

fn spread(mut costs: Vec<usize>) -> Tokens {
    costs.sort_unstable();
    let at = |share: f64| costs.get(((costs.len() as f64 - 1.0) * share).round() as usize).copied().unwrap_or_default();
    Tokens { p50: at(0.5), p95: at(0.95), max: at(1.0) }
}

/// Adds new turns, and recalls each until it is found.
fn lag(engine: &Engine, user: &UserId, durable_only: bool) -> Result<Lag> {
    let (mut adding, mut lagging, mut seen_at_once, mut never_seen) = (Vec::new(), Vec::new(), 0, 0);
    let kind = if durable_only { "crate" } else { "parcel" };
    for number in 0..ADDED {
        let text = format!("The {kind} numbered quokka{number} stands behind the lighthouse door.");
        let said = Utterance { session: Some(format!("eval:{kind}")), ..Utterance::of_user(text.clone()) };
        let options = RememberOptions { durable_only, ..RememberOptions::default() };
        let start = now();
        let receipt = quipu_engine::remember(engine, user, &said, &options)?;
        adding.push(ms(start));
        let start = now();
        let query = RecallOptions::of(&format!("Where is the {kind} numbered quokka{number}?"));
        let mut tries = 0;
        let found = loop {
            tries += 1;
            let hits = quipu_engine::recall(engine, user, &query)?.hits;
            if hits.iter().any(|hit| receipt.items.contains(&hit.id) || hit.text.contains(&text)) {
                break true;
            }
            if tries >= TRIES_MAX {
                break false;
            }
        };
        if found {
            lagging.push(ms(start))
        } else {
            never_seen += 1
        }
        seen_at_once += usize::from(found && tries == 1);
    }
    let (add_ms, lag_ms) = (Quantiles::of(adding), Quantiles::of(lagging));
    Ok(Lag { turns: ADDED, add_ms, lag_ms, seen_at_once, never_seen })
}

fn in_words(report: &Report) -> String {
    let tokens = |(intent, one): (&&str, &Tokens)| {
        vec![(*intent).to_owned(), one.p50.to_string(), one.p95.to_string(), one.max.to_string()]
    };
    let times = |name: &str, times: Quantiles| {
        vec![name.to_owned(), format!("{:.3} ms", times.p50), format!("{:.3} ms", times.p95)]
    };
    let rows = [
        times("recall", report.recall_ms.with_embedding),
        times("recall, without the question's embedding", report.recall_ms.without_embedding),
        times("a pack", report.pack_ms.with_embedding),
        times("a pack, without the question's embedding", report.pack_ms.without_embedding),
        times("adding a turn", report.add.add_ms),
        times("from then until recall returns it", report.add.lag_ms),
        times("adding a turn, durable only", report.add_durable_only.add_ms),
        times("from then until recall returns it", report.add_durable_only.lag_ms),
    ];
    let seen =
        |lag: &Lag| format!("{} of {} by the first recall, {} never", lag.seen_at_once, lag.turns, lag.never_seen);
    format!(
        "{}\n{}\n{} questions, each for five intents\nAdded turns seen: {}; durable only: {}\n\
         Ingest with facts read: {} turns of {} conversations, {:.0} a second until they can be recalled, {:.0} a second \
         until durable\nBytes per item, of {}: {} on disk, {} in memory\nModel: {}\n",
        render::table(
            &["tokens of a pack", "p50", "p95", "max"],
            &report.pack_tokens.iter().map(tokens).collect::<Vec<_>>()
        ),
        render::table(&["time", "p50", "p95"], &rows),
        report.questions,
        seen(&report.add),
        seen(&report.add_durable_only),
        report.ingest.turns,
        report.ingest.conversations,
        report.ingest.turns_per_second,
        report.ingest.durable_turns_per_second,
        report.items,
        render::size(report.bytes_per_item.disk as u64),
        render::size(report.bytes_per_item.memory as u64),
        report.model
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_few() {
        let few = spread(vec![30, 10, 20]);
        assert_eq!((few.p50, few.p95, few.max), (20, 30, 30));
        assert_eq!(spread(Vec::new()).max, 0);
    }
}
