//! Arguments that several commands share.

use std::time::Duration;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ItemArgs {
    /// An item id, a prefix of one, or the name the item had where it was imported from
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct AllArgs {
    /// Include finished, dropped and outdated ones
    #[arg(short, long)]
    pub(crate) all: bool,
}

/// The time models may take.
#[derive(Debug, Args)]
pub(crate) struct DeadlineArgs {
    /// Continue without models that have not answered within this time, and report it
    #[arg(long, value_name = "MS")]
    deadline: Option<u64>,
}

impl DeadlineArgs {
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.deadline.map(Duration::from_millis)
    }
}

/// What an answer is used for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum IntentArg {
    /// Goals, rules, recent events
    Plan,
    /// The self-model, and what came before and after
    Reflect,
    /// The episodes and facts that answer
    Recall,
    /// Rules and goals, similar decisions
    Decide,
    /// A few rules, one suggestion
    Nudge,
}

impl From<IntentArg> for quipu_core::recall::Intent {
    fn from(intent: IntentArg) -> Self {
        match intent {
            IntentArg::Plan => Self::Plan,
            IntentArg::Reflect => Self::Reflect,
            IntentArg::Recall => Self::Recall,
            IntentArg::Decide => Self::Decide,
            IntentArg::Nudge => Self::Nudge,
        }
    }
}
