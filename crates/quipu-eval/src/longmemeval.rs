//! LongMemEval (Wu et al., 2025): questions, each with its own history of chats, and the chats that answer them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use quipu_core::id::UserId;
use quipu_engine::import::ReadError;
use quipu_engine::import::longmemeval::questions::{self, BenchmarkCase};
use quipu_engine::{Engine, Error, Progress, RecallOptions, RecallReport, Result};
use serde::Serialize;

use super::lines::{Out, ResultLine};
use super::metrics::{self, Figures, Quantiles, Scores, TURN_FIGURES, firsts};
use crate::environment::{Environment, Measurement, Output};
use crate::render;

/// Items requested: enough to rank the sessions of most histories.
const DEPTH: usize = quipu_core::limit::RECALL_K_MAX;

/// Items requested when latency is measured.
const USUAL: usize = 10;

/// Items listed in the file of details.
const LISTED: usize = 50;

/// `recall` is the share of the sessions found; `any`, `all` and the gain are the figures of the benchmark's own tools.
const SESSION_FIGURES: [&str; 8] = [
    "session.recall.1",
    "session.recall.5",
    "session.recall.10",
    "session.recall_any.5",
    "session.recall_any.10",
    "session.recall_all.5",
    "session.recall_all.10",
    "session.ndcg_any.10",
];

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    all: Figures,
    /// Questions with marked turns, on which the figures of turns are based.
    questions_with_turns: usize,
    by_type: BTreeMap<String, Figures>,
    abstention: Abstention,
    latency_ms: Latency,
    turns: u64,
    skipped: SkippedCases,
    model: String,
}

#[derive(Debug, Serialize)]
struct Latency {
    with_embedding: Quantiles,
    without_embedding: Quantiles,
}

/// Compares the best answers of unanswerable and answerable questions: the further apart their scores, the easier it is
/// to abstain.
#[derive(Debug, Serialize)]
struct Abstention {
    questions: usize,
    best_relevance: Spread,
    best_confidence: Spread,
    best_relevance_of_answerable: Spread,
    best_confidence_of_answerable: Spread,
    /// The share of pairs in which the answerable question has the higher relevance; .5 is chance.
    relevance_tells_apart: Option<f64>,
    confidence_tells_apart: Option<f64>,
}

#[derive(Debug, Default, Serialize)]
struct Spread {
    p05: f64,
    p50: f64,
    p95: f64,
}

#[derive(Debug, Default, Serialize)]
struct SkippedCases {
    without_sessions: usize,
    without_history: usize,
    beyond_limit: usize,
    sessions_absent: usize,
}

/// One question's line in the file of details.
#[derive(Debug, Serialize)]
struct Detail<'a> {
    #[serde(flatten)]
    line: &'a ResultLine,
    answer: Option<&'a str>,
    sessions: &'a [String],
    turns: &'a [String],
    found_sessions: &'a [&'a str],
    found: &'a [&'a str],
}

pub(crate) fn longmemeval(
    environment: &dyn Environment,
    output: &dyn Output,
    file: &Path,
    limit: Option<usize>,
    out: Option<&Path>,
) -> Result<Measurement> {
    let (_folder, engine) = super::scratch(environment)?;
    let place = file.display();
    let opened = File::open(file).map_err(|error| Error::NotFound(format!("cannot read {place}: {error}")))?;
    let mut run = Run {
        engine: &engine,
        bar: output.progress(),
        limit: limit.unwrap_or(usize::MAX),
        lines: Vec::new(),
        abstained: Vec::new(),
        without_ms: Vec::new(),
        turns: 0,
        skipped: SkippedCases::default(),
        out: Out::to(out)?,
    };
    // One question with its history at a time, whatever the size of the file.
    match questions::read(&mut BufReader::new(opened), &mut |case| run.take(&case)) {
        Ok(()) => {}
        Err(ReadError::Fault(fault)) => return Err(Error::Invalid(format!("{place}: {fault}"))),
        Err(ReadError::Caller(error)) => return Err(error),
    }
    let report = run.report()?;
    Measurement::of(&report, in_words)
}

struct Run<'a> {
    engine: &'a Engine,
    bar: Box<dyn Fn(Progress)>,
    limit: usize,
    lines: Vec<ResultLine>,
    abstained: Vec<ResultLine>,
    without_ms: Vec<f64>,
    turns: u64,
    skipped: SkippedCases,
    out: Out,
}

