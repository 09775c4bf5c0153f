//! Calibrate: fits and tests the probability that memory answers a question.
//!
//! Each question of a LoCoMo file is put to its own conversation, which answers it, and, with names replaced, to
//! another conversation, which does not. The fit is tested on conversations it has not seen.

mod putting;
mod shipped;

use std::collections::BTreeMap;
use std::path::Path;

use quipu_core::recall::{AnswerSignals, Best, Calibration, Profiles, ReliabilityBin, VerdictThresholds, decide};
use quipu_engine::{Engine, Error, RecallOptions, Result};
use serde::Serialize;

use super::certainty::{self, Certainty, Stated, VerdictCount};
use super::corpus::Corpus;
use super::lines::{Out, ResultLine};
use super::report::svg;
use crate::args::CorpusKind;
use crate::environment::{Environment, Measurement, Output};
use crate::render;

use putting::Put;

/// L2 penalty on the weights of the ten signals, so that the fit generalises to other conversations.
const RIDGE: f64 = 1.0;

#[derive(Debug, Serialize)]
struct Report {
    questions: usize,
    answerable: usize,
    /// Tested on conversations the fit has not seen.
    held_out: Certainty,
    /// The same without the stage that compares tokens.
    held_out_without_tokens: Certainty,
    /// Counts for each verdict.
    verdicts: BTreeMap<&'static str, VerdictCount>,
    /// The reliability curve of the fit on all questions, as a profile stores it.
    reliability: Vec<ReliabilityBin>,
    calibration: Calibration,
    calibration_without_tokens: Calibration,
    thresholds: VerdictThresholds,
}

/// A question put to a conversation.
struct PutQuestion {
    conversation: String,
    answerable: bool,
    signals: AnswerSignals,
    signals_without_tokens: AnswerSignals,
    best: Option<Best>,
}

/// What is measured.
pub(crate) struct CalibrateOptions<'a> {
    pub(crate) file: &'a Path,
    /// Tests the built-in calibration and fits nothing.
    pub(crate) shipped: bool,
    pub(crate) out: Option<&'a Path>,
    pub(crate) plot: Option<&'a Path>,
}

pub(crate) fn calibrate(
    environment: &dyn Environment,
    output: &dyn Output,
    wanted: &CalibrateOptions<'_>,
) -> Result<Measurement> {
    let kind = if wanted.shipped { None } else { Some(CorpusKind::Locomo) };
    let corpus = Corpus::open(wanted.file, kind, &[])?;
    let (_folder, engine) = super::scratch(environment)?;
    let mut out = Out::to(wanted.out)?;
    let subjects = corpus.tell(&engine, output, false)?;
    let all = putting::put(&corpus, &subjects)?;
    if wanted.shipped {
        return shipped::shipped(&engine, corpus.kind, &all, out, wanted.plot);
    }
    let one_stage = serde_json::json!({"profiles": {"one stage": {"match": {"late": null}}}});
    engine.set_profiles(Profiles::parse(one_stage)?);
    let asked: Vec<PutQuestion> = all.iter().map(|put| ask(&engine, put)).collect::<Result<_>>()?;
    let probabilities = held_out(&asked, |one| one.signals)?;
    for (put, probability) in all.iter().zip(&probabilities) {
        out.push(&line((&put.id, &put.question, put.answerable), *probability))?;
    }
    out.finish()?;
    let thresholds = VerdictThresholds::default();
    let verdict =
        |(one, probability): (&PutQuestion, &f64)| (decide(*probability, one.best, &thresholds).0, one.answerable);
    let stated = stated(&asked, &probabilities);
    let without_tokens = self::stated(&asked, &held_out(&asked, |one| one.signals_without_tokens)?);
    let report = Report {
        questions: asked.len(),
        answerable: asked.iter().filter(|one| one.answerable).count(),
        held_out: Certainty::of(&stated),
        held_out_without_tokens: Certainty::of(&without_tokens),
        verdicts: certainty::verdicts(asked.iter().zip(&probabilities).map(verdict)),
        reliability: certainty::bins(&stated),
        calibration: fit(asked.iter(), |one| one.signals)?,
        calibration_without_tokens: fit(asked.iter(), |one| one.signals_without_tokens)?,
        thresholds,
    };
    if let Some(path) = wanted.plot {
        write(path, &drawn(&report.reliability))?;
    }
    Measurement::of(&report, in_words)
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", path.display())))
}

