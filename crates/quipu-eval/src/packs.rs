//! Packs: how much of the evidence reaches the model, and how many tokens it costs.

use std::collections::BTreeMap;
use std::path::Path;

use quipu_core::pack::DEFAULT_TOKENS;
use quipu_engine::{Engine, Result};
use serde::Serialize;

use super::bootstrap;
use super::corpus::{Corpus, CorpusKind, EvalQuestion, PreparedMemory, SkippedQuestions};
use super::heard;
use super::lines::{Out, ResultLine};
use super::metrics::{Figures, Quantiles, Scores};
use super::packed::Packed;
use crate::environment::{Environment, Measurement, Output};
use crate::render;

/// What is measured, and over which packs.
pub(super) struct PacksOptions<'a> {
    pub(super) file: &'a Path,
    pub(super) kind: Option<CorpusKind>,
    pub(super) tokens: &'a [usize],
    pub(super) conversations: &'a [String],
    pub(super) words_only: bool,
    pub(super) out: Option<&'a Path>,
}

#[derive(Debug, Serialize)]
struct Report {
    kind: CorpusKind,
    /// How the memory was made.
    memory: &'static str,
    questions: usize,
    /// The default size.
    default_tokens: usize,
    sizes: Vec<Size>,
    without_evidence: usize,
    skipped: SkippedQuestions,
}

/// Packs of one size.
#[derive(Debug, Serialize)]
struct Size {
    tokens_max: usize,
    #[serde(flatten)]
    all: Figures,
    by_category: BTreeMap<String, Figures>,
    tokens: Spread,
    /// Mean number of lines that quote something.
    lines: f64,
    /// Mean tokens outside quoted text, per line.
    framing_per_line: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Spread {
    mean: f64,
    #[serde(flatten)]
    quantiles: Quantiles,
}

/// One pack of one question.
#[derive(Debug, Clone, Serialize)]
struct Made {
    tokens: usize,
    lines: usize,
    framing_per_line: Option<f64>,
    #[serde(skip)]
    scores: Scores,
}

/// One question's line in the file of details.
#[derive(Debug, Serialize)]
struct Detail<'a> {
    #[serde(flatten)]
    line: ResultLine,
    evidence: &'a [String],
    packs: BTreeMap<usize, &'a Made>,
}

const FIGURES: [&str; 2] = ["there", "strictly"];

pub(super) fn packs(
    environment: &dyn Environment,
    output: &dyn Output,
    wanted: &PacksOptions<'_>,
) -> Result<Measurement> {
    let corpus = Corpus::open(wanted.file, wanted.kind, wanted.conversations)?;
    let mut out = Out::to(wanted.out)?;
    let (_folder, engine) = super::scratch(environment)?;
    let mut sizes = wanted.tokens.to_vec();
    sizes.push(DEFAULT_TOKENS);
    sizes.sort_unstable();
    sizes.dedup();
    let mut made: Vec<(&str, Vec<Made>)> = Vec::new();
    let mut without_evidence = 0;
    let subjects = corpus.tell(&engine, output, wanted.words_only)?;
    for subject in &subjects {
        for asked in subject.told.asked.iter().filter(|asked| asked.answerable) {
            if !asked.gold.iter().any(|turn| subject.heard.has(turn)) {
                without_evidence += 1;
                continue;
            }
            let of_size = |&size: &usize| make(&engine, subject, asked, size);
            let packs: Vec<Made> = sizes.iter().map(of_size).collect::<Result<_>>()?;
            out.push(&detail(corpus.kind, asked, &sizes, &packs))?;
            made.push((&asked.group, packs));
        }
    }
    out.finish()?;
    let report = Report {
        kind: corpus.kind,
        memory: heard::reading(wanted.words_only),
        questions: made.len(),
        default_tokens: DEFAULT_TOKENS,
        sizes: sizes.iter().enumerate().map(|(place, &size)| of_size(size, place, &made)).collect(),
        without_evidence,
        skipped: corpus.skipped.clone(),
    };
    Measurement::of(&report, in_words)
}

fn make(engine: &Engine, subject: &PreparedMemory<'_>, asked: &EvalQuestion, size: usize) -> Result<Made> {
    let packed = Packed::of(engine, subject, &asked.question, Some(size))?;
    let mut scores = Scores::new();
    if let Some(coverage) = packed.coverage(subject, &asked.gold) {
        scores.extend([("there".to_owned(), coverage.there), ("strictly".to_owned(), coverage.strictly)]);
    }
    let Packed { tokens, lines, framing_per_line, .. } = packed;
    Ok(Made { tokens, lines, framing_per_line, scores })
}

