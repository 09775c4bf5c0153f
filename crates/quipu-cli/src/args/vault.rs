//! Commands about plain files, and about handing a memory on.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// In which shape
    #[arg(long, value_enum, default_value_t = Shape::Json)]
    pub(crate) format: Shape,
    /// Write to this new file, readable by you alone [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Only say how much it would be
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// In which shape a memory is handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// Everything, for programs
    Json,
    /// Pages, for people
    Markdown,
    /// As mem0 lists memories
    Mem0,
    /// The ledger itself, signed: `quipu import bundle` takes it up elsewhere
    Bundle,
}

#[derive(Debug, Args)]
pub(crate) struct VaultCommand {
    #[command(subcommand)]
    pub(crate) action: VaultAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VaultAction {
    /// Make every file anew from the ledger; what is as it should be is left alone
    Rebuild(DryRun),
    /// Compare the files with what the ledger says they should be
    Verify,
    /// Put the ledger back from the files; the database need not be there
    Restore(VaultRestore),
    /// Look after the pages: what is changed on them by hand is proposed (see `quipu review`)
    Watch(Watch),
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Look once, and end
    #[arg(long)]
    pub(crate) once: bool,
    /// Only say what would be proposed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VaultRestore {
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Set a memory that is there aside, in the same step
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DryRun {
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TopicCommand {
    #[command(subcommand)]
    pub(crate) action: TopicAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TopicAction {
    /// List topics, the latest first
    List,
    /// Show what a topic adds up to
    Show {
        /// Its name, or the name of its folder
        topic: String,
    },
}
