//! BEAM: long chats of a user and an assistant, questions about them, and the messages that answer them.

use std::collections::BTreeMap;

use quipu_core::recall::Verdict;
use quipu_engine::{Engine, Result};
use serde::Serialize;

use super::certainty::{Certainty, Stated};
use super::corpus::{Corpus, CorpusKind, EvalQuestion, PreparedMemory, SkippedQuestions};
use super::heard;
use super::lines::{Out, ResultLine};
use super::metrics::{self, Figures, Quantiles, Scores};
use super::packed::Packed;
use crate::args::Conversations;
use crate::environment::{Environment, Measurement, Output};
use crate::render;

const TURN_FIGURES: [&str; 4] = ["turn.recall.5", "turn.recall.10", "turn.recall.20", "turn.recall_all.10"];
const PACK_FIGURES: [&str; 4] = ["pack.2000.there", "pack.2000.strictly", "pack.4000.there", "pack.4000.strictly"];
const PACK_SIZES: [usize; 2] = [2000, 4000];

/// Messages listed in the file of details.
const LISTED: usize = 50;

#[derive(Debug, Serialize)]
struct Report {
    /// How the memory was made.
    memory: &'static str,
    chats: usize,
    messages: usize,
    /// Of the questions with evidence.
    #[serde(flatten)]
    all: Figures,
    by_ability: BTreeMap<String, Figures>,
    /// Tokens of the packs, by budget.
    pack_tokens: BTreeMap<usize, f64>,
    abstention: Abstention,
    /// Number of each verdict, by ability.
    verdicts: BTreeMap<String, BTreeMap<&'static str, usize>>,
    latency_ms: Quantiles,
    without_evidence: usize,
    skipped: SkippedQuestions,
    model: String,
}

/// Questions without an answer, compared with all others.
#[derive(Debug, Serialize)]
struct Abstention {
    questions: usize,
    others: usize,
    #[serde(flatten)]
    certainty: Certainty,
}

/// One question's line in the file of details.
#[derive(Debug, Serialize)]
struct Detail<'a> {
    #[serde(flatten)]
    line: &'a ResultLine,
    answer: Option<&'a str>,
    evidence: &'a [String],
    found: &'a [&'a str],
    verdict: Verdict,
    pack_tokens: &'a BTreeMap<usize, usize>,
}

/// The stored result of a question.
struct QuestionResult {
    line: ResultLine,
    verdict: Verdict,
    stated: Stated,
    pack_tokens: BTreeMap<usize, usize>,
}

pub(super) fn beam(environment: &dyn Environment, output: &dyn Output, told: &Conversations) -> Result<Measurement> {
    let corpus = Corpus::open(&told.file, Some(CorpusKind::Beam), &told.conversations)?;
    let mut out = Out::to(told.out.as_deref())?;
    let (_folder, engine) = match &told.store {
        Some(address) => super::on_database(environment, address)?,
        None => super::scratch(environment)?,
    };
    let subjects = corpus.tell(&engine, output, told.words_only)?;
    let mut done = Vec::new();
    for subject in &subjects {
        for asked in &subject.told.asked {
            done.push(ask(&engine, subject, asked, &mut out)?);
        }
    }
    out.finish()?;
    let names = [&TURN_FIGURES[..], &PACK_FIGURES].concat();
    let counted: Vec<&ResultLine> = done.iter().map(|one| &one.line).filter(|line| !line.metrics.is_empty()).collect();
    let rows: Vec<&Scores> = counted.iter().map(|line| &line.metrics).collect();
    let mut verdicts: BTreeMap<String, BTreeMap<&'static str, usize>> = BTreeMap::new();
    for one in &done {
        *verdicts.entry(one.line.group.clone()).or_default().entry(one.verdict.as_str()).or_default() += 1;
    }
    let stated: Vec<Stated> = done.iter().map(|one| one.stated).collect();
    let questions = stated.iter().filter(|(_, answerable)| !answerable).count();
    let tokens = |size: usize| done.iter().filter_map(|one| one.pack_tokens.get(&size)).sum::<usize>() as f64;
    let report = Report {
        memory: heard::reading(told.words_only),
        chats: subjects.len(),
        messages: subjects.iter().map(|subject| subject.heard.texts.len()).sum(),
        all: Figures::of(&names, &rows),
        by_ability: Figures::split(&names, counted.iter().map(|line| (line.group.as_str(), &line.metrics))),
        pack_tokens: PACK_SIZES.map(|size| (size, tokens(size) / rows.len().max(1) as f64)).into(),
        abstention: Abstention { questions, others: done.len() - questions, certainty: Certainty::of(&stated) },
        verdicts,
        latency_ms: Quantiles::of(done.iter().filter_map(|one| one.line.latency_ms).collect()),
        without_evidence: done.len() - questions - counted.len(),
        skipped: corpus.skipped.clone(),
        model: engine.embedder().model().id.clone(),
    };
    Measurement::of(&report, in_words)
}

