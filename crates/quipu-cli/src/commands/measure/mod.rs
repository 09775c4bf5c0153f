//! Commands that measure: `quipu-eval` with the engine and the models of the settings.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use quipu_engine::ports::Embedder;
use quipu_engine::{Engine, Progress, Result};
use quipu_eval::{Dataset, Environment, Output};
use quipu_models::language::{Endpoint, ModelUsage};

use super::Invocation;
use crate::app;
use crate::output::Printer;
use crate::settings::Settings;

#[derive(Debug, Subcommand)]
pub(crate) enum MeasureCommand {
    /// Measure recall on conversations with known answers
    Eval {
        #[command(subcommand)]
        dataset: Dataset,
    },
    /// Measure speed and size on this machine
    Bench {
        /// Items in the largest memory
        #[arg(long, default_value_t = 100_000)]
        items: usize,
    },
}

impl MeasureCommand {
    pub(crate) fn run(self, invocation: Invocation<'_>) -> Result<ExitCode> {
        invocation.with_settings(|settings, printer| {
            let measured = match self {
                Self::Eval { dataset } => quipu_eval::run(settings, printer, &dataset)?,
                Self::Bench { items } => quipu_eval::bench(settings, printer, items)?,
            };
            printer.report(&measured.json, |_| measured.text)
        })
    }
}

impl Environment for Settings {
    fn open_in(&self, folder: &Path) -> Result<Engine> {
        app::open_in(folder, self)
    }

    fn embedder(&self) -> Result<Arc<dyn Embedder>> {
        app::embedder(self)
    }

    fn endpoint(&self, role: &str) -> Option<Endpoint> {
        self.models.iter().find(|set| set.role.as_str() == role).map(|set| set.endpoint.clone())
    }

    fn model_usage(&self) -> Arc<ModelUsage> {
        app::model_usage(&self.data_dir, self)
    }

    fn now(&self) -> Option<jiff::Timestamp> {
        self.now
    }
}

impl Output for Printer {
    fn hint(&self, text: &str) {
        Printer::hint(self, text);
    }

    fn progress(&self) -> Box<dyn Fn(Progress)> {
        let bar = Printer::progress(self);
        Box::new(move |progress| bar.show(progress))
    }
}
