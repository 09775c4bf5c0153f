//! Calibrate: how surely memory can tell that it knows an answer, and the numbers by which it does.
//!
//! Each question of a LoCoMo file is put to its own conversation, which answers it, and, its names replaced, to another
//! one, which was never told. What is fitted on some conversations is judged on the others.

use std::collections::BTreeMap;
use std::path::Path;

use quipu_core::id::UserId;
use quipu_core::recall::{
    Best, Calibration, Profiles, Signals, Stretch, Thresholds, Verdict, calibration_error, decide,
};
use quipu_engine::import::locomo::questions::QuestionSet;
use quipu_engine::versions::When;
use quipu_engine::{Engine, Error, ListOptions, RecallOptions, Result};
use serde::Serialize;

use super::super::render;
use super::lines::{Line, Out};
use super::locomo;
use super::report::svg;
use crate::app;
use crate::output::Printer;
use crate::settings::Settings;

/// Holds the weights of ten signals back a little: the fit must hold for conversations it has not seen.
const RIDGE: f64 = 1.0;
/// Stretches of probability in which stated and true share are compared.
const BINS: usize = 10;

#[derive(Debug, Serialize)]
struct Report {
    questions: usize,
    answerable: usize,
    /// Judged on conversations the fit has not seen.
    held_out: Figures,
    /// The same without the stage that compares tokens.
    held_out_without_tokens: Figures,
    /// What each verdict was given for.
    verdicts: BTreeMap<&'static str, Given>,
    /// What a profile of weights takes, with what was fitted on all.
    reliability: Vec<Stretch>,
    calibration: Calibration,
    calibration_without_tokens: Calibration,
    thresholds: Thresholds,
}

/// How well answerable and unanswerable questions are told apart.
#[derive(Debug, Serialize)]
struct Figures {
    /// The chance that an answerable question is given a higher probability than an unanswerable one.
    auroc: f64,
    /// Expected calibration error over ten equal stretches.
    ece: f64,
    /// Mean squared error of the probability.
    brier: f64,
}

#[derive(Debug, Default, Serialize)]
struct Given {
    answerable: usize,
    unanswerable: usize,
}

/// A question as it was put to a conversation.
struct Asked {
    id: String,
    conversation: String,
    question: String,
    answerable: bool,
    signals: Signals,
    signals_without_tokens: Signals,
    best: Option<Best>,
}

pub(super) fn calibrate(
    settings: &Settings,
    printer: &Printer,
    file: &Path,
    out: Option<&Path>,
    plot: Option<&Path>,
) -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| Error::Unavailable(format!("no temporary folder: {error}")))?;
    let engine = app::open_in(folder.path(), settings)?;
    let one_stage = serde_json::json!({"profiles": {"one stage": {"match": {"late": null}}}});
    engine.set_profiles(Profiles::parse(one_stage)?);
    let mut out = Out::to(out)?;
    let (_, users) = locomo::import(&engine, printer, file, &[], true)?;
    let sets = locomo::questions(file)?;
    if users.len() < 2 {
        let advice = "a question is put to another conversation, and what is fitted on one is judged on another";
        return Err(Error::Invalid(format!("{} has fewer than two conversations: {advice}", file.display())));
    }
    let told: Vec<Told<'_>> = sets.iter().map(|set| Told::of(&engine, set)).collect::<Result<_>>()?;
    let asked = ask_all(&engine, &told)?;
    let probabilities = held_out(&asked, |one| one.signals)?;
    for (one, probability) in asked.iter().zip(&probabilities) {
        out.push(&line(one, *probability))?;
    }
    out.finish()?;
    let thresholds = Thresholds::default();
    let report = Report {
        questions: asked.len(),
        answerable: asked.iter().filter(|one| one.answerable).count(),
        held_out: Figures::of(&asked, &probabilities),
        held_out_without_tokens: Figures::of(&asked, &held_out(&asked, |one| one.signals_without_tokens)?),
        verdicts: verdicts(&asked, &probabilities, &thresholds),
        reliability: bins(&asked, &probabilities),
        calibration: fit(asked.iter(), |one| one.signals)?,
        calibration_without_tokens: fit(asked.iter(), |one| one.signals_without_tokens)?,
        thresholds,
    };
    if let Some(path) = plot {
        std::fs::write(path, drawn(&report.reliability))
            .map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", path.display())))?;
    }
    printer.report(&report, in_words)
}

/// The curve as a file of its own.
fn drawn(curve: &[Stretch]) -> String {
    let points: Vec<_> = curve.iter().map(|bin| (bin.stated, bin.answerable, bin.questions)).collect();
    svg::alone(&svg::reliability("Stated probability that memory answers, and the share it does answer", &points))
}

/// A conversation, its questions, and its two speakers.
struct Told<'a> {
    user: UserId,
    set: &'a QuestionSet,
    speakers: Vec<String>,
    end: Option<jiff::Timestamp>,
}

