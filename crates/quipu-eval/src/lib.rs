//! Evaluations and benchmarks: retrieval quality, correctness after updates, speed and size. They run over an engine
//! that the caller opens ([`Environment`]) and return a report ([`Measurement`]).

mod answers;
mod args;
mod assistant;
mod beam;
mod bench;
mod bootstrap;
mod calibrate;
mod certainty;
mod compare;
mod corpus;
mod efficiency;
mod environment;
mod families;
mod fit;
mod heard;
mod languages;
mod lines;
mod locomo;
mod longmemeval;
mod metrics;
mod packed;
mod packs;
mod reading;
pub mod render;
mod report;
mod updates;
mod worlds;
mod year;

use quipu_engine::ports::LedgerStore;
use quipu_engine::{Engine, Error, Result};
use tempfile::TempDir;

pub use args::{BenchOptions, BigStage, Conversations, CorpusKind, Dataset};
pub use bench::bench;
pub use environment::{Environment, Measurement, Output, Place};
pub use fit::Line;

/// Runs an evaluation.
///
/// # Errors
/// `NotFound` and `Invalid` for files that cannot be read or have an unknown format; otherwise as the functions of the
/// engine.
pub fn run(environment: &dyn Environment, output: &dyn Output, dataset: &Dataset) -> Result<Measurement> {
    match dataset {
        Dataset::Locomo(told) => locomo::locomo(environment, output, told),
        Dataset::Beam(told) => beam::beam(environment, output, told),
        Dataset::Packs { file, kind, tokens, conversations, words_only, out } => packs::packs(
            environment,
            output,
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
            environment,
            output,
            &assistant::AssistantOptions {
                place,
                noise: *noise,
                words_only: *words_only,
                detail: *detail,
                out: out.as_deref(),
            },
        ),
        Dataset::Reading { place, with_model, parallel, detail } => reading::reading(
            environment,
            output,
            &reading::ReadingOptions { place, with_model: *with_model, parallel: (*parallel).into(), detail: *detail },
        ),
        Dataset::Longmemeval { file, limit, out } => {
            longmemeval::longmemeval(environment, output, file, *limit, out.as_deref())
        }
        Dataset::Languages { place, out } => languages::languages(environment, place, out.as_deref()),
        Dataset::Updates { seed, worlds, out } => updates::updates(*seed, *worlds, out.as_deref()),
        Dataset::Efficiency { file, questions, conversations } => {
            efficiency::efficiency(environment, output, file, *questions, conversations)
        }
        Dataset::Worlds { seed, worlds, stories, lives, spelling, out } => {
            families::worlds(environment, (*seed, *worlds, *stories, *lives), *spelling, out.as_deref())
        }
        Dataset::Year { seed, days, questions, spelling, out, keep } => year::year(
            environment,
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
            environment,
            output,
            &calibrate::CalibrateOptions { file, shipped: *shipped, out: out.as_deref(), plot: plot.as_deref() },
        ),
        Dataset::Answers { file, kind, model, judge, questions, tokens, parallel, words_only, out } => {
            answers::answers(
                environment,
                output,
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
        Dataset::Report { out, files } => report::report(out, files),
        Dataset::Compare { a, b } => compare::compare(a, b),
    }
}

/// A temporary folder, which is deleted when it is dropped.
fn temporary_folder() -> Result<TempDir> {
    tempfile::tempdir().map_err(|error| Error::Unavailable(format!("no temporary folder: {error}")))
}

/// An engine over a database, with a temporary folder for what is not in it. The database must be empty, because a figure would
/// otherwise depend on what is there.
fn on_database(environment: &dyn Environment, address: &str) -> Result<(TempDir, Engine)> {
    let folder = temporary_folder()?;
    let engine = environment.open_on(address, folder.path())?;
    refuse_users(engine.store())?;
    Ok((folder, engine))
}

/// Refuses a store with memories.
fn refuse_users(store: &dyn LedgerStore) -> Result<()> {
    match store.users()?.len() {
        0 => Ok(()),
        some => Err(Error::Invalid(format!(
            "--store names a database with memories of {some} users, and measurements need an empty one: create another database"
        ))),
    }
}

/// An engine over a temporary folder.
fn scratch(environment: &dyn Environment) -> Result<(TempDir, Engine)> {
    let folder = temporary_folder()?;
    let engine = environment.open_in(folder.path())?;
    Ok((folder, engine))
}
