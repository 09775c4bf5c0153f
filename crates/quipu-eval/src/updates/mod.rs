//! Updates: simulated worlds are imported, and the memory is asked what holds now, what held then, and what was ever
//! said.

mod asking;
mod effort;
pub(super) mod place;
mod sound;
pub(super) mod telling;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use quipu_core::id::UserId;
use quipu_engine::Result;
use quipu_models::HashedNgrams;
use serde::Serialize;

use super::lines::Out;
use super::metrics::Quantiles;
use super::worlds::World;
use crate::environment::Measurement;
use crate::render;

use asking::{CheckedAnswer, KINDS};
use effort::Effort;
use place::SeededEngine;

/// Wrong answers shown; the file of details has all.
const EXAMPLES: usize = 5;

#[derive(Debug, Serialize)]
struct Report {
    seed: u64,
    worlds: usize,
    sentences: usize,
    /// Sentences that the rules did not read as intended.
    sentences_not_understood: usize,
    /// Some of them.
    not_understood: Vec<String>,
    all: Share,
    by_kind: BTreeMap<&'static str, Share>,
    by_relation: BTreeMap<String, BTreeMap<&'static str, Share>>,
    /// Violations of invariants, by kind.
    faults: BTreeMap<&'static str, usize>,
    /// Some of them.
    fault_examples: Vec<String>,
    /// Milliseconds to read a turn and decide on it, without the embedding and the disk.
    turn_ms: Quantiles,
    /// The same for turns of 35 to 45 words.
    turn_of_forty_words_ms: Quantiles,
    turns_of_forty_words: usize,
}

/// The share of questions answered correctly.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Share {
    questions: usize,
    right: usize,
    share: f64,
    /// Not counted, because they would test the rules.
    set_aside: usize,
}

impl Share {
    fn of<'a>(answers: impl Iterator<Item = &'a CheckedAnswer>) -> Self {
        let mut all = Self::default();
        for answer in answers {
            if answer.set_aside {
                all.set_aside += 1;
            } else {
                all.questions += 1;
                all.right += usize::from(answer.right);
            }
        }
        all.share = if all.questions == 0 { 1.0 } else { all.right as f64 / all.questions as f64 };
        all
    }
}

pub(crate) fn updates(seed: u64, worlds: usize, out: Option<&Path>) -> Result<Measurement> {
    // Hashed n-grams are enough: nothing is recalled.
    let place = SeededEngine::make(seed, Arc::new(HashedNgrams::new()))?;
    let (mut answers, mut effort, mut faults) = (Vec::new(), Effort::default(), sound::none());
    let (mut sentences, mut unread) = (0, Vec::new());
    for number in 0..worlds {
        let world = World::make(seed, number)?;
        let user = UserId::parse(&world.name)?;
        let heard = telling::tell(&place, &user, &world)?;
        answers.extend(asking::ask_all(&place.engine, &user, &world, &heard)?);
        sound::check(&place.engine, &user, &world, &heard, &mut faults)?;
        effort::measure(&place, &user, &mut effort)?;
        sentences += heard.sentences;
        unread.extend(heard.unread);
    }
    let mut out = Out::to(out)?;
    answers.iter().try_for_each(|answer| out.push(answer))?;
    out.finish()?;
    let by_kind = |of: &dyn Fn(&&CheckedAnswer) -> bool| {
        let share = |kind| Share::of(answers.iter().filter(of).filter(|answer| answer.kind == kind));
        KINDS.map(|kind| (kind, share(kind))).into()
    };
    let relations = answers.iter().map(|answer| answer.relation.clone());
    let report = Report {
        seed,
        worlds,
        sentences,
        sentences_not_understood: unread.len(),
        not_understood: unread.into_iter().take(EXAMPLES).collect(),
        all: Share::of(answers.iter()),
        by_kind: by_kind(&|_| true),
        by_relation: relations.map(|name| (name.clone(), by_kind(&|answer| answer.relation == name))).collect(),
        faults: faults.iter().map(|(name, found)| (*name, found.len())).collect(),
        fault_examples: faults.into_values().flat_map(|found| found.into_iter().take(EXAMPLES)).collect(),
        turns_of_forty_words: effort.forty_words.len(),
        turn_ms: Quantiles::of(effort.all),
        turn_of_forty_words_ms: Quantiles::of(effort.forty_words),
    };
    Measurement::of(&report, in_words)
}

fn in_words(report: &Report) -> String {
    let cell = |share: &Share| match share.questions {
        0 => "–".to_owned(),
        asked => format!("{:.1} % of {asked}", share.share * 100.0),
    };
    let row = |name: &str, shares: &BTreeMap<&'static str, Share>| {
        let mut cells = vec![name.to_owned()];
        cells.extend(KINDS.iter().map(|kind| cell(&shares[kind])));
        cells.push(shares.values().map(|share| share.set_aside).sum::<usize>().to_string());
        cells
    };
    let mut rows: Vec<Vec<String>> = report.by_relation.iter().map(|(name, shares)| row(name, shares)).collect();
    rows.push(row("all", &report.by_kind));
    let headings = ["", KINDS[0], KINDS[1], KINDS[2], "set aside"];
    let faults: String = report.faults.iter().map(|(name, count)| format!("{name}: {count}\n")).collect();
    let examples: String = report.fault_examples.iter().map(|example| format!("  {example}\n")).collect();
    format!(
        "{}\n{} questions over {} worlds of seed {}; {} of {} sentences were not read as intended, and questions \
         about the same slots are set aside\n\n{faults}{examples}\nReading a turn and deciding: p50 {:.3} ms, p95 {:.3} ms; \
         of forty words ({}): p50 {:.3} ms, p95 {:.3} ms\n",
        render::table(&headings, &rows),
        report.all.questions,
        report.worlds,
        report.seed,
        report.sentences_not_understood,
        report.sentences,
        report.turn_ms.p50,
        report.turn_ms.p95,
        report.turns_of_forty_words,
        report.turn_of_forty_words_ms.p50,
        report.turn_of_forty_words_ms.p95,
    )
}
