//! Commands for what a memory makes of itself.

use clap::{Args, ValueEnum};
use quipu_engine::MaintenanceStep;

#[derive(Debug, Args)]
pub(crate) struct Grow {
    /// Only show what it would do
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// At most so many events; what is left waits for the next time
    #[arg(long, value_name = "N")]
    pub(crate) events: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct Maintain {
    /// Only show what is due
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only this step, several times for several [default: all]
    #[arg(long = "step", value_enum, value_name = "STEP")]
    pub(crate) steps: Vec<MaintenanceStepArg>,
    /// At most so many events of reflection and compaction; what is left waits for the next time
    #[arg(long, value_name = "N")]
    pub(crate) events: Option<usize>,
    /// Let the model read at most so many messages now [default: all that wait]
    #[arg(long, value_name = "N")]
    pub(crate) sources: Option<usize>,
    /// At most so many messages read by rules and exchanges summarised [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) items: Option<usize>,
}

/// A step of maintenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MaintenanceStepArg {
    /// Rules read what was recorded and not read.
    Read,
    /// The model that reads goes on.
    Study,
    /// Exchanges of sessions are summarised.
    Summarize,
    /// Sessions that are over are told.
    Episodes,
    /// What was shown is counted.
    Hits,
    /// What recurs in the core document is proposed as a category.
    Evolve,
    /// Notes are taken and lines of the self-model proposed.
    Reflect,
    /// Duplicates, patterns, what is cold.
    Compact,
    /// Plain files are brought level.
    Files,
}

impl From<MaintenanceStepArg> for MaintenanceStep {
    fn from(step: MaintenanceStepArg) -> Self {
        match step {
            MaintenanceStepArg::Read => Self::Read,
            MaintenanceStepArg::Study => Self::Study,
            MaintenanceStepArg::Summarize => Self::Summarize,
            MaintenanceStepArg::Episodes => Self::Episodes,
            MaintenanceStepArg::Hits => Self::Hits,
            MaintenanceStepArg::Evolve => Self::Evolve,
            MaintenanceStepArg::Reflect => Self::Reflect,
            MaintenanceStepArg::Compact => Self::Compact,
            MaintenanceStepArg::Files => Self::Files,
        }
    }
}