fn ask(engine: &Engine, subject: &PreparedMemory<'_>, asked: &EvalQuestion, out: &mut Out) -> Result<QuestionResult> {
    let user = &subject.told.user;
    let usual = quipu_engine::recall(engine, user, &subject.usual(&asked.question))?;
    let best = usual.hits.first();
    let wanted: Vec<&str> = asked.gold.iter().map(String::as_str).collect();
    let right = subject.heard.ranked_turns(&usual.hits).first().is_some_and(|first| wanted.contains(first));
    let (mut scores, mut found, mut pack_tokens) = (Scores::new(), Vec::new(), BTreeMap::new());
    if !wanted.is_empty() {
        let deep = quipu_engine::recall(engine, user, &subject.deep(&asked.question))?;
        found = subject.heard.ranked_turns(&deep.hits);
        scores = metrics::of_turns(&found, &wanted);
        scores.retain(|name, _| TURN_FIGURES.contains(&name.as_str()));
        for size in PACK_SIZES {
            let packed = Packed::of(engine, subject, &asked.question, Some(size))?;
            pack_tokens.insert(size, packed.tokens);
            if let Some(coverage) = packed.coverage(subject, &asked.gold) {
                scores.insert(format!("pack.{size}.there"), coverage.there);
                scores.insert(format!("pack.{size}.strictly"), coverage.strictly);
            }
        }
    }
    let line = ResultLine {
        id: asked.id.clone(),
        eval: "beam".to_owned(),
        group: asked.group.clone(),
        question: asked.question.clone(),
        metrics: scores,
        latency_ms: Some((usual.timing.recall_us + usual.timing.embed_us) as f64 / 1e3),
        relevance: best.map(|hit| f64::from(hit.score)),
        confidence: Some(usual.decision.probability),
        right: Some(right),
    };
    let verdict = usual.decision.verdict;
    out.push(&Detail {
        line: &line,
        answer: asked.answer.as_deref(),
        evidence: &asked.gold,
        found: &found[..found.len().min(LISTED)],
        verdict,
        pack_tokens: &pack_tokens,
    })?;
    Ok(QuestionResult { line, verdict, stated: (usual.decision.probability, asked.answerable), pack_tokens })
}

const TURN_HEADINGS: [&str; 6] = ["messages", "questions", "R@5", "R@10", "R@20", "all@10"];
const PACK_HEADINGS: [&str; 6] = ["in the pack", "questions", "2000: 60 %", "90 %", "4000: 60 %", "90 %"];

fn in_words(report: &Report) -> String {
    let table = |headings: &[&str], names: &[&str]| {
        let mut rows: Vec<Vec<String>> =
            report.by_ability.iter().map(|(ability, figures)| figures.row(ability, names)).collect();
        rows.push(report.all.row("all", names));
        render::table(headings, &rows)
    };
    let verdict = |(ability, given): (&String, &BTreeMap<&str, usize>)| {
        let words = [Verdict::Answer, Verdict::Verify, Verdict::Clarify, Verdict::Abstain].map(Verdict::as_str);
        let counts = words.iter().map(|word| given.get(word).copied().unwrap_or_default().to_string());
        std::iter::once(ability.clone()).chain(counts).collect()
    };
    let verdicts: Vec<Vec<String>> = report.verdicts.iter().map(verdict).collect();
    let tokens: Vec<String> = report.pack_tokens.iter().map(|(size, used)| format!("{used:.0} of {size}")).collect();
    format!(
        "{}\n{}\n{}\n{}\nPercent, with the 95 % interval of {} resamples of the questions; {} questions without evidence \
         are in no figure of recall or packs\n\
         Abstention: {} questions against {} others\nTokens of a pack, mean: {}\n\
         Recall: p50 {:.2} ms, p95 {:.2} ms\n{} messages of {} chats; evidence ids unknown: {}\nMemory: {}\nModel: {}\n",
        table(&TURN_HEADINGS, &TURN_FIGURES),
        table(&PACK_HEADINGS, &PACK_FIGURES),
        render::table(&["verdicts", "answer", "verify", "clarify", "abstain"], &verdicts),
        render::table(&["", "AUROC", "ECE", "Brier"], &[report.abstention.certainty.row("answered or not")]),
        super::bootstrap::RESAMPLES,
        report.without_evidence,
        report.abstention.questions,
        report.abstention.others,
        tokens.join(", "),
        report.latency_ms.p50,
        report.latency_ms.p95,
        report.messages,
        report.chats,
        report.skipped.gold_unknown,
        report.memory,
        report.model
    )
}
