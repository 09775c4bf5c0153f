//! Eval: how much of what a question needs is found, and whether what changed is answered as it is.

mod answers;
mod assistant;
mod beam;
mod bootstrap;
mod calibrate;
mod certainty;
mod compare;
mod corpus;
mod efficiency;
mod families;
mod heard;
mod lines;
mod locomo;
mod longmemeval;
mod metrics;
mod packed;
mod packs;
mod reading;
mod report;
mod updates;
mod worlds;
mod year;

use quipu_engine::{Engine, Error, Result};
use tempfile::TempDir;

use crate::app;
use crate::args::Dataset;
use crate::output::Printer;
use crate::settings::Settings;

pub(super) use metrics::Quantiles;

/// Runs what was asked for.
pub(super) fn run(settings: &Settings, printer: &Printer, dataset: &Dataset) -> Result<()> {
    match dataset {
        Dataset::Locomo(told) => locomo::locomo(settings, printer, told),
        Dataset::Beam(told) => beam::beam(settings, printer, told),
        Dataset::Packs { file, kind, tokens, conversations, words_only, out } => packs::packs(
            settings,
            printer,
            &packs::PacksOptions {
                file,
                kind: *kind,
                tokens,
                conversations,
                words_only: *words_only,
                out: out.as_deref(),
            },
        ),
        Dataset::Assistant { place, noise, words_only, detail, out } => assistant::assistant(
            settings,
            printer,
            &assistant::AssistantOptions {
                place,
                noise: *noise,
                words_only: *words_only,
                detail: *detail,
                out: out.as_deref(),
            },
        ),
        Dataset::Reading { place, with_model, parallel, detail } => reading::reading(
            settings,
            printer,
            &reading::ReadingOptions { place, with_model: *with_model, parallel: (*parallel).into(), detail: *detail },
        ),
        Dataset::Longmemeval { file, limit, out } => {
            longmemeval::longmemeval(settings, printer, file, *limit, out.as_deref())
        }
        Dataset::Updates { seed, worlds, out } => updates::updates(printer, *seed, *worlds, out.as_deref()),
        Dataset::Efficiency { file, questions, conversations } => {
            efficiency::efficiency(settings, printer, file, *questions, conversations)
        }
        Dataset::Worlds { seed, worlds, stories, lives, spelling, out } => {
            families::worlds(settings, printer, (*seed, *worlds, *stories, *lives), *spelling, out.as_deref())
        }
        Dataset::Year { seed, days, questions, spelling, out, keep } => year::year(
            settings,
            printer,
            &year::YearOptions {
                seed: *seed,
                days: *days,
                questions: *questions,
                spelling: *spelling,
                out: out.as_deref(),
                keep: keep.as_deref(),
            },
        ),
        Dataset::Calibrate { file, shipped, out, plot } => calibrate::calibrate(
            settings,
            printer,
            &calibrate::CalibrateOptions { file, shipped: *shipped, out: out.as_deref(), plot: plot.as_deref() },
        ),
        Dataset::Answers { file, kind, model, judge, questions, tokens, parallel, words_only, out } => {
            answers::answers(
                settings,
                printer,
                &answers::AnswersOptions {
                    file,
                    kind: *kind,
                    model,
                    judge: judge.as_deref(),
                    questions: questions.unwrap_or(usize::MAX),
                    tokens: *tokens,
                    parallel: (*parallel).into(),
                    words_only: *words_only,
                    out,
                },
            )
        }
        Dataset::Report { out, files } => report::report(printer, out, files),
        Dataset::Compare { a, b } => compare::compare(printer, a, b),
    }
}

/// An engine over a folder that is gone when it is dropped.
fn scratch(settings: &Settings) -> Result<(TempDir, Engine)> {
    let folder = tempfile::tempdir().map_err(|error| Error::Unavailable(format!("no temporary folder: {error}")))?;
    let engine = app::open_in(folder.path(), settings)?;
    Ok((folder, engine))
}
