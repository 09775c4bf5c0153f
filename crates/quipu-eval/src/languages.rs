//! Recall by language: everyday statements and questions about them, in the same language and in English.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_engine::{Answer, Engine, Error, RecallOptions, RememberOptions, Result, Utterance};
use serde::{Deserialize, Serialize};

use super::lines::{Out, ResultLine};
use super::metrics::{Quantiles, Scores};
use crate::environment::{Environment, Measurement};
use crate::render;

/// Depth of the recall figures.
const DEPTH: usize = 5;

/// One line of a file: a statement, and the question it answers in both languages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    memory: String,
    question: String,
    english: String,
}

#[derive(Debug, Serialize)]
struct Report {
    /// By name of the file.
    languages: BTreeMap<String, LanguageFigures>,
    /// Recall with the embedding of the question.
    latency_ms: Quantiles,
    /// Time until a statement can be recalled.
    remember_ms: Quantiles,
    model: String,
}

/// Shares of questions whose statement is among the first five answers.
#[derive(Debug, Default, Serialize)]
struct LanguageFigures {
    questions: usize,
    /// Asked in the statements' language, among the statements of that language.
    same: f64,
    /// The same question in English.
    english: f64,
    /// Asked in the statements' language, among the statements of all languages in one memory.
    same_among_all: f64,
}

#[derive(Debug, Default)]
struct Times {
    recall: Vec<f64>,
    remember: Vec<f64>,
}

pub(crate) fn languages(environment: &dyn Environment, place: &Path, out: Option<&Path>) -> Result<Measurement> {
    let (_folder, engine) = super::scratch(environment)?;
    let mut out = Out::to(out)?;
    let mut times = Times::default();
    let files = files(place)?;
    let everyone = UserId::parse("everyone")?;
    let together = files.iter().map(|(_, lines)| remember(&engine, &everyone, lines, &mut times));
    let together = together.collect::<Result<Vec<_>>>()?;
    let mut languages = BTreeMap::new();
    for ((language, lines), among_all) in files.iter().zip(&together) {
        let user = UserId::parse(&format!("only-{language}"))?;
        let alone = remember(&engine, &user, lines, &mut times)?;
        let mut share = |group: &str, user: &UserId, sources: &[ItemId], in_english: bool| -> Result<f64> {
            let mut found = 0.0;
            for (number, (line, source)) in lines.iter().zip(sources).enumerate() {
                let question = if in_english { &line.english } else { &line.question };
                let score = ask(&engine, user, question, *source, &mut times)?;
                found += score;
                out.push(&ResultLine {
                    id: format!("{language}-{group}-{number}"),
                    eval: "languages".to_owned(),
                    group: format!("{language} {group}"),
                    question: question.clone(),
                    metrics: Scores::from([(format!("turn.recall.{DEPTH}"), score)]),
                    ..ResultLine::default()
                })?;
            }
            Ok(found / lines.len() as f64)
        };
        let figures = LanguageFigures {
            questions: lines.len(),
            same: share("same", &user, &alone, false)?,
            english: share("english", &user, &alone, true)?,
            same_among_all: share("among-all", &everyone, among_all, false)?,
        };
        languages.insert(language.clone(), figures);
    }
    out.finish()?;
    let report = Report {
        languages,
        latency_ms: Quantiles::of(times.recall),
        remember_ms: Quantiles::of(times.remember),
        model: engine.embedder().model().id.clone(),
    };
    Measurement::of(&report, in_words)
}

/// Records the statements; returns the source of each.
fn remember(engine: &Engine, user: &UserId, lines: &[Line], times: &mut Times) -> Result<Vec<ItemId>> {
    let mut record = |line: &Line| {
        let start = now();
        let said = Utterance::of_user(&*line.memory);
        let receipt = quipu_engine::remember(engine, user, &said, &RememberOptions::default())?;
        times.remember.push(start.elapsed().as_secs_f64() * 1e3);
        let source = receipt.items.iter().copied().find(|id| id.kind == ItemKind::Turn);
        source.ok_or_else(|| Error::Bug("a recorded message is not among the items of its event".to_owned()))
    };
    lines.iter().map(&mut record).collect()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn now() -> Instant {
    Instant::now()
}

/// 1 if the statement, or something read in it, is among the first answers, else 0.
fn ask(engine: &Engine, user: &UserId, question: &str, source: ItemId, times: &mut Times) -> Result<f64> {
    let report = quipu_engine::recall(engine, user, &RecallOptions { k: DEPTH, ..RecallOptions::of(question) })?;
    times.recall.push((report.timing.embed_us + report.timing.recall_us) as f64 / 1e3);
    let covers = |hit: &Answer| hit.id == source || hit.evidence.iter().any(|quote| quote.id == source);
    Ok(f64::from(u8::from(report.hits.iter().any(covers))))
}

/// The files of a folder, or one file, by name without extension, in order.
fn files(place: &Path) -> Result<Vec<(String, Vec<Line>)>> {
    let unreadable =
        |path: &Path, error: &std::io::Error| Error::NotFound(format!("cannot read {}: {error}", path.display()));
    let mut paths: Vec<PathBuf> = match fs::read_dir(place) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => vec![place.to_owned()],
    };
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    if paths.is_empty() {
        return Err(Error::NotFound(format!("no file with the extension jsonl in {}", place.display())));
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let parsed = lines.map(|(at, line)| {
            let wrong = |error| Error::Invalid(format!("{}, line {}: {error}", path.display(), at + 1));
            serde_json::from_str::<Line>(line).map_err(wrong)
        });
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let lines = parsed.collect::<Result<Vec<_>>>()?;
        if lines.is_empty() {
            return Err(Error::Invalid(format!("{} has no lines", path.display())));
        }
        Ok((name, lines))
    };
    paths.into_iter().map(read).collect()
}

fn in_words(report: &Report) -> String {
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    let rows: Vec<Vec<String>> = report
        .languages
        .iter()
        .map(|(language, figures)| {
            let shares = [figures.same, figures.english, figures.same_among_all].map(percent);
            [language.clone(), figures.questions.to_string()].into_iter().chain(shares).collect()
        })
        .collect();
    let count = report.languages.len().max(1) as f64;
    let mean = |figure: fn(&LanguageFigures) -> f64| report.languages.values().map(figure).sum::<f64>() / count;
    let means = [mean(|one| one.same), mean(|one| one.english), mean(|one| one.same_among_all)].map(percent);
    let total: usize = report.languages.values().map(|one| one.questions).sum();
    let last: Vec<String> = ["mean".to_owned(), total.to_string()].into_iter().chain(means).collect();
    let headings = ["language", "questions", "R@5 same", "R@5 in English", "R@5 same, all languages in one memory"];
    let table = render::table(&headings, &rows.into_iter().chain([last]).collect::<Vec<_>>());
    format!(
        "{table}\nrecall: p50 {:.2} ms, p95 {:.2} ms\nremember: p50 {:.2} ms, p95 {:.2} ms\nmodel: {}\n",
        report.latency_ms.p50, report.latency_ms.p95, report.remember_ms.p50, report.remember_ms.p95, report.model
    )
}
