//! Commands that ask language models.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CatchUp {
    /// Let the model read at most so many messages now [default: all that wait]
    #[arg(long, value_name = "N")]
    pub(crate) sources: Option<usize>,
    /// Let the model read everything that was ever said, not only what was said since it is configured
    #[arg(long)]
    pub(crate) from_the_start: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Rehearse every fault of a model server instead, offline
    #[arg(long)]
    pub(crate) self_test: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// The most tokens of memory in each prompt
    #[arg(long, default_value_t = quipu_core::pack::SESSION_TOKENS, value_name = "N")]
    pub(crate) memory_tokens: usize,
    /// The longest answer, in tokens
    #[arg(long, default_value_t = 1500, value_name = "N")]
    pub(crate) answer_tokens: u32,
}
