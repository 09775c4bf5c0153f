//! LoCoMo (Maharana et al., 2024): questions over long conversations, and the turns that answer them.

mod asking;
mod telling;

use std::collections::BTreeMap;

use quipu_core::id::UserId;
use quipu_engine::Result;
use serde::Serialize;

use super::heard;
use super::lines::Out;
use super::metrics::{Figures, Quantiles, SESSION_FIGURES, Scores, TURN_FIGURES};
use crate::args::Conversations;
use crate::environment::{Environment, Measurement, Output};
use crate::render;

pub(super) use asking::category_name;
use asking::{Run, SkippedInLocomo};
pub(super) use telling::{Bytes, Ingest, import, questions};

#[derive(Debug, Serialize)]
struct Report {
    /// How the memory was made.
    memory: &'static str,
    #[serde(flatten)]
    all: Figures,
    by_category: BTreeMap<String, Figures>,
    by_conversation: BTreeMap<String, Figures>,
    latency_ms: Latency,
    ingest: Ingest,
    bytes: Bytes,
    skipped: SkippedInLocomo,
    model: String,
}

#[derive(Debug, Serialize)]
struct Latency {
    with_embedding: Quantiles,
    without_embedding: Quantiles,
}

pub(crate) fn locomo(environment: &dyn Environment, output: &dyn Output, told: &Conversations) -> Result<Measurement> {
    let (_folder, engine) = match &told.store {
        Some(address) => super::on_database(environment, address)?,
        None => super::scratch(environment)?,
    };
    let mut run = Run { asked: Vec::new(), skipped: SkippedInLocomo::default(), out: Out::to(told.out.as_deref())? };
    let (ingest, users) = import(&engine, output, &told.file, &told.conversations, !told.words_only)?;
    for set in &questions(&told.file)? {
        let user = UserId::parse(&set.conversation)?;
        if users.contains(&user) {
            run.ask_all(&engine, &user, set)?;
        }
    }
    run.out.finish()?;
    let names = [&TURN_FIGURES[..], &SESSION_FIGURES].concat();
    let rows: Vec<&Scores> = run.asked.iter().map(|asked| &asked.scores).collect();
    let report = Report {
        memory: heard::reading(told.words_only),
        all: Figures::of(&names, &rows),
        by_category: Figures::split(&names, run.asked.iter().map(|asked| (asked.category, &asked.scores))),
        by_conversation: Figures::split(
            &names,
            run.asked.iter().map(|asked| (asked.conversation.as_str(), &asked.scores)),
        ),
        latency_ms: Latency {
            with_embedding: Quantiles::of(run.asked.iter().map(|asked| asked.with_ms).collect()),
            without_embedding: Quantiles::of(run.asked.iter().map(|asked| asked.without_ms).collect()),
        },
        bytes: Bytes::of(&engine, &users, ingest.turns)?,
        ingest,
        skipped: run.skipped,
        model: engine.embedder().model().id.clone(),
    };
    Measurement::of(&report, in_words)
}

const TURN_HEADINGS: [&str; 9] = ["turns", "questions", "R@5", "R@10", "R@20", "R@50", "all@10", "NDCG@10", "MRR"];
const SESSION_HEADINGS: [&str; 5] = ["sessions", "questions", "R@1", "R@5", "R@10"];

fn in_words(report: &Report) -> String {
    let table = |headings: &[&str], names: &[&str]| {
        let parts = report.by_conversation.iter().chain(&report.by_category);
        let mut rows: Vec<Vec<String>> = parts.map(|(about, figures)| figures.row(about, names)).collect();
        rows.push(report.all.row("all", names));
        render::table(headings, &rows)
    };
    let (with, without) = (&report.latency_ms.with_embedding, &report.latency_ms.without_embedding);
    let skipped = &report.skipped;
    format!(
        "{}\n{}\nPercent, with the 95 % interval of {} resamples of the questions\n\
         Recall: p50 {:.2} ms, p95 {:.2} ms; without the question's embedding p50 {:.3} ms, p95 {:.3} ms\n\
         Ingest: {} turns of {} conversations, {:.0} per second until they can be recalled, {:.0} per second until durable\n\
         Bytes per turn: {} on disk, {} in memory\n\
         Skipped: {} questions of category 5, {} without evidence; evidence ids: {} malformed, {} mended, {} unknown\n\
         Memory: {}\nModel: {}\n",
        table(&TURN_HEADINGS, &TURN_FIGURES),
        table(&SESSION_HEADINGS, &SESSION_FIGURES),
        super::bootstrap::RESAMPLES,
        with.p50,
        with.p95,
        without.p50,
        without.p95,
        report.ingest.turns,
        report.ingest.conversations,
        report.ingest.turns_per_second,
        report.ingest.durable_turns_per_second,
        render::size(report.bytes.disk_per_turn as u64),
        render::size(report.bytes.memory_per_turn as u64),
        skipped.category_5,
        skipped.without_evidence,
        skipped.evidence_ids_malformed,
        skipped.evidence_ids_mended,
        skipped.evidence_ids_unknown,
        report.memory,
        report.model
    )
}
