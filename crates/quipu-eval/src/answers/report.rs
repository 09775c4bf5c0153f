//! Reports the share of correct answers.

use std::collections::BTreeMap;

use quipu_engine::Result;
use serde::Serialize;

use super::super::bootstrap;
use super::super::corpus::{CorpusKind, EvalQuestion};
use super::super::lines::{Out, ResultLine};
use super::super::metrics::{Figures, Scores};
use super::kept::{AnswerFolder, Step};
use super::prompts;
use crate::render;

/// The only figure: 1 if right and 0 if wrong, or the mean over the lines of a rubric.
const SCORE: &str = "score";

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct About {
    pub(super) kind: CorpusKind,
    /// How the memory was made.
    pub(super) memory: &'static str,
    pub(super) model: String,
    pub(super) judge: String,
    /// Token budget of a pack.
    pub(super) tokens: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    about: About,
    #[serde(flatten)]
    all: Figures,
    by_ability: BTreeMap<String, Figures>,
    /// Mean tokens of the packs.
    pack_tokens: f64,
    /// Of both models together.
    input_tokens: u64,
    output_tokens: u64,
    /// Questions that the model refused to answer; they count as wrong.
    not_answered: usize,
    /// Questions without a usable judgement; they do not count.
    not_judged: usize,
}

/// One question's line in `details.jsonl`.
#[derive(Debug, Serialize)]
struct Detail<'a> {
    #[serde(flatten)]
    line: &'a ResultLine,
    expected: Option<&'a str>,
    rubric: &'a [String],
    answer: &'a str,
    judgement: Option<&'a serde_json::Value>,
}

impl Report {
    pub(super) fn of(about: About, asked: &[&EvalQuestion], kept: &AnswerFolder) -> Result<Self> {
        let mut out = Out::to(Some(&kept.folder().join("details.jsonl")))?;
        let (mut lines, mut packs) = (Vec::new(), Vec::new());
        let (mut input_tokens, mut output_tokens, mut not_answered, mut not_judged) = (0, 0, 0, 0);
        for one in asked {
            let Some(answer) = kept.get(&one.id, Step::Answer) else { continue };
            let judge = kept.get(&one.id, Step::Judge);
            packs.extend(answer.pack_tokens.map(|tokens| tokens as f64));
            for reply in std::iter::once(&answer).chain(&judge) {
                input_tokens += reply.input_tokens;
                output_tokens += reply.output_tokens;
            }
            not_answered += usize::from(answer.fault.is_some());
            let judgement = judge.as_ref().and_then(|reply| reply.json.as_ref());
            let score = match &answer.fault {
                Some(_) => Some(0.0),
                None => judgement.and_then(|judgement| prompts::score(one, judgement)),
            };
            let Some(score) = score else {
                not_judged += 1;
                continue;
            };
            let line = ResultLine {
                id: one.id.clone(),
                eval: format!("answers {}", about.kind.as_str()),
                group: one.group.clone(),
                question: one.question.clone(),
                metrics: [(SCORE.to_owned(), score)].into_iter().collect(),
                right: Some(score >= 1.0),
                ..ResultLine::default()
            };
            out.push(&Detail {
                line: &line,
                expected: one.answer.as_deref(),
                rubric: &one.rubric,
                answer: &answer.text,
                judgement,
            })?;
            lines.push(line);
        }
        out.finish()?;
        let rows: Vec<&Scores> = lines.iter().map(|line| &line.metrics).collect();
        Ok(Self {
            about,
            all: Figures::of(&[SCORE], &rows),
            by_ability: Figures::split(&[SCORE], lines.iter().map(|line| (line.group.as_str(), &line.metrics))),
            pack_tokens: bootstrap::mean(packs.into_iter()).unwrap_or_default(),
            input_tokens,
            output_tokens,
            not_answered,
            not_judged,
        })
    }
}

pub(super) fn in_words(report: &Report) -> String {
    let mut rows: Vec<Vec<String>> =
        report.by_ability.iter().map(|(ability, figures)| figures.row(ability, &[SCORE])).collect();
    rows.push(report.all.row("all", &[SCORE]));
    let about = &report.about;
    let figure = if about.kind == CorpusKind::Beam { "rubric" } else { "right" };
    format!(
        "{}\nPercent, with the 95 % interval of {} resamples of the questions; {} not answered count as wrong, {} without a \
         usable judgement do not count\n\
         Packs of at most {} tokens, mean {:.0}; tokens of all prompts {}, of all replies {}\n\
         Answered by {}, judged by {}\nMemory: {}\n",
        render::table(&[about.kind.as_str(), "questions", figure], &rows),
        bootstrap::RESAMPLES,
        report.not_answered,
        report.not_judged,
        about.tokens,
        report.pack_tokens,
        report.input_tokens,
        report.output_tokens,
        about.model,
        about.judge,
        about.memory
    )
}
