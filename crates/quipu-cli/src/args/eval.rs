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
    /// Made-up worlds: what held then, conflicts, forgetting, what was never said, what was told once, what becomes of a year
    Worlds {
        /// Makes the worlds: the same seed, the same worlds
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
        /// How many worlds are asked what held then
        #[arg(long, default_value_t = 3, value_name = "N")]
        worlds: usize,
        /// How many short stories each of the families has that need one
        #[arg(long, default_value_t = 60, value_name = "N")]
        stories: usize,
        /// How many years are told to ask what becomes of them
        #[arg(long, default_value_t = 4, value_name = "N")]
        lives: usize,
        /// Compare spelling instead of meaning: quicker, and no figure of the product
        #[arg(long)]
        spelling: bool,
        /// Write every question, what was found and what should have been to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// A year of one made-up life, twenty turns a day: what the memory makes of it by itself, and recall before and after
    Year {
        /// Makes the life: the same seed, the same life
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
        /// How long it is
        #[arg(long, default_value_t = 365, value_name = "N", value_parser = clap::value_parser!(i32).range(30..=365))]
        days: i32,
        /// How many details are asked for, spread evenly
        #[arg(long, default_value_t = 300, value_name = "N")]
        questions: usize,
        /// Compare spelling instead of meaning: quicker, and no figure of the product
        #[arg(long)]
        spelling: bool,
        /// Write every question and whether it was found to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Keep the grown memory in this new folder, as a backup makes one, and take nothing back
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
    },
    /// LoCoMo: long conversations with questions and the turns that answer them
    Locomo {
        /// A file in LoCoMo's own shape
        file: PathBuf,
        /// Only these of its conversations, such as conv-26,conv-30: choose on some, report on others
        #[arg(long, value_delimiter = ',', value_name = "NAMES")]
        conversations: Vec<String>,
        /// Write every question and what was found to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// LongMemEval: questions over many chats with an assistant, each question with a history of its own
    #[command(name = "longmemeval")]
    Longmemeval {
        /// A file in LongMemEval's own shape, however large
        file: PathBuf,
        /// Only the first questions of the file
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Write every question and what was found to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Calibrate: how surely memory tells that it knows an answer, over a LoCoMo file's questions and those of its neighbours
    Calibrate {
        /// A file in LoCoMo's own shape, of two conversations at least
        file: PathBuf,
        /// Write every question and its probability to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Draw the reliability curve to this file (SVG)
        #[arg(long, value_name = "FILE")]
        plot: Option<PathBuf>,
    },
    /// Efficiency over a LoCoMo file: tokens of packs by intent, times, write-to-recall lag, bytes an item
    Efficiency {
        /// A file in LoCoMo's own shape
        file: PathBuf,
        /// How many of its questions are asked, spread evenly
        #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        questions: u64,
        /// Only these of its conversations, such as conv-26,conv-30
        #[arg(long, value_delimiter = ',', value_name = "NAMES")]
        conversations: Vec<String>,
    },
    /// Two runs over the same questions, as written with --out: what differs, and how surely
    Compare {
        /// One file of details
        a: PathBuf,
        /// The other: differences are what it has more
        b: PathBuf,
    },
    /// One page of tables and plots from files of details: no network, no script
    Report {
        /// Where the page goes
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Files written with --out, or folders of them
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}
