//! The interface between an evaluation and the program that runs it.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use jiff::Timestamp;
use quipu_engine::ports::{Embedder, LedgerStore};
use quipu_engine::{Engine, Error, Progress, Result};
use quipu_models::language::{Endpoint, ModelUsage};
use serde::Serialize;
use serde_json::Value;

/// The engine and the models to measure, as configured in the program.
pub trait Environment {
    /// Opens an engine over a folder, which is created if it does not exist.
    ///
    /// # Errors
    /// As [`quipu::open_engine`], and `Invalid` for models that cannot be used.
    fn open_in(&self, folder: &Path) -> Result<Engine>;

    /// Opens an engine like [`open_in`](Self::open_in) on a PostgreSQL database. `folder` holds what is not in the database.
    ///
    /// # Errors
    /// As [`open_in`](Self::open_in), and `Invalid` if the address is not the URL of a database.
    fn open_on(&self, address: &str, folder: &Path) -> Result<Engine>;

    /// Opens the ledgers of a place, encrypted if there is a master key. Keys of users are stored beside the ledgers.
    ///
    /// # Errors
    /// As [`open_on`](Self::open_on).
    fn ledgers(&self, place: Place<'_>, master_key: Option<&str>) -> Result<Box<dyn LedgerStore>>;

    /// The embedding model.
    ///
    /// # Errors
    /// `Unavailable` or `Invalid` if its files cannot be used.
    fn embedder(&self) -> Result<Arc<dyn Embedder>>;

    /// The endpoint of the language model that is set for a role, such as `chat` or `judge`; `None` if none is set.
    fn endpoint(&self, role: &str) -> Option<Endpoint>;

    /// Where the use of language models is counted.
    fn model_usage(&self) -> Arc<ModelUsage>;

    /// This program with the same settings, to measure something in a process of its own.
    ///
    /// # Errors
    /// `Unavailable` if the system does not say where the program is.
    fn program(&self) -> Result<Command>;

    /// The time to use instead of the machine's.
    fn now(&self) -> Option<Timestamp>;
}

/// Where ledgers are stored.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// A folder, which is created if it does not exist.
    Folder(&'a Path),
    /// The URL of a PostgreSQL database.
    Database(&'a str),
}

/// Where an evaluation shows what it is doing. It may be used from several threads.
pub trait Output: Sync {
    /// Shows a message for a person at a terminal.
    fn hint(&self, text: &str);

    /// Shows a progress bar until the returned function is dropped. Each call of the function updates the bar.
    fn progress(&self) -> Box<dyn Fn(Progress)>;
}

/// The result of an evaluation or a benchmark.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// The report for programs.
    pub json: Value,
    /// The same report for people.
    pub text: String,
}

impl Measurement {
    pub(crate) fn of<T: Serialize>(report: &T, render: impl FnOnce(&T) -> String) -> Result<Self> {
        let json = serde_json::to_value(report).map_err(|error| Error::Bug(error.to_string()))?;
        Ok(Self { json, text: render(report) })
    }
}
