//! Families: tests of what memory is for, over simulated worlds and through the engine's public functions.
//!
//! *Temporal*: past values and their periods, asked in natural language. *Conflicts*: both sides and a question are
//! shown. *Forgetting*: nothing is left after erasing. *Silence*: nothing is asserted about unknown subjects.
//! *Learning*: a fact stated once is used at once. *Promotion*: values stated on three days join the profile.
//! *Reflection*: what helped is noted and used. *Folding*: two spellings of one thing are merged. *Compaction*: what
//! was said once is still found.

mod growing;
mod short;
mod temporal;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use quipu_engine::Result;
use quipu_engine::ports::Embedder;
use quipu_models::HashedNgrams;
use serde::Serialize;

use super::lines::{Out, ResultLine};
use super::metrics::{Figures, Scores};
use crate::environment::{Environment, Measurement};
use crate::render;

/// The families, in the order of the report.
const FAMILIES: [&str; 9] =
    ["temporal", "conflicts", "forgetting", "silence", "learning", "promotion", "reflection", "folding", "compaction"];

/// Wrong answers shown; the file of details has all.
const EXAMPLES: usize = 5;

/// The figure that is 1 if all parts are right.
const RIGHT: &str = "right";

/// One question with its result and the expected one.
#[derive(Debug, Serialize)]
struct Verdict {
    #[serde(flatten)]
    line: ResultLine,
    world: String,
    /// The form of the question.
    form: &'static str,
    wanted: Vec<String>,
    found: Vec<String>,
    /// A sentence was not read as intended. The question would test the rules instead, so it is not counted.
    set_aside: bool,
}

impl Verdict {
    /// Right if every part is right.
    fn of(family: &str, form: &'static str, id: String, question: &str, parts: &[(&str, bool)]) -> Self {
        let all = parts.iter().all(|(_, holds)| *holds);
        let verdict = Self {
            line: ResultLine {
                id: format!("{family}:{id}"),
                eval: "worlds".to_owned(),
                group: family.to_owned(),
                question: question.to_owned(),
                right: Some(all),
                ..ResultLine::default()
            },
            world: String::new(),
            form,
            wanted: Vec::new(),
            found: Vec::new(),
            set_aside: false,
        };
        verdict.beside(parts).beside(&[(RIGHT, all)])
    }

    /// Adds figures that do not decide whether the answer is right.
    fn beside(mut self, parts: &[(&str, bool)]) -> Self {
        let score = |(name, holds): &(&str, bool)| ((*name).to_owned(), f64::from(u8::from(*holds)));
        self.line.metrics.extend(parts.iter().map(score));
        self
    }

    /// Excludes it from all figures.
    fn aside(mut self, set_aside: bool) -> Self {
        self.set_aside = set_aside;
        if set_aside {
            self.line.metrics.clear();
        }
        self
    }
}

#[derive(Debug, Serialize)]
struct Report {
    seed: u64,
    worlds: usize,
    stories: usize,
    lives: usize,
    questions: usize,
    set_aside: usize,
    by_family: BTreeMap<&'static str, Family>,
    model: String,
}

#[derive(Debug, Serialize)]
struct Family {
    #[serde(flatten)]
    figures: Figures,
    by_form: BTreeMap<String, Figures>,
    set_aside: usize,
    /// Some wrong answers.
    examples: Vec<String>,
}

pub(crate) fn worlds(
    environment: &dyn Environment,
    (seed, worlds, stories, lives): (u64, usize, usize, usize),
    spelling: bool,
    out: Option<&Path>,
) -> Result<Measurement> {
    let embedder: Arc<dyn Embedder> = if spelling { Arc::new(HashedNgrams::new()) } else { environment.embedder()? };
    let mut out = Out::to(out)?;
    let mut verdicts = temporal::ask(&embedder, seed, worlds)?;
    for number in 0..stories {
        verdicts.extend(short::ask(&embedder, seed, number)?);
    }
    for number in 0..lives {
        verdicts.extend(growing::ask(&embedder, seed, number)?);
    }
    verdicts.iter().try_for_each(|verdict| out.push(verdict))?;
    out.finish()?;
    let family = |name: &'static str| {
        let of_family: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.line.group == name).collect();
        (name, Family::of(&of_family))
    };
    let report = Report {
        seed,
        worlds,
        stories,
        lives,
        questions: verdicts.iter().filter(|verdict| !verdict.set_aside).count(),
        set_aside: verdicts.iter().filter(|verdict| verdict.set_aside).count(),
        by_family: FAMILIES.map(family).into(),
        model: embedder.model().id.clone(),
    };
    Measurement::of(&report, in_words)
}

impl Family {
    fn of(verdicts: &[&Verdict]) -> Self {
        let counted = || verdicts.iter().filter(|verdict| !verdict.set_aside);
        let names: BTreeSet<&str> =
            counted().flat_map(|verdict| verdict.line.metrics.keys().map(String::as_str)).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let rows: Vec<&Scores> = counted().map(|verdict| &verdict.line.metrics).collect();
        let wrong = counted().filter(|verdict| verdict.line.right == Some(false));
        let example = |verdict: &&Verdict| {
            let failed = verdict.line.metrics.iter().filter(|(name, value)| *name != RIGHT && **value < 0.5);
            let failed: Vec<&str> = failed.map(|(name, _)| name.as_str()).collect();
            let (id, question) = (&verdict.line.id, &verdict.line.question);
            format!(
                "{id}: {question} wanted {:?}, found {:?}; not {}",
                verdict.wanted,
                verdict.found,
                failed.join(", ")
            )
        };
        Self {
            figures: Figures::of(&names, &rows),
            by_form: Figures::split(&names, counted().map(|verdict| (verdict.form, &verdict.line.metrics))),
            set_aside: verdicts.len() - rows.len(),
            examples: wrong.take(EXAMPLES).map(example).collect(),
        }
    }
}

fn in_words(report: &Report) -> String {
    let mut rows = Vec::new();
    let mut examples = String::new();
    for name in FAMILIES {
        let Some(family) = report.by_family.get(name) else { continue };
        let parts = |figures: &Figures| {
            let part = |name: &String| Some(format!("{name} {:.1}", figures.mean(name)? * 100.0));
            figures.names().filter(|name| *name != RIGHT).filter_map(part).collect::<Vec<_>>().join(", ")
        };
        let row = |about: String, figures: &Figures, aside: String| {
            vec![about, figures.questions.to_string(), figures.in_percent(RIGHT), parts(figures), aside]
        };
        rows.push(row(name.to_owned(), &family.figures, family.set_aside.to_string()));
        for (form, figures) in family.by_form.iter().filter(|_| family.by_form.len() > 1) {
            rows.push(row(format!("  {form}"), figures, String::new()));
        }
        examples.extend(family.examples.iter().map(|example| format!("  {example}\n")));
    }
    format!(
        "{}\n{} questions over {} worlds, {} short stories for each of the next four families and {} years for the others, \
         seed {}; percent, with 95 % intervals; {} set aside because a \
         sentence was not read as intended\nModel: {}\n{}{examples}",
        render::table(&["", "questions", "right", "parts", "set aside"], &rows),
        report.questions,
        report.worlds,
        report.stories,
        report.lives,
        report.seed,
        report.set_aside,
        report.model,
        if examples.is_empty() { "" } else { "\nSome wrong answers:\n" },
    )
}
