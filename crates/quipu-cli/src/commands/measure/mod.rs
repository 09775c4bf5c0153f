//! Commands that measure: `quipu-eval` with the engine and the models of the settings.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use clap::Subcommand;
use quipu_engine::ports::{Embedder, LedgerStore};
use quipu_engine::{Engine, Error, Progress, Result};
use quipu_eval::{BenchOptions, Dataset, Environment, Output, Place};
use quipu_models::language::{Endpoint, ModelUsage};

use super::Invocation;
use crate::app;
use crate::encryption;
use crate::output::Printer;
use crate::settings::{EncryptionSettings, MasterKeySource, Settings, StoreSetting};

#[derive(Debug, Subcommand)]
pub(crate) enum MeasureCommand {
    /// Measure recall on conversations with known answers
    Eval {
        #[command(subcommand)]
        dataset: Dataset,
    },
    /// Measure speed and size on this machine
    Bench(BenchOptions),
}

impl MeasureCommand {
    pub(crate) fn run(self, invocation: Invocation<'_>) -> Result<ExitCode> {
        invocation.with_settings(|settings, printer| {
            let measured = match self {
                Self::Eval { dataset } => quipu_eval::run(settings, printer, &dataset)?,
                Self::Bench(options) => quipu_eval::bench(settings, printer, &options)?,
            };
            printer.report(&measured.json, |_| measured.text)
        })
    }
}

impl Environment for Settings {
    fn open_in(&self, folder: &Path) -> Result<Engine> {
        app::open_in(folder, self)
    }

    fn open_on(&self, address: &str, folder: &Path) -> Result<Engine> {
        app::open_on(&database(address)?, folder, self)
    }

    fn ledgers(&self, place: Place<'_>, master_key: Option<&str>) -> Result<Box<dyn LedgerStore>> {
        let settings = EncryptionSettings {
            switch: Some(master_key.is_some()),
            master: master_key.map(|key| MasterKeySource::Text(key.to_owned())),
            user_keys: None,
        };
        match place {
            Place::Folder(folder) => encryption::open_store(&StoreSetting::Folder, folder, &settings),
            // The keys of users are in the database as well, so nothing is written to the folder.
            Place::Database(address) => encryption::open_store(&database(address)?, &self.data_dir, &settings),
        }
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

    fn program(&self) -> Result<Command> {
        let path = std::env::current_exe();
        path.map(Command::new)
            .map_err(|error| Error::Unavailable(format!("the path of this program is unknown: {error}")))
    }

    fn now(&self) -> Option<jiff::Timestamp> {
        self.clock.fixed
    }
}

/// The database of an argument. The message does not repeat it, since it may contain a password.
fn database(address: &str) -> Result<StoreSetting> {
    match StoreSetting::of_address(address) {
        StoreSetting::Folder => Err(Error::Invalid(
            "--store must be the URL of a PostgreSQL database: postgres://USER:PASSWORD@HOST:PORT/DATABASE".to_owned(),
        )),
        database => Ok(database),
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