impl Run<'_> {
    fn take(&mut self, case: &BenchmarkCase) -> Result<()> {
        if self.lines.len() + self.abstained.len() >= self.limit {
            self.skipped.beyond_limit += 1;
            return Ok(());
        }
        let Some(history) = &case.history else {
            self.skipped.without_history += 1;
            return Ok(());
        };
        if !case.abstention {
            self.skipped.sessions_absent += case.sessions_absent;
            if case.sessions.is_empty() {
                self.skipped.without_sessions += 1;
                return Ok(());
            }
        }
        // A separate memory, deleted after the question.
        let user = UserId::parse(&case.id).or_else(|_| UserId::parse(&format!("question-{}", self.lines.len())))?;
        let batch = std::iter::once(history.sources.clone());
        self.turns += quipu_engine::ingest::record_sources(self.engine, &user, batch, "eval:longmemeval")?;
        let asked = self.ask(&user, case);
        quipu_engine::erase::delete_user(self.engine, &user)?;
        let line = asked?;
        if case.abstention { &mut self.abstained } else { &mut self.lines }.push(line);
        (self.bar)(Progress::Imported((self.lines.len() + self.abstained.len()) as u64));
        Ok(())
    }

    fn ask(&mut self, user: &UserId, case: &BenchmarkCase) -> Result<ResultLine> {
        let usual = RecallOptions { k: USUAL, now: case.asked_at, ..RecallOptions::of(&case.question) };
        let timing = quipu_engine::recall(self.engine, user, &usual)?.timing;
        self.without_ms.push(timing.recall_us as f64 / 1e3);
        let report = quipu_engine::recall(self.engine, user, &RecallOptions { k: DEPTH, ..usual })?;
        let turns: Vec<&str> = report.hits.iter().filter_map(|hit| hit.native_id.as_deref()).collect();
        let sessions = firsts(report.hits.iter().filter_map(|hit| hit.session_id.as_deref()));
        let best = report.hits.first();
        let line = ResultLine {
            id: case.id.clone(),
            eval: "longmemeval".to_owned(),
            group: if case.abstention { "abstention".to_owned() } else { case.kind.clone() },
            question: case.question.clone(),
            metrics: scores(case, &turns, &sessions),
            latency_ms: Some((timing.recall_us + timing.embed_us) as f64 / 1e3),
            relevance: best.map(|hit| f64::from(hit.score)),
            confidence: best.map(|hit| hit.confidence),
            right: right(case, &report),
        };
        self.out.push(&Detail {
            line: &line,
            answer: case.answer.as_deref(),
            sessions: &case.sessions,
            turns: &case.turns,
            found_sessions: &sessions[..sessions.len().min(USUAL)],
            found: &turns[..turns.len().min(LISTED)],
        })?;
        Ok(line)
    }

    fn report(self) -> Result<Report> {
        self.out.finish()?;
        let names = [&TURN_FIGURES[..], &SESSION_FIGURES].concat();
        let rows: Vec<&Scores> = self.lines.iter().map(|line| &line.metrics).collect();
        let of = |lines: &[ResultLine], value: fn(&ResultLine) -> Option<f64>| {
            lines.iter().filter_map(value).collect::<Vec<_>>()
        };
        let relevance = [of(&self.abstained, |line| line.relevance), of(&self.lines, |line| line.relevance)];
        let confidence = [of(&self.abstained, |line| line.confidence), of(&self.lines, |line| line.confidence)];
        let times = self.lines.iter().chain(&self.abstained).filter_map(|line| line.latency_ms).collect();
        Ok(Report {
            all: Figures::of(&names, &rows),
            questions_with_turns: rows.iter().filter(|row| row.contains_key(TURN_FIGURES[0])).count(),
            by_type: Figures::split(&names, self.lines.iter().map(|line| (line.group.as_str(), &line.metrics))),
            abstention: Abstention {
                questions: self.abstained.len(),
                relevance_tells_apart: tells_apart(&relevance[1], &relevance[0]),
                confidence_tells_apart: tells_apart(&confidence[1], &confidence[0]),
                best_relevance: spread(&relevance[0]),
                best_confidence: spread(&confidence[0]),
                best_relevance_of_answerable: spread(&relevance[1]),
                best_confidence_of_answerable: spread(&confidence[1]),
            },
            latency_ms: Latency {
                with_embedding: Quantiles::of(times),
                without_embedding: Quantiles::of(self.without_ms),
            },
            turns: self.turns,
            skipped: self.skipped,
            model: self.engine.embedder().model().id.clone(),
        })
    }
}

