//! LoCoMo (Maharana et al., 2024): questions over long conversations, and the turns that answer them.

use std::collections::{BTreeMap, HashMap};
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_engine::import::locomo::questions::{self as format, Question, QuestionSet};
use quipu_engine::import::{Format, ReadError, ReadOptions};
use quipu_engine::{Engine, Error, IngestOptions, ListOptions, Progress, RecallOptions, Result};
use serde::Serialize;

use super::super::{admin, render};
use super::metrics::{Figures, Marks, Quantiles, SESSION_DEPTHS, TURN_DEPTHS};
use super::write_details;
use crate::app;
use crate::output::Printer;
use crate::settings::Settings;

/// Items asked for: enough to rank every session of a conversation.
const DEPTH: usize = quipu_core::limit::RECALL_K_MAX;

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    all: Figures,
    by_category: BTreeMap<&'static str, Figures>,
    latency_ms: Latency,
    ingest: Ingest,
    bytes: Bytes,
    skipped: Skipped,
    model: String,
}

#[derive(Debug, Serialize)]
struct Latency {
    with_embedding: Quantiles,
    without_embedding: Quantiles,
}

#[derive(Debug, Serialize)]
struct Ingest {
    conversations: usize,
    turns: u64,
    /// Until every turn can be recalled.
    turns_per_second: f64,
    /// Until every turn is durable.
    durable_turns_per_second: f64,
}

#[derive(Debug, Serialize)]
struct Bytes {
    disk_per_turn: f64,
    memory_per_turn: f64,
}

#[derive(Debug, Default, Serialize)]
struct Skipped {
    category_5: usize,
    without_evidence: usize,
    evidence_ids_malformed: usize,
    evidence_ids_mended: usize,
    evidence_ids_unknown: usize,
}

/// One question's line in the file of details.
#[derive(Debug, Serialize)]
struct Detail<'a> {
    conversation: &'a str,
    question: &'a str,
    answer: Option<&'a str>,
    category: u8,
    evidence: &'a [&'a str],
    found: &'a [&'a str],
    recall_at_10: f64,
    ndcg_at_10: f64,
}

fn category_name(category: u8) -> &'static str {
    match category {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        _ => "other",
    }
}

pub(in super::super) fn locomo(settings: &Settings, printer: &Printer, file: &Path, out: Option<&Path>) -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| Error::Unavailable(format!("no temporary folder: {error}")))?;
    let engine = app::open_in(folder.path(), settings)?;
    let (ingest, users) = import(&engine, printer, file)?;
    let mut run = Run {
        marks: Vec::new(),
        with: Vec::new(),
        without: Vec::new(),
        skipped: Skipped::default(),
        details: Vec::new(),
    };
    let sets = questions(file)?;
    for set in &sets {
        let user = UserId::parse(&set.conversation)?;
        if users.contains(&user) {
            run.ask_all(&engine, &user, set)?;
        }
    }
    if let Some(path) = out {
        write_details(path, &run.details)?;
    }
    let (mut disk, mut memory) = (0, 0);
    for user in &users {
        let status = quipu_engine::status(&engine, user)?;
        disk += status.bytes_on_disk;
        memory += status.bytes_in_memory as u64;
    }
    let report = Report {
        all: Figures::of(&run.marks.iter().map(|(_, marks)| marks).collect::<Vec<_>>()),
        by_category: by_category(&run.marks),
        latency_ms: Latency { with_embedding: Quantiles::of(run.with), without_embedding: Quantiles::of(run.without) },
        bytes: Bytes {
            disk_per_turn: disk as f64 / ingest.turns as f64,
            memory_per_turn: memory as f64 / ingest.turns as f64,
        },
        ingest,
        skipped: run.skipped,
        model: engine.embedder().model().id.clone(),
    };
    printer.report(&report, in_words)
}

fn by_category(marks: &[(u8, Marks)]) -> BTreeMap<&'static str, Figures> {
    let mut split: BTreeMap<&'static str, Vec<&Marks>> = BTreeMap::new();
    for (category, one) in marks {
        split.entry(category_name(*category)).or_default().push(one);
    }
    split.into_iter().map(|(name, marks)| (name, Figures::of(&marks))).collect()
}

#[expect(clippy::disallowed_methods, reason = "an evaluation measures real time")]
fn now() -> Instant {
    Instant::now()
}