impl<'a> Told<'a> {
    fn of(engine: &Engine, set: &'a QuestionSet) -> Result<Self> {
        let user = UserId::parse(&set.conversation)?;
        let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
        let items = quipu_engine::list(engine, &user, &all)?.items;
        let mut speakers: Vec<String> = items.iter().filter_map(|item| item.author.clone()).collect();
        speakers.sort_unstable();
        speakers.dedup();
        Ok(Self { user, set, speakers, end: items.iter().filter_map(|item| item.said_at).max() })
    }
}

fn ask_all(engine: &Engine, told: &[Told<'_>]) -> Result<Vec<Asked>> {
    let mut asked = Vec::new();
    for (place, own) in told.iter().enumerate() {
        let answerable = |(_, question): &(usize, &quipu_engine::import::locomo::questions::Question)| {
            question.category != 5 && !question.evidence.is_empty()
        };
        for (number, question) in own.set.questions.iter().enumerate().filter(answerable) {
            let id = format!("{}:{}", own.set.conversation, number + 1);
            asked.push(ask(engine, own, &id, &question.question, true)?);
            // Every other conversation gets its share, and either speaker the other's place.
            let other = &told[(place + 1 + number % (told.len() - 1)) % told.len()];
            let renamed = renamed(&question.question, &own.speakers, &other.speakers, number % 2);
            asked.push(ask(engine, other, &format!("{id} to {}", other.set.conversation), &renamed, false)?);
        }
    }
    Ok(asked)
}

fn ask(engine: &Engine, told: &Told<'_>, id: &str, question: &str, answerable: bool) -> Result<Asked> {
    let options = RecallOptions { now: told.end, ..RecallOptions::of(question) };
    let report = quipu_engine::recall(engine, &told.user, &options)?;
    let one_stage = RecallOptions { profile: Some("one stage".to_owned()), ..options };
    let without = quipu_engine::recall(engine, &told.user, &one_stage)?;
    Ok(Asked {
        id: id.to_owned(),
        conversation: told.set.conversation.clone(),
        question: question.to_owned(),
        answerable,
        signals: report.decision.signals,
        signals_without_tokens: without.decision.signals,
        best: report.hits.first().map(|answer| Best {
            confidence: answer.confidence,
            contested: !answer.contested_by.is_empty(),
            from_user: true,
            of_another: report.decision.of_another,
        }),
    })
}

/// The question with one conversation's names in the place of another's.
fn renamed(question: &str, from: &[String], to: &[String], turn: usize) -> String {
    let mut text = question.to_owned();
    // In two steps, so that a name both conversations have is not replaced twice.
    let mark = |at: usize| format!("\u{0}{at}\u{0}");
    for (at, name) in from.iter().enumerate() {
        text = text.replace(name.as_str(), &mark(at));
    }
    for at in 0..from.len() {
        let name = to.get((at + turn) % to.len().max(1)).map_or("they", String::as_str);
        text = text.replace(&mark(at), name);
    }
    text
}

fn fit<'a>(asked: impl Iterator<Item = &'a Asked>, signals: impl Fn(&Asked) -> Signals) -> Result<Calibration> {
    let examples: Vec<(Signals, bool)> = asked.map(|one| (signals(one), one.answerable)).collect();
    let few = || Error::Invalid("the file has too few questions to fit anything by".to_owned());
    Calibration::fit(&examples, RIDGE).ok_or_else(few)
}

/// For each question the probability by a fit that has not seen its conversation.
fn held_out(asked: &[Asked], signals: impl Fn(&Asked) -> Signals + Copy) -> Result<Vec<f64>> {
    let mut by_conversation: BTreeMap<&str, Calibration> = BTreeMap::new();
    for one in asked {
        if !by_conversation.contains_key(one.conversation.as_str()) {
            let others = asked.iter().filter(|other| other.conversation != one.conversation);
            by_conversation.insert(&one.conversation, fit(others, signals)?);
        }
    }
    let probability = |one: &Asked| by_conversation[one.conversation.as_str()].probability(&signals(one));
    Ok(asked.iter().map(probability).collect())
}

impl Figures {
    fn of(asked: &[Asked], probabilities: &[f64]) -> Self {
        let right = |one: &Asked| f64::from(u8::from(one.answerable));
        let count = asked.len() as f64;
        let squares = asked.iter().zip(probabilities).map(|(one, p)| (p - right(one)).powi(2));
        Self {
            auroc: auroc(asked, probabilities),
            ece: calibration_error(&bins(asked, probabilities)),
            brier: squares.sum::<f64>() / count,
        }
    }
}