/// The curve as a file of its own.
fn drawn(curve: &[ReliabilityBin]) -> String {
    let points: Vec<_> = curve.iter().map(|bin| (bin.stated, bin.answerable, bin.questions)).collect();
    svg::alone(&svg::reliability("Stated probability that memory answers, and the share it answers", &points))
}

fn ask(engine: &Engine, put: &Put<'_>) -> Result<PutQuestion> {
    let (user, options) = (&put.to.told.user, put.to.usual(&put.question));
    let report = quipu_engine::recall(engine, user, &options)?;
    let one_stage = RecallOptions { profile: Some("one stage".to_owned()), ..options };
    let without = quipu_engine::recall(engine, user, &one_stage)?;
    Ok(PutQuestion {
        conversation: put.conversation.to_owned(),
        answerable: put.answerable,
        signals: report.decision.signals,
        signals_without_tokens: without.decision.signals,
        best: report.hits.first().map(|answer| Best {
            confidence: answer.confidence,
            contested: !answer.contested_by.is_empty(),
            from_user: true,
            of_another: report.decision.of_another,
            // That signal exists only in chats with an assistant.
            waits: !answer.unconfirmed.is_empty(),
            may_be_of_another: false,
        }),
    })
}

fn fit<'a>(
    asked: impl Iterator<Item = &'a PutQuestion>,
    signals: impl Fn(&PutQuestion) -> AnswerSignals,
) -> Result<Calibration> {
    let examples: Vec<(AnswerSignals, bool)> = asked.map(|one| (signals(one), one.answerable)).collect();
    let few = || Error::Invalid("the file has too few questions for a fit".to_owned());
    Calibration::fit(&examples, RIDGE).ok_or_else(few)
}

/// The probability of each question, by a fit without its conversation.
fn held_out(asked: &[PutQuestion], signals: impl Fn(&PutQuestion) -> AnswerSignals + Copy) -> Result<Vec<f64>> {
    let mut by_conversation: BTreeMap<&str, Calibration> = BTreeMap::new();
    for one in asked {
        if !by_conversation.contains_key(one.conversation.as_str()) {
            let others = asked.iter().filter(|other| other.conversation != one.conversation);
            by_conversation.insert(&one.conversation, fit(others, signals)?);
        }
    }
    let probability = |one: &PutQuestion| by_conversation[one.conversation.as_str()].probability(&signals(one));
    Ok(asked.iter().map(probability).collect())
}

fn stated(asked: &[PutQuestion], probabilities: &[f64]) -> Vec<Stated> {
    probabilities.iter().copied().zip(asked.iter().map(|one| one.answerable)).collect()
}

fn line((id, question, answerable): (&str, &str, bool), probability: f64) -> ResultLine {
    let nearness = if answerable { probability } else { 1.0 - probability };
    ResultLine {
        id: id.to_owned(),
        eval: "calibrate".to_owned(),
        group: if answerable { "answerable" } else { "unanswerable" }.to_owned(),
        question: question.to_owned(),
        metrics: [("nearness".to_owned(), nearness)].into_iter().collect(),
        latency_ms: None,
        relevance: None,
        confidence: Some(probability),
        right: Some(answerable),
    }
}

/// Stated and true share as a table.
fn curve(curve: &[ReliabilityBin]) -> String {
    let row = |bin: &ReliabilityBin| {
        vec![format!("{:.2}", bin.stated), format!("{:.2}", bin.answerable), bin.questions.to_string()]
    };
    render::table(&["stated", "answerable", "questions"], &curve.iter().map(row).collect::<Vec<_>>())
}

fn in_words(report: &Report) -> String {
    let rows = [report.held_out.row("with tokens"), report.held_out_without_tokens.row("one stage")];
    let fitted = |calibration: &Calibration| {
        let weights: Vec<String> = calibration.weights.iter().map(|weight| format!("{weight:.3}")).collect();
        format!("bias {:.3}, weights [{}]", calibration.bias, weights.join(", "))
    };
    format!(
        "{} questions, {} of them answerable; judged on conversations the fit has not seen\n\n{}\n{}\n{}\n\
         Fitted on all, with tokens: {}\nFitted on all, one stage: {}\n",
        report.questions,
        report.answerable,
        render::table(&["", "AUROC", "ECE", "Brier"], &rows),
        render::table(&["verdict", "answerable", "not"], &certainty::verdict_rows(&report.verdicts)),
        curve(&report.reliability),
        fitted(&report.calibration),
        fitted(&report.calibration_without_tokens),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_curve_is_the_built_in_one() {
        let curve = quipu_core::recall::Profile::default().reliability;
        assert_eq!(drawn(&curve), include_str!("../../../../docs/reliability.svg"));
    }
}
