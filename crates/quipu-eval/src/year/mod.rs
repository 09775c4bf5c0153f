//! Year: one life of seven thousand turns, imported and consolidated. The result is compared with the truth, recall is
//! measured before and after, and one revert undoes all of it.

mod growing;
mod life;
mod telling;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use quipu_core::growth::ActiveIndex;
use quipu_core::id::{ItemId, UserId};
use quipu_engine::ports::Embedder;
use quipu_engine::{Engine, Error, RecallOptions, Result};
use quipu_models::HashedNgrams;
use serde::Serialize;

use super::bootstrap::{self, Interval};
use super::lines::{Out, ResultLine};
use super::updates::place::SeededEngine;
use crate::environment::{Environment, Measurement};
use crate::render;
use growing::Grown;
use life::InventedYear;
use telling::{Month, ToldYear};

/// The user.
const USER: &str = "year";
/// Depth of recall.
const DEPTH: usize = 10;
/// Figures of a question, before and after.
const FIGURES: [&str; 2] = ["before.recall.10", "after.recall.10"];

/// What is measured.
pub(crate) struct YearOptions<'a> {
    pub(crate) seed: u64,
    pub(crate) days: i32,
    pub(crate) questions: usize,
    pub(crate) spelling: bool,
    /// The file of details.
    pub(crate) out: Option<&'a Path>,
    /// A folder for the consolidated memory; then nothing is reverted.
    pub(crate) keep: Option<&'a Path>,
}

/// A selection, compared with the truth.
#[derive(Debug, Clone, Serialize)]
struct Picked {
    picked: usize,
    precision: f64,
    recall: f64,
    /// What was selected but should not have been.
    wrong: Vec<String>,
    /// What should have been selected but was not.
    missed: Vec<String>,
}

