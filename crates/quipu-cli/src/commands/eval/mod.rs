//! Eval: how much of what a question needs is found, and whether what changed is answered as it is.

mod bootstrap;
mod calibrate;
mod compare;
mod efficiency;
mod families;
mod lines;
mod locomo;
mod longmemeval;
mod metrics;
mod report;
mod updates;
mod worlds;
mod year;

use quipu_engine::Result;

use crate::args::Dataset;
use crate::output::Printer;
use crate::settings::Settings;

pub(super) use metrics::Quantiles;

/// Runs what was asked for.
pub(super) fn run(settings: &Settings, printer: &Printer, dataset: &Dataset) -> Result<()> {
    match dataset {
        Dataset::Locomo { file, conversations, out } => {
            locomo::locomo(settings, printer, file, conversations, out.as_deref())
        }
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
            &year::Wanted {
                seed: *seed,
                days: *days,
                questions: *questions,
                spelling: *spelling,
                out: out.as_deref(),
                keep: keep.as_deref(),
            },
        ),
        Dataset::Calibrate { file, out, plot } => {
            calibrate::calibrate(settings, printer, file, out.as_deref(), plot.as_deref())
        }
        Dataset::Report { out, files } => report::report(printer, out, files),
        Dataset::Compare { a, b } => compare::compare(printer, a, b),
    }
}
