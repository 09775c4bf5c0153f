//! Commands that ask a memory.

use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

#[derive(Debug, Args)]
pub(crate) struct Recall {
    /// The question
    pub(crate) query: String,
    /// How many answers
    #[arg(short, default_value_t = 8)]
    pub(crate) k: usize,
    /// Only these kinds: turn, entry, doc, fact, ep, task, note, tenet
    #[arg(long, value_delimiter = ',', value_name = "KIND")]
    pub(crate) kind: Vec<String>,
    #[command(flatten)]
    pub(crate) time: Time,
    /// What it is for [default: what the question says]
    #[arg(long, value_enum)]
    pub(crate) intent: Option<Intent>,
    #[command(flatten)]
    pub(crate) patience: Patience,
    /// Show how each score came about
    #[arg(long)]
    pub(crate) explain: bool,
}

/// How long models may take.
#[derive(Debug, Args)]
pub(crate) struct Patience {
    /// Go on without the models that have not answered by then, and say so
    #[arg(long, value_name = "MS")]
    deadline: Option<u64>,
}

impl Patience {
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.deadline.map(Duration::from_millis)
    }
}

/// What an answer is for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Intent {
    /// Goals, rules, what happened lately
    Plan,
    /// The self-model, what was before and after
    Reflect,
    /// The episodes and facts that answer
    Recall,
    /// Rules and goals, decisions like it
    Decide,
    /// A rule or two, one suggestion
    Nudge,
}

impl From<Intent> for quipu_core::recall::Intent {
    fn from(intent: Intent) -> Self {
        match intent {
            Intent::Plan => Self::Plan,
            Intent::Reflect => Self::Reflect,
            Intent::Recall => Self::Recall,
            Intent::Decide => Self::Decide,
            Intent::Nudge => Self::Nudge,
        }
    }
}

/// For which time statements are asked.
#[derive(Debug, Args)]
pub(crate) struct Time {
    /// What held at this time: a date or a time [default: what the question says, else now]
    #[arg(long, value_name = "TIME", value_parser = super::people::parse_time, conflicts_with = "history")]
    pub(crate) valid_at: Option<Timestamp>,
    /// Also what holds no longer
    #[arg(long)]
    pub(crate) history: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Context {
    /// The question or task
    #[arg(required_unless_present = "id")]
    pub(crate) query: Option<String>,
    /// Make a pack again from its id, as of then
    #[arg(long, value_name = "PACK", conflicts_with_all = ["query", "intent", "max_tokens"])]
    pub(crate) id: Option<String>,
    /// Put the whole ids of items before the lines, not numbers
    #[arg(long, conflicts_with = "id")]
    pub(crate) ids: bool,
    /// Ask the reader to cite the lines it uses
    #[arg(long, conflicts_with = "id")]
    pub(crate) cite: bool,
    /// The most the block may cost, in tokens
    #[arg(long, default_value_t = quipu_core::pack::DEFAULT_TOKENS, value_name = "N")]
    pub(crate) max_tokens: usize,
    /// Count by: o200k_base, cl100k_base, estimate [default: o200k_base]
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    pub(crate) tokenizer: Option<String>,
    #[command(flatten)]
    pub(crate) patience: Patience,
    /// What it is for [default: what the question says]
    #[arg(long, value_enum)]
    pub(crate) intent: Option<Intent>,
}