fn import(engine: &Engine, printer: &Printer, file: &Path) -> Result<(Ingest, Vec<UserId>)> {
    let options = IngestOptions {
        dry_run: false,
        extract: false,
        own_words: false,
        conversation: None,
        into: None,
        default_user: UserId::parse("eval")?,
        read: ReadOptions::default(),
    };
    let bar = printer.progress();
    let start = now();
    let mut durable = None;
    let (report, fault) = quipu_engine::ingest(engine, Format::Locomo, file, &options, &mut |progress| {
        if matches!(progress, Progress::Embedded(..)) {
            durable.get_or_insert_with(|| start.elapsed().as_secs_f64());
        }
        bar.show(progress);
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    let seconds = start.elapsed().as_secs_f64();
    let turns: u64 = report.conversations.iter().map(|part| part.new).sum();
    let ingest = Ingest {
        conversations: report.conversations.len(),
        turns,
        turns_per_second: turns as f64 / seconds,
        durable_turns_per_second: turns as f64 / durable.unwrap_or(seconds),
    };
    Ok((ingest, report.conversations.into_iter().map(|part| part.user_id).collect()))
}

fn questions(file: &Path) -> Result<Vec<QuestionSet>> {
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

struct Run {
    marks: Vec<(u8, Marks)>,
    with: Vec<f64>,
    without: Vec<f64>,
    skipped: Skipped,
    details: Vec<String>,
}

impl Run {
    fn ask_all(&mut self, engine: &Engine, user: &UserId, set: &QuestionSet) -> Result<()> {
        self.skipped.evidence_ids_malformed += set.evidence_skipped;
        self.skipped.evidence_ids_mended += set.evidence_mended;
        self.skipped.evidence_ids_unknown += set.evidence_absent;
        let conversation = Conversation::of(engine, user)?;
        for asked in &set.questions {
            if asked.category == 5 {
                self.skipped.category_5 += 1;
                continue;
            }
            let wanted: Vec<&str> = asked
                .evidence
                .iter()
                .map(String::as_str)
                .filter(|id| conversation.sessions.contains_key(*id))
                .collect();
            if wanted.is_empty() {
                self.skipped.without_evidence += 1;
                continue;
            }
            self.ask(engine, user, set, asked, &wanted, &conversation)?;
        }
        Ok(())
    }

    fn ask(
        &mut self,
        engine: &Engine,
        user: &UserId,
        set: &QuestionSet,
        asked: &Question,
        wanted: &[&str],
        conversation: &Conversation,
    ) -> Result<()> {
        // It is asked when the conversation ends: "two years ago" is counted from there.
        let usual = RecallOptions { k: 10, now: conversation.end, ..RecallOptions::of(&asked.question) };
        let timing = quipu_engine::recall(engine, user, &usual)?.timing;
        self.without.push(timing.recall_us as f64 / 1e3);
        self.with.push((timing.recall_us + timing.embed_us) as f64 / 1e3);
        let options = RecallOptions { k: DEPTH, ..usual };
        let report = quipu_engine::recall(engine, user, &options)?;
        let turns: Vec<&str> = report.hits.iter().filter_map(|hit| hit.native_id.as_deref()).collect();
        let wanted_sessions = firsts(wanted.iter().filter_map(|id| conversation.sessions.get(*id).map(String::as_str)));
        let found_sessions = firsts(report.hits.iter().filter_map(|hit| hit.session_id.as_deref()));
        let marks = Marks::of(&turns, wanted, &found_sessions, &wanted_sessions);
        let detail = Detail {
            conversation: &set.conversation,
            question: &asked.question,
            answer: asked.answer.as_deref(),
            category: asked.category,
            evidence: wanted,
            found: &turns[..turns.len().min(50)],
            recall_at_10: marks.turn_recall[1],
            ndcg_at_10: marks.turn_ndcg_10,
        };
        self.details.push(serde_json::to_string(&detail).map_err(|error| Error::Bug(error.to_string()))?);
        self.marks.push((asked.category, marks));
        Ok(())
    }
}

/// Each name once, where it first stands.
fn firsts<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// What is known of a conversation beside its turns' texts.
struct Conversation {
    /// The session of each turn.
    sessions: HashMap<String, String>,
    /// When the last turn was said.
    end: Option<Timestamp>,
}

impl Conversation {
    fn of(engine: &Engine, user: &UserId) -> Result<Self> {
        let at = quipu_engine::versions::When::Now;
        let options = ListOptions { at, session: None, kind: None, offset: 0, limit: usize::MAX };
        let page = quipu_engine::list(engine, user, &options)?;
        let end = page.items.iter().filter_map(|item| item.said_at).max();
        Ok(Self {
            sessions: page.items.into_iter().filter_map(|item| Some((item.native_id?, item.session_id?))).collect(),
            end,
        })
    }
}

fn in_words(report: &Report) -> String {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let row = |name: &str, figures: &Figures| {
        let mut cells = vec![name.to_owned(), figures.questions.to_string()];
        cells.extend(TURN_DEPTHS.iter().map(|depth| percent(figures.turn.recall[depth])));
        cells.push(percent(figures.turn.recall_all[&10]));
        cells.push(percent(figures.turn.ndcg[&10]));
        cells.extend(SESSION_DEPTHS.iter().map(|depth| percent(figures.session.recall[depth])));
        cells
    };
    let mut rows: Vec<Vec<String>> = report.by_category.iter().map(|(name, figures)| row(name, figures)).collect();
    rows.push(row("all", &report.all));
    let headings = ["", "questions", "R@5", "R@10", "R@20", "R@50", "all@10", "NDCG@10", "session R@1", "R@5", "R@10"];
    let (with, without) = (&report.latency_ms.with_embedding, &report.latency_ms.without_embedding);
    let skipped = &report.skipped;
    format!(
        "{}\nRecall: p50 {:.2} ms, p95 {:.2} ms; without the question's embedding p50 {:.3} ms, p95 {:.3} ms\n\
         Ingest: {} turns of {} conversations, {:.0} a second until they can be recalled, {:.0} a second until durable\n\
         Bytes a turn: {} on disk, {} in memory\n\
         Skipped: {} questions of category 5, {} without evidence; evidence ids: {} malformed, {} mended, {} unknown\n\
         Model: {}\n",
        render::table(&headings, &rows),
        with.p50,
        with.p95,
        without.p50,
        without.p95,
        report.ingest.turns,
        report.ingest.conversations,
        report.ingest.turns_per_second,
        report.ingest.durable_turns_per_second,
        admin::size(report.bytes.disk_per_turn as u64),
        admin::size(report.bytes.memory_per_turn as u64),
        skipped.category_5,
        skipped.without_evidence,
        skipped.evidence_ids_malformed,
        skipped.evidence_ids_mended,
        skipped.evidence_ids_unknown,
        report.model
    )
}
