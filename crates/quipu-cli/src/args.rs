//! The command line: global flags, and the commands in groups.

use std::path::PathBuf;

use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::commands::ask::AskCommand;
use crate::commands::history::HistoryCommand;
use crate::commands::maintain::MaintainCommand;
use crate::commands::measure::MeasureCommand;
use crate::commands::remember::RememberCommand;
use crate::commands::review::ReviewCommand;
use crate::commands::serve::ServeCommand;
use crate::commands::share::ShareCommand;
use crate::help;

/// Long-term memory for assistants and agents: one binary, one folder, no account.
#[derive(Debug, Parser)]
#[command(name = "quipu", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Start with `quipu demo`. Data is written to stdout, progress and messages to stderr.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses the arguments of the process.
    ///
    /// # Errors
    /// What clap reports: wrong usage, or a request for help or the version.
    pub(crate) fn from_process() -> Result<Self, clap::Error> {
        let mut command = help::command();
        let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

/// Flags of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The user whose memory it is [default: me]
    #[arg(short, long, global = true, env = "QUIPU_USER", value_name = "ID")]
    pub(crate) user: Option<String>,
    /// Only this session
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The data folder [default: quipu in the platform's data folder]
    #[arg(long, global = true, env = "QUIPU_DATA_DIR", value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Profile of weights for recall [default: the one set in weights.yaml]
    #[arg(long, global = true, env = "QUIPU_PROFILE", value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Output format
    #[arg(short, long, global = true, value_enum, value_name = "FORM")]
    pub(crate) output: Option<Form>,
    /// Same as -o json
    #[arg(long, global = true, conflicts_with = "output")]
    pub(crate) json: bool,
    /// Print no progress and no hints
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Do not ask for confirmation
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,
    /// Use this time (RFC 3339) instead of the current time, for experiments
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) now: Option<jiff::Timestamp>,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// For programs: stable, with a schema_version.
    Json,
    /// Columns, for lists that have them.
    Table,
}

/// Every command, by group. [`help::groups`] lists the groups in this order.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Remember(RememberCommand),
    #[command(flatten)]
    Ask(AskCommand),
    #[command(flatten)]
    Review(ReviewCommand),
    #[command(flatten)]
    History(HistoryCommand),
    #[command(flatten)]
    Share(ShareCommand),
    #[command(flatten)]
    Serve(ServeCommand),
    #[command(flatten)]
    Maintain(MaintainCommand),
    #[command(flatten)]
    Measure(MeasureCommand),
}
