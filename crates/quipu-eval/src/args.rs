//! What can be measured, as arguments of a command line.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

/// Conversations with questions, and what is done with them.
#[derive(Debug, Args)]
pub struct Conversations {
    /// A file in the benchmark's own shape: conversations with their questions
    pub file: PathBuf,
    /// Only these of its conversations, such as conv-26,conv-30: choose on some, report on others
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub conversations: Vec<String>,
    /// Read no facts: only the words themselves are searched
    #[arg(long)]
    pub words_only: bool,
    /// Write every question and what was found to this file (JSON lines)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The shape of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CorpusKind {
    /// LoCoMo: conversations of two people
    Locomo,
    /// BEAM: long chats of a user and an assistant
    Beam,
    /// People and what they say to their assistant, a file each, in a folder
    Assistant,
}

impl CorpusKind {
    /// Its name in reports and as an argument.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Locomo => "locomo",
            Self::Beam => "beam",
            Self::Assistant => "assistant",
        }
    }
}

/// An evaluation and what it runs on.
#[derive(Debug, Subcommand)]
pub enum Dataset {
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
    Locomo(Conversations),
    /// BEAM: long chats with an assistant, and the messages that answer what is asked at their end
    Beam(Conversations),
    /// Packs: how much of the evidence is in the block of memory a model is given, and how many tokens it costs
    Packs {
        /// A file of LoCoMo or BEAM, a person's file or a folder of them
        file: PathBuf,
        /// Its shape; found out if it is not given
        #[arg(long, value_name = "KIND")]
        kind: Option<CorpusKind>,
        /// Sizes of packs, in tokens; the default size is measured beside them
        #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "500,1000,2000,4000")]
        tokens: Vec<usize>,
        /// Only these of its conversations
        #[arg(long, value_delimiter = ',', value_name = "NAMES")]
        conversations: Vec<String>,
        /// Read no facts: only the words themselves are searched
        #[arg(long)]
        words_only: bool,
        /// Write every question and its packs' figures to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// People who chat with their assistant: what is found, whether memory knows that it answers, what reaches the model
    Assistant {
        /// A folder of people's files, or one of them
        #[arg(value_name = "DIR")]
        place: PathBuf,
        /// Put so many unrelated turns into each memory, over the year before
        #[arg(long, default_value_t = 0, value_name = "N")]
        noise: usize,
        /// Read no facts: only the words themselves are searched
        #[arg(long)]
        words_only: bool,
        /// Also show the questions and what was found; without it only sums are printed, and no words are written
        #[arg(long)]
        detail: bool,
        /// Write every question's figures to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// What is read in what people tell their assistant, against labels; and what holds after updates
    Reading {
        /// A folder of files of people, of pairs of statement and update, or of situations that mislead; or one of them
        #[arg(value_name = "PATH")]
        place: PathBuf,
        /// The model of [models.extractor] reads, too
        #[arg(long)]
        with_model: bool,
        /// Files and pairs in work at a time
        #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
        parallel: u16,
        /// Also show what was missed and what matches no label; without it only sums are printed
        #[arg(long)]
        detail: bool,
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
        /// A file in LoCoMo's own shape, of two conversations at least; with --shipped also one of BEAM or a folder of people
        file: PathBuf,
        /// Fit nothing: judge the calibration as it ships
        #[arg(long)]
        shipped: bool,
        /// Write every question and its probability to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Draw the reliability curve to this file (SVG)
        #[arg(long, value_name = "FILE")]
        plot: Option<PathBuf>,
    },
    /// Answers, end to end: packs given to a model, its answers judged by the rule of the benchmark; may be continued
    Answers {
        /// A file of LoCoMo or BEAM
        file: PathBuf,
        /// Its shape; found out if it is not given
        #[arg(long, value_name = "KIND")]
        kind: Option<CorpusKind>,
        /// Who answers: a table of the settings, such as chat, or a model's name at the endpoint of [models.chat]
        #[arg(long, value_name = "NAME")]
        model: String,
        /// Who judges, named the same way at that of [models.judge] [default: judge if it is set, else who answers]
        #[arg(long, value_name = "NAME")]
        judge: Option<String>,
        /// At most so many questions, spread evenly over conversations and abilities; fewer are among more [default: all]
        #[arg(long, value_name = "N")]
        questions: Option<usize>,
        /// The most tokens of a pack
        #[arg(long, default_value_t = quipu_core::pack::DEFAULT_TOKENS, value_name = "N")]
        tokens: usize,
        /// Questions in work at a time
        #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
        parallel: u16,
        /// Read no facts: only the words themselves are searched
        #[arg(long)]
        words_only: bool,
        /// Keep every prompt and answer in this folder; what is there already is not asked again
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
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