impl Picked {
    /// `may` is allowed, `should` is required.
    fn of(picked: &BTreeSet<String>, may: &BTreeSet<String>, should: &BTreeSet<String>) -> Self {
        let share = |part: usize, of: usize| if of == 0 { 1.0 } else { part as f64 / of as f64 };
        Self {
            picked: picked.len(),
            precision: share(picked.intersection(may).count(), picked.len()),
            recall: share(picked.intersection(should).count(), should.len()),
            wrong: picked.difference(may).cloned().collect(),
            missed: should.difference(picked).cloned().collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    seed: u64,
    turns: usize,
    told_in_s: f64,
    /// Growth of the memory during the import.
    months: Vec<Month>,
    grown_in_s: f64,
    /// Claims promoted to the profile.
    promoted: Picked,
    /// Patterns that became categories of the core document.
    categories: Picked,
    folded: usize,
    /// Items merged with something different.
    folded_wrong: Vec<String>,
    noted: usize,
    active_index: ActiveIndex,
    active_share: f64,
    core_bytes: usize,
    questions: usize,
    found_before: f64,
    found_after: f64,
    /// After minus before, over the same questions.
    difference: f64,
    difference_interval: Option<Interval>,
    /// Events that one revert undid; `None` if the memory was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_back: Option<usize>,
    /// Differences from the memory before consolidation.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_over: Option<usize>,
    model: String,
}

#[expect(clippy::disallowed_methods, reason = "a timing report")]
pub(crate) fn year(environment: &dyn Environment, wanted: &YearOptions<'_>) -> Result<Measurement> {
    let embedder: Arc<dyn Embedder> =
        if wanted.spelling { Arc::new(HashedNgrams::new()) } else { environment.embedder()? };
    let life = InventedYear::make(wanted.seed, wanted.days)?;
    let place = SeededEngine::make(wanted.seed, embedder.clone())?;
    let (engine, user) = (&place.engine, UserId::parse(USER)?);
    let started = Instant::now();
    let told = telling::tell(&place, &user, &life)?;
    let told_in_s = started.elapsed().as_secs_f64();
    let chosen = spread(life.questions.len(), wanted.questions);
    let before = ask(engine, &user, &life, &told, &chosen)?;
    let (version, seen) = (quipu_engine::status(engine, &user)?.version, growing::seen(engine, &user)?);
    let started = Instant::now();
    let grown = growing::grow(engine, &user)?;
    let grown_in_s = started.elapsed().as_secs_f64();
    let after = ask(engine, &user, &life, &told, &chosen)?;
    let core_bytes = quipu_engine::core_at(engine, &user, quipu_engine::versions::When::Now)?.to_string().len();
    let mut out = Out::to(wanted.out)?;
    for ((number, before), after) in chosen.iter().zip(&before).zip(&after) {
        out.push(&line(wanted.seed, *number, &life.questions[*number], [*before, *after]))?;
    }
    out.finish()?;
    let back = match wanted.keep {
        Some(folder) => {
            quipu_engine::backup::backup(engine, std::slice::from_ref(&user), folder)?;
            None
        }
        None => Some(growing::take_back(engine, &user, version, &seen)?),
    };
    let (mean_before, mean_after) = (mean(&before), mean(&after));
    let differences = before.iter().zip(&after).map(|(before, after)| Some(after - before)).collect();
    let Grown { promoted, by_nature, categories, folded, folded_wrong, noted, active } = grown;
    let names = |claims: &BTreeSet<life::Claim>| claims.iter().map(life::in_words).collect::<BTreeSet<_>>();
    let report = Report {
        seed: wanted.seed,
        turns: life.exchanges.len() * 2,
        told_in_s,
        months: told.months,
        grown_in_s,
        promoted: Picked::of(&promoted, &names(&life.patterns), &(&names(&life.holding) - &by_nature)),
        categories: Picked::of(&categories, &life.themes, &life.themes),
        folded,
        folded_wrong,
        noted,
        active_share: active.active as f64 / active.items.max(1) as f64,
        active_index: active,
        core_bytes,
        questions: chosen.len(),
        found_before: mean_before,
        found_after: mean_after,
        difference: mean_after - mean_before,
        difference_interval: bootstrap::intervals(&[differences]).into_iter().next().flatten(),
        taken_back: back.map(|(events, _)| events),
        left_over: back.map(|(_, differing)| differing),
        model: embedder.model().id.clone(),
    };
    Measurement::of(&report, in_words)
}

/// Evenly spread numbers below `all`.
fn spread(all: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(all);
    (0..wanted).map(|number| number * all / wanted).collect()
}

/// For each question 1 if the turn that answers it is among the first answers, else 0.
fn ask(engine: &Engine, user: &UserId, life: &InventedYear, told: &ToldYear, chosen: &[usize]) -> Result<Vec<f64>> {
    let one = |&number: &usize| {
        let question = &life.questions[number];
        let Some(wanted) = told.answers.get(&number) else {
            return Err(Error::Bug(format!("no turn answers {question:?}")));
        };
        let options = RecallOptions { k: DEPTH, now: Some(told.end), ..RecallOptions::of(question) };
        let report = quipu_engine::recall(engine, user, &options)?;
        let is = |id: &ItemId| id == wanted;
        let found = report
            .hits
            .iter()
            .any(|hit| is(&hit.id) || hit.also.iter().any(is) || hit.evidence.iter().any(|quote| is(&quote.id)));
        Ok(f64::from(u8::from(found)))
    };
    chosen.iter().map(one).collect()
}

fn mean(found: &[f64]) -> f64 {
    bootstrap::mean(found.iter().copied()).unwrap_or(0.0)
}

fn line(seed: u64, number: usize, question: &str, found: [f64; 2]) -> ResultLine {
    ResultLine {
        id: format!("year-{seed}:{number}"),
        eval: "year".to_owned(),
        group: "details".to_owned(),
        question: question.to_owned(),
        metrics: FIGURES.iter().map(|name| (*name).to_owned()).zip(found).collect(),
        right: Some(found[1] > 0.5),
        ..ResultLine::default()
    }
}

fn in_words(report: &Report) -> String {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let rows: Vec<Vec<String>> = report
        .months
        .iter()
        .map(|month| [month.days as usize, month.turns, month.facts, month.core_bytes].map(|it| it.to_string()).into())
        .collect();
    let mut text = render::table(&["day", "turns", "facts", "core document, bytes"], &rows);
    let interval = report
        .difference_interval
        .map_or_else(String::new, |[low, high]| format!(" ({:+.1} to {:+.1})", low * 100.0, high * 100.0));
    let picked = |what: &str, of: &Picked| {
        let listed = |label: &str, all: &[String]| {
            if all.is_empty() { String::new() } else { format!("; {label}: {}", all.join(", ")) }
        };
        format!(
            "{what}: {}, precision {}, recall {}{}{}\n",
            of.picked,
            percent(of.precision),
            percent(of.recall),
            listed("wrong", &of.wrong),
            listed("missed", &of.missed),
        )
    };
    text.push_str(&format!(
        "\n{} turns recorded in {:.0} s, consolidated in {:.1} s; seed {}, model {}\n",
        report.turns, report.told_in_s, report.grown_in_s, report.seed, report.model
    ));
    text.push_str(&picked("promoted to the profile", &report.promoted));
    text.push_str(&picked("new categories", &report.categories));
    text.push_str(&format!(
        "near-duplicates merged: {}, {} of them wrongly\n",
        report.folded,
        report.folded_wrong.len()
    ));
    report.folded_wrong.iter().for_each(|wrong| text.push_str(&format!("    {wrong}\n")));
    text.push_str(&format!(
        "notes taken: {}\nactive index: {} of {} items, {} %\ncore document: {} bytes\nfound among {DEPTH}: {} % before, {} % after, {:+.1}{interval} over {} questions\n",
        report.noted,
        report.active_index.active,
        report.active_index.items,
        percent(report.active_share),
        report.core_bytes,
        percent(report.found_before),
        percent(report.found_after),
        report.difference * 100.0,
        report.questions,
    ));
    if let (Some(events), Some(left)) = (report.taken_back, report.left_over) {
        text.push_str(&format!("one revert undid {events} events; {left} lines differ from before\n"));
    }
    text
}
