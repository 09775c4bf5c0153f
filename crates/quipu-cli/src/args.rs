//! The command line: global flags, and the commands in groups.

use clap::{Parser, Subcommand};

use crate::commands::ask::AskCommand;
use crate::commands::history::HistoryCommand;
use crate::commands::maintain::MaintainCommand;
use crate::commands::measure::MeasureCommand;
use crate::commands::remember::RememberCommand;
use crate::commands::review::ReviewCommand;
use crate::commands::serve::ServeCommand;
use crate::commands::share::ShareCommand;
use crate::global::Global;

/// Long-term memory for assistants and agents: one binary, one folder, no account.
#[derive(Debug, Parser)]
#[command(name = "quipu", version, propagate_version = true, disable_help_subcommand = true)]
#[command(
    after_help = "Start with `quipu init`, or `quipu demo` to see what it does. Data is written to stdout, progress and messages to stderr."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Every command, by group. `help::groups` lists the groups in this order.
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