/// The figures of an answerable question; empty for others.
fn scores(case: &BenchmarkCase, turns: &[&str], sessions: &[&str]) -> Scores {
    if case.abstention {
        return Scores::new();
    }
    let wanted: Vec<&str> = case.sessions.iter().map(String::as_str).collect();
    let mut scores = metrics::of_sessions(sessions, &wanted);
    for depth in [5, 10] {
        scores.insert(format!("session.recall_any.{depth}"), metrics::any_of(sessions, &wanted, depth));
        scores.insert(format!("session.recall_all.{depth}"), metrics::all_of(sessions, &wanted, depth));
    }
    scores.insert("session.ndcg_any.10".to_owned(), metrics::ndcg_10_undiscounted_at_2(sessions, &wanted));
    if !case.turns.is_empty() {
        scores.extend(metrics::of_turns(turns, &case.turns.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    scores
}

/// Whether the best answer is of a session that contains the answer; never for an unanswerable question.
fn right(case: &BenchmarkCase, report: &RecallReport) -> Option<bool> {
    let session = report.hits.first()?.session_id.as_ref()?;
    Some(!case.abstention && case.sessions.contains(session))
}

fn spread(values: &[f64]) -> Spread {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at =
        |share: f64| sorted.get(((sorted.len() as f64 - 1.0) * share).round() as usize).copied().unwrap_or_default();
    Spread { p05: at(0.05), p50: at(0.5), p95: at(0.95) }
}

/// The area under the ROC curve: the share of pairs in the right order, where ties count half.
fn tells_apart(higher: &[f64], lower: &[f64]) -> Option<f64> {
    let pairs = higher.len() * lower.len();
    let won =
        |one: f64| lower.iter().map(move |&other| f64::from(u8::from(one > other)) + f64::from(u8::from(one >= other)));
    (pairs > 0).then(|| higher.iter().map(|&one| won(one).sum::<f64>() / 2.0).sum::<f64>() / pairs as f64)
}

const TURN_HEADINGS: [&str; 9] = ["turns", "questions", "R@5", "R@10", "R@20", "R@50", "all@10", "NDCG@10", "MRR"];
const SESSION_HEADINGS: [&str; 10] =
    ["sessions", "questions", "R@1", "R@5", "R@10", "any@5", "any@10", "all@5", "all@10", "NDCG@10"];

fn in_words(report: &Report) -> String {
    let table = |headings: &[&str], names: &[&str]| {
        let mut rows: Vec<Vec<String>> =
            report.by_type.iter().map(|(kind, figures)| figures.row(kind, names)).collect();
        rows.push(report.all.row("all", names));
        render::table(headings, &rows)
    };
    let (with, without) = (&report.latency_ms.with_embedding, &report.latency_ms.without_embedding);
    let (none, some) = (&report.abstention.best_relevance, &report.abstention.best_relevance_of_answerable);
    let apart = report.abstention.relevance_tells_apart.map_or("–".to_owned(), |share| format!("{share:.2}"));
    let skipped = &report.skipped;
    format!(
        "{}\n{}\nPercent, with the 95 % interval of {} resamples of the questions; turns of the {} questions that mark some\n\
         Abstention: {} questions, not counted above; best relevance p50 {:.2} (p05 {:.2}, p95 {:.2}), of the others \
         {:.2} ({:.2}, {:.2}); the others rank higher in {apart} of the pairs\n\
         Recall: p50 {:.2} ms, p95 {:.2} ms; without the question's embedding p50 {:.3} ms, p95 {:.3} ms\n\
         Turns: {}; skipped: {} questions without a session that answers, {} without a history, {} beyond the limit\n\
         Model: {}\n",
        table(&SESSION_HEADINGS, &SESSION_FIGURES),
        table(&TURN_HEADINGS, &TURN_FIGURES),
        super::bootstrap::RESAMPLES,
        report.questions_with_turns,
        report.abstention.questions,
        none.p50,
        none.p05,
        none.p95,
        some.p50,
        some.p05,
        some.p95,
        with.p50,
        with.p95,
        without.p50,
        without.p95,
        report.turns,
        skipped.without_sessions,
        skipped.without_history,
        skipped.beyond_limit,
        report.model
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_the_right_order() {
        for (higher, lower, share) in [
            (&[0.9, 0.8][..], &[0.1][..], Some(1.0)),
            (&[0.5], &[0.5], Some(0.5)),
            (&[0.9, 0.1], &[0.5, 0.5], Some(0.5)),
            (&[], &[0.5], None),
        ] {
            assert_eq!(tells_apart(higher, lower), share);
        }
    }
}
