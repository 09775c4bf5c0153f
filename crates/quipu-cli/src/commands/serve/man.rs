//! Writes man pages, for packages.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use quipu_engine::{Error, Result};

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for the pages; it is created
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Writes `quipu.1` and a page for every visible command.
///
/// # Errors
/// `Unavailable` if the folder cannot be written.
pub(super) fn write(command_line: Command, folder: &Path) -> Result<()> {
    let fault = |error| Error::Unavailable(format!("cannot write man pages to {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(fault)?;
    clap_mangen::generate_to(command_line, folder).map_err(fault)
}
