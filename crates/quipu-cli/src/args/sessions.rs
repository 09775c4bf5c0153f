//! Commands about sessions: what conversations know of themselves.

use clap::{Args, Subcommand};
use quipu_core::item::TruthKind;

#[derive(Debug, Args)]
pub(crate) struct SessionCommand {
    #[command(subcommand)]
    pub(crate) action: SessionAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionAction {
    /// Show base truth, turn log, raw window, artifacts, and what is not summarised
    Show {
        /// The conversation
        id: String,
    },
    /// Make the context for the next reply: hard exceptions, base truth, turn log, what is recalled, the last words
    Context(SessionContext),
    /// List the hard exceptions, set one or take one out
    Exceptions {
        /// The conversation; it need not have begun
        id: String,
        /// What must never happen
        #[arg(long, value_name = "TEXT", conflicts_with = "unset")]
        set: Option<String>,
        /// The id of one, the start of it, or its text
        #[arg(long, value_name = "NAME")]
        unset: Option<String>,
    },
    /// Put an entry into the base truth by hand
    Set {
        /// The conversation; it need not have begun
        id: String,
        /// exception, constraint, goal, decision, preference, fact, task or question
        #[arg(value_parser = parse_kind)]
        kind: TruthKind,
        /// What holds
        text: String,
    },
    /// Take an entry out of the base truth by hand
    Unset {
        /// The conversation
        id: String,
        /// The entry's id, the start of it, or its text
        name: String,
    },
    /// Tell what is not summarised yet, of one conversation or of all
    Summarize {
        /// The conversation [default: all]
        id: Option<String>,
        /// Also what someone took back
        #[arg(long)]
        again: bool,
    },
    /// Merge entries of the base truth that say the same, and keep it as it was
    Consolidate {
        /// The conversation
        id: String,
    },
    /// Show the base truth as it was kept at each of the last consolidations
    Snapshots {
        /// The conversation
        id: String,
    },
    /// Print the code, drafts and files of a turn, byte for byte
    Artifact {
        /// The conversation
        id: String,
        /// A turn (3) or one artifact of it (3.1)
        key: String,
    },
    /// End a conversation: its last words are summarised, its episodes told
    End {
        /// The conversation
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SessionContext {
    /// The conversation
    pub(crate) id: String,
    /// The next message [default: the last one the user said]
    pub(crate) query: Option<String>,
    /// The most it may cost, in tokens; hard exceptions are in it whatever this says
    #[arg(long, default_value_t = quipu_core::pack::SESSION_TOKENS, value_name = "N")]
    pub(crate) max_tokens: usize,
    /// Count by: o200k_base, cl100k_base, estimate [default: o200k_base]
    #[arg(long, value_name = "NAME")]
    pub(crate) tokenizer: Option<String>,
    /// What it is for [default: what the message says]
    #[arg(long, value_enum)]
    pub(crate) intent: Option<super::read::Intent>,
}

fn parse_kind(text: &str) -> Result<TruthKind, String> {
    let words = || TruthKind::ALL.map(TruthKind::as_str).join(", ");
    TruthKind::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| format!("it is one of: {}", words()))
}
