//! Commands that copy a memory out of the data folder, and back.

mod backup;
mod export;
mod files;
mod move_store;
mod watch;

use std::process::ExitCode;

use clap::Subcommand;
use quipu_engine::Result;

use super::Invocation;

#[derive(Debug, Subcommand)]
pub(crate) enum ShareCommand {
    /// Export a memory as JSON, Markdown, mem0 memories or a signed bundle
    Export(export::ExportArgs),
    /// Copy ledgers into a new folder
    Backup(backup::BackupArgs),
    /// Restore ledgers from a backup
    Restore(backup::RestoreArgs),
    /// Copy ledgers and API keys into another store: a database or a data folder
    Move(move_store::MoveArgs),
    /// Plain files of a memory: rebuild, verify, restore, watch
    #[command(alias = "vault")]
    Files(files::FilesArgs),
}

impl ShareCommand {
    pub(crate) fn run(self, invocation: Invocation<'_>) -> Result<ExitCode> {
        match self {
            Self::Export(args) => invocation.on_existing(|context| export::export(context, &args)),
            Self::Backup(args) => {
                invocation.with_engine(|engine, settings, printer| backup::backup(engine, settings, printer, &args))
            }
            Self::Restore(args) => {
                invocation.with_engine(|engine, settings, printer| backup::restore(engine, settings, printer, &args))
            }
            Self::Move(args) => {
                invocation.with_settings(|settings, printer| move_store::move_store(settings, printer, &args))
            }
            Self::Files(args) => files::run(invocation, args.action),
        }
    }
}