fn detail<'a>(kind: CorpusKind, asked: &'a EvalQuestion, sizes: &[usize], packs: &'a [Made]) -> Detail<'a> {
    let named = |(size, made): (&usize, &Made)| {
        made.scores.iter().map(|(name, score)| (format!("pack.{size}.{name}"), *score)).collect::<Vec<_>>()
    };
    let line = ResultLine {
        id: asked.id.clone(),
        eval: format!("packs {}", kind.as_str()),
        group: asked.group.clone(),
        question: asked.question.clone(),
        metrics: sizes.iter().zip(packs).flat_map(named).collect(),
        ..ResultLine::default()
    };
    Detail { line, evidence: &asked.gold, packs: sizes.iter().copied().zip(packs).collect() }
}

fn of_size(tokens_max: usize, place: usize, made: &[(&str, Vec<Made>)]) -> Size {
    let packs: Vec<(&str, &Made)> =
        made.iter().filter_map(|(group, packs)| Some((*group, packs.get(place)?))).collect();
    let rows: Vec<&Scores> = packs.iter().map(|(_, made)| &made.scores).collect();
    let tokens: Vec<f64> = packs.iter().map(|(_, made)| made.tokens as f64).collect();
    let mean = |values: &mut dyn Iterator<Item = f64>| bootstrap::mean(values);
    Size {
        tokens_max,
        all: Figures::of(&FIGURES, &rows),
        by_category: Figures::split(&FIGURES, packs.iter().map(|(group, made)| (*group, &made.scores))),
        tokens: Spread {
            mean: mean(&mut tokens.iter().copied()).unwrap_or_default(),
            quantiles: Quantiles::of(tokens),
        },
        lines: mean(&mut packs.iter().map(|(_, made)| made.lines as f64)).unwrap_or_default(),
        framing_per_line: mean(&mut packs.iter().filter_map(|(_, made)| made.framing_per_line)),
    }
}

fn in_words(report: &Report) -> String {
    let called = |size: &Size| {
        let is_default = size.tokens_max == report.default_tokens;
        format!("{}{}", size.tokens_max, if is_default { " (default)" } else { "" })
    };
    let row = |size: &Size| {
        let mut cells = size.all.row(&called(size), &FIGURES);
        cells.remove(1);
        cells.extend([
            format!("{:.0}", size.tokens.mean),
            format!("{:.0}", size.tokens.quantiles.p95),
            format!("{:.1}", size.lines),
            size.framing_per_line.map_or("–".to_owned(), |tokens| format!("{tokens:.1}")),
        ]);
        cells
    };
    let sizes: Vec<Vec<String>> = report.sizes.iter().map(row).collect();
    let categories = report.sizes.first().map(|size| size.by_category.keys()).into_iter().flatten();
    let by_category = |category: &String| {
        let of = |size: &Size| size.by_category.get(category).map(|figures| figures.in_percent("there"));
        let cells = report.sizes.iter().map(|size| of(size).unwrap_or_default());
        let questions = report.sizes.first().and_then(|size| size.by_category.get(category));
        let questions = questions.map_or(0, |figures| figures.questions).to_string();
        [category.clone(), questions].into_iter().chain(cells).collect()
    };
    let names: Vec<String> = report.sizes.iter().map(called).collect();
    let headings: Vec<&str> = ["60 % there", "questions"].into_iter().chain(names.iter().map(String::as_str)).collect();
    format!(
        "{}\n{}\n{} questions of {}; a turn of the evidence is in a pack if 60 % (90 %) of its terms are\n\
         Percent, with the 95 % interval of {} resamples of the questions\n\
         Skipped: {} questions without evidence, {} of category 5\nMemory: {}\n",
        render::table(
            &["pack of", "60 % there", "90 % there", "tokens, mean", "p95", "lines", "framing per line"],
            &sizes
        ),
        render::table(&headings, &categories.map(by_category).collect::<Vec<_>>()),
        report.questions,
        report.kind.as_str(),
        bootstrap::RESAMPLES,
        report.without_evidence,
        report.skipped.category_5,
        report.memory
    )
}
