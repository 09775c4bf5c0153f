//! What can be measured.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Eval {
    #[command(subcommand)]
    pub(crate) dataset: Dataset,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Dataset {
    /// Updates: made-up worlds of moves, corrections, late news and weak sources; what holds now, held then, was ever said
    Updates {
        /// Makes the worlds: the same seed, the same worlds
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
        /// How many
        #[arg(long, default_value_t = 25, value_name = "N")]
        worlds: usize,
        /// Write every question, its answer and the right one to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// LoCoMo: long conversations with questions and the turns that answer them
    Locomo {
        /// A file in LoCoMo's own shape
        file: PathBuf,
        /// Write every question and what was found to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}