/// By ranks (Mann and Whitney 1947): equals count half.
fn auroc(asked: &[Asked], probabilities: &[f64]) -> f64 {
    let mut order: Vec<(f64, bool)> =
        probabilities.iter().copied().zip(asked.iter().map(|one| one.answerable)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut won) = (0.0, 0.0);
    for equals in order.chunk_by(|a, b| a.0 == b.0) {
        let answerable = equals.iter().filter(|(_, answerable)| *answerable).count() as f64;
        let others = equals.len() as f64 - answerable;
        won += answerable * (below + others / 2.0);
        below += others;
    }
    let answerable = asked.len() as f64 - below;
    if answerable > 0.0 && below > 0.0 { won / (answerable * below) } else { 0.5 }
}

fn bins(asked: &[Asked], probabilities: &[f64]) -> Vec<Stretch> {
    let mut sums = [(0.0, 0usize, 0usize); BINS];
    for (one, probability) in asked.iter().zip(probabilities) {
        let bin = &mut sums[((probability * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + probability, bin.1 + usize::from(one.answerable), bin.2 + 1);
    }
    let filled = sums.into_iter().filter(|(_, _, count)| *count > 0);
    let share = |(stated, answerable, count): (f64, usize, usize)| Stretch {
        stated: stated / count as f64,
        answerable: answerable as f64 / count as f64,
        questions: count,
    };
    filled.map(share).collect()
}

fn verdicts(asked: &[Asked], probabilities: &[f64], limits: &Thresholds) -> BTreeMap<&'static str, Given> {
    let all = [Verdict::Answer, Verdict::Clarify, Verdict::Verify, Verdict::Abstain];
    let mut given: BTreeMap<&str, Given> = all.iter().map(|verdict| (verdict.word(), Given::default())).collect();
    for (one, probability) in asked.iter().zip(probabilities) {
        let count = given.entry(decide(*probability, one.best, limits).0.word()).or_default();
        if one.answerable {
            count.answerable += 1;
        } else {
            count.unanswerable += 1;
        }
    }
    given
}

fn line(one: &Asked, probability: f64) -> Line {
    let nearness = if one.answerable { probability } else { 1.0 - probability };
    Line {
        id: one.id.clone(),
        eval: "calibrate".to_owned(),
        group: if one.answerable { "answerable" } else { "unanswerable" }.to_owned(),
        question: one.question.clone(),
        metrics: [("nearness".to_owned(), nearness)].into_iter().collect(),
        latency_ms: None,
        relevance: None,
        confidence: Some(probability),
        right: Some(one.answerable),
    }
}

fn in_words(report: &Report) -> String {
    let figures = |name: &str, figures: &Figures| {
        let number = |number: f64| format!("{number:.3}");
        vec![name.to_owned(), number(figures.auroc), number(figures.ece), number(figures.brier)]
    };
    let rows = [figures("with tokens", &report.held_out), figures("one stage", &report.held_out_without_tokens)];
    let verdict = |(word, given): (&&str, &Given)| {
        vec![(*word).to_owned(), given.answerable.to_string(), given.unanswerable.to_string()]
    };
    let bin =
        |bin: &Stretch| vec![format!("{:.2}", bin.stated), format!("{:.2}", bin.answerable), bin.questions.to_string()];
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
        render::table(&["verdict", "answerable", "not"], &report.verdicts.iter().map(verdict).collect::<Vec<_>>()),
        render::table(&["stated", "answerable", "questions"], &report.reliability.iter().map(bin).collect::<Vec<_>>()),
        fitted(&report.calibration),
        fitted(&report.calibration_without_tokens),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answerable: bool) -> Asked {
        Asked {
            id: String::new(),
            conversation: String::new(),
            question: String::new(),
            answerable,
            signals: Signals::default(),
            signals_without_tokens: Signals::default(),
            best: None,
        }
    }

    #[test]
    fn figures_follow_their_definitions() {
        let all: Vec<Asked> = [true, false, true, false].map(asked).into_iter().collect();
        // One pair of four in the wrong order, one tied.
        let found = Figures::of(&all, &[0.9, 0.3, 0.3, 0.4]);
        assert!((found.auroc - 2.5 / 4.0).abs() < 1e-9, "{found:?}");
        assert!((found.brier - (0.01 + 0.09 + 0.49 + 0.16) / 4.0).abs() < 1e-9, "{found:?}");
        // .9 of one right, .3 of two of which one is right, .4 of one wrong.
        assert!((found.ece - (0.1 + 0.2 * 2.0 + 0.4) / 4.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_published_curve_is_the_built_in_one() {
        let curve = quipu_core::recall::Profile::default().reliability;
        assert_eq!(drawn(&curve), include_str!("../../../../../docs/reliability.svg"));
    }

    #[test]
    fn names_change_places_at_once() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (from, to) = (names(&["Ana", "Ben"]), names(&["Ben", "Cleo"]));
        assert_eq!(renamed("Did Ana meet Ben's aunt?", &from, &to, 0), "Did Ben meet Cleo's aunt?");
        assert_eq!(renamed("Did Ana meet Ben's aunt?", &from, &to, 1), "Did Cleo meet Ben's aunt?");
    }
}
