//! Command-line arguments of the evaluations.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

/// Conversations with questions, and options for them.
#[derive(Debug, Args)]
pub struct Conversations {
    /// A file in the benchmark's own format: conversations with their questions
    pub file: PathBuf,
    /// Use only these conversations, such as conv-26,conv-30: tune on some, report on others
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub conversations: Vec<String>,
    /// Extract no facts: search only the original messages
    #[arg(long)]
    pub words_only: bool,
    /// Keep the memory in this empty PostgreSQL database instead of a folder: postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(long, env = "QUIPU_EVAL_STORE", hide_env_values = true, value_name = "URL")]
    pub store: Option<String>,
    /// Write each question and its results to this file (JSON lines)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What is measured by `quipu bench`.
#[derive(Debug, Args)]
pub struct BenchOptions {
    /// Items in the largest memory
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub items: usize,
    /// Compare this empty PostgreSQL database with a folder, each with and without encryption:
    /// postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(long, env = "QUIPU_BENCH_STORE", hide_env_values = true, value_name = "URL")]
    pub store: Option<String>,
    /// Create this many users in the database of --store, or in a folder, and then send requests whose users have a Zipf-like
    /// distribution
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..))]
    pub users: Option<u32>,
    /// Memories that are kept open meanwhile [default: a tenth of the users]
    #[arg(long, value_name = "N", requires = "users")]
    pub open: Option<usize>,
    /// Exponent of that distribution
    #[arg(long, default_value_t = 1.0, value_name = "S", requires = "users")]
    pub skew: f64,
    /// Instead, import a file with so many turns into a memory, and measure time and memory of the import, of opening, recall,
    /// packs, a revert and an erasure; several numbers such as 10000,100000 also give the exponents of growth
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with_all = ["store", "users"])]
    pub turns: Vec<usize>,
    /// With --turns: generated vectors instead of the model's, and no network that reads remarks, which take most of the time of
    /// an import
    #[arg(long, requires = "turns")]
    pub made_up_vectors: bool,
    /// The part of --turns that a process of its own measures
    #[arg(long, hide = true, requires = "folder")]
    pub stage: Option<BigStage>,
    /// Where the memory of that part is
    #[arg(long, hide = true, requires = "stage")]
    pub folder: Option<PathBuf>,
}

/// A part of `quipu bench --turns`, measured in a process of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BigStage {
    /// The import.
    Import,
    /// Everything else.
    Use,
}

impl BigStage {
    /// The name used as an argument.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::Use => "use",
        }
    }
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CorpusKind {
    /// LoCoMo: conversations of two people
    Locomo,
    /// BEAM: long chats of a user and an assistant
    Beam,
    /// People's messages to their assistant: a folder with one file for each person
    Assistant,
}

impl CorpusKind {
    /// The name used in reports and as an argument.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Locomo => "locomo",
            Self::Beam => "beam",
            Self::Assistant => "assistant",
        }
    }
}

/// An evaluation and its options.
#[derive(Debug, Subcommand)]
pub enum Dataset {
    /// Updates: simulated moves, corrections, late news and weak sources; what holds now, held then, or was ever said
    Updates {
        /// Seed of the worlds; the same seed gives the same worlds
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
        /// Number of worlds
        #[arg(long, default_value_t = 25, value_name = "N")]
        worlds: usize,
        /// Write each question, its answer and the correct one to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Simulated worlds: past values, conflicts, forgetting, unknown subjects, single mentions, and a year's
    /// consolidation
    Worlds {
        /// Seed of the worlds; the same seed gives the same worlds
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
        /// Number of worlds used for questions about past values
        #[arg(long, default_value_t = 3, value_name = "N")]
        worlds: usize,
        /// Number of short stories for each family that uses them
        #[arg(long, default_value_t = 60, value_name = "N")]
        stories: usize,
        /// Number of simulated years used to test consolidation
        #[arg(long, default_value_t = 4, value_name = "N")]
        lives: usize,
        /// Compare spelling instead of meaning: faster, but not a figure of the product
        #[arg(long)]
        spelling: bool,
        /// Write each question, what was found and what was expected to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// A simulated year, twenty turns a day: what consolidation makes of it, and recall before and after
    Year {
        /// Seed of the life; the same seed gives the same life
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
        /// Its length in days
        #[arg(long, default_value_t = 365, value_name = "N", value_parser = clap::value_parser!(i32).range(30..=365))]
        days: i32,
        /// Number of questions about details, spread evenly
        #[arg(long, default_value_t = 300, value_name = "N")]
        questions: usize,
        /// Compare spelling instead of meaning: faster, but not a figure of the product
        #[arg(long)]
        spelling: bool,
        /// Write each question and whether it was found to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Back up the consolidated memory to this new folder and do not revert anything
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
    },
    /// LoCoMo: long conversations with questions and the turns that answer them
    Locomo(Conversations),
    /// BEAM: long chats with an assistant, questions about them and the messages that answer them
    Beam(Conversations),
    /// Packs: how much of the evidence reaches the model in the pack, and how many tokens it costs
    Packs {
        /// A file of LoCoMo or BEAM, a person's file or a folder of them
        file: PathBuf,
        /// Its format [default: detected]
        #[arg(long, value_name = "KIND")]
        kind: Option<CorpusKind>,
        /// Sizes of packs, in tokens, in addition to the default size
        #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "500,1000,2000,4000")]
        tokens: Vec<usize>,
        /// Use only these conversations
        #[arg(long, value_delimiter = ',', value_name = "NAMES")]
        conversations: Vec<String>,
        /// Extract no facts: search only the original messages
        #[arg(long)]
        words_only: bool,
        /// Write each question and its packs' figures to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// People who chat with their assistant: what is found, whether the verdict is right, and what reaches the model
    Assistant {
        /// A folder of people's files, or one of them
        #[arg(value_name = "DIR")]
        place: PathBuf,
        /// Add this many unrelated turns to each memory, spread over the year before
        #[arg(long, default_value_t = 0, value_name = "N")]
        noise: usize,
        /// Extract no facts: search only the original messages
        #[arg(long)]
        words_only: bool,
        /// Also print the questions and what was found; by default only totals are printed, without anybody's messages
        #[arg(long)]
        detail: bool,
        /// Write each question's figures to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Reading: what is extracted from messages, compared with labels, and what holds after updates
    Reading {
        /// A folder of files of people, of statement and update pairs, or of misleading situations; or one such file
        #[arg(value_name = "PATH")]
        place: PathBuf,
        /// Also read with the model of [models.extractor]
        #[arg(long)]
        with_model: bool,
        /// Files and pairs processed at a time
        #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
        parallel: u16,
        /// Also print what was missed and what matches no label; by default only totals are printed
        #[arg(long)]
        detail: bool,
    },
    /// Languages: everyday statements in several languages, asked about in the same language and in English
    Languages {
        /// A folder of files, one for each language, or one of them; each line has `memory`, `question` and `english`
        #[arg(value_name = "DIR")]
        place: PathBuf,
        /// Write each question's figures to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// LongMemEval: questions over many chats with an assistant, each with its own history
    #[command(name = "longmemeval")]
    Longmemeval {
        /// A file in LongMemEval's own format, of any size
        file: PathBuf,
        /// Use only this many questions, from the start of the file
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Write each question and what was found to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Calibrate: fits and tests the probability that memory answers, over a LoCoMo file
    Calibrate {
        /// A file in LoCoMo's own format with at least two conversations; with --shipped also one of BEAM or a folder
        /// of people
        file: PathBuf,
        /// Fit nothing: test the built-in calibration
        #[arg(long)]
        shipped: bool,
        /// Write each question and its probability to this file (JSON lines)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Write the reliability curve to this file (SVG)
        #[arg(long, value_name = "FILE")]
        plot: Option<PathBuf>,
    },
    /// End-to-end answers: a model answers from packs and is judged by the benchmark's rule; can be continued
    Answers {
        /// A file of LoCoMo or BEAM
        file: PathBuf,
        /// Its format [default: detected]
        #[arg(long, value_name = "KIND")]
        kind: Option<CorpusKind>,
        /// The answering model: a table of the settings, such as chat, or a model's name at the endpoint of
        /// [models.chat]
        #[arg(long, value_name = "NAME")]
        model: String,
        /// The judging model, named in the same way, at the endpoint of [models.judge] [default: judge if set, else the
        /// model]
        #[arg(long, value_name = "NAME")]
        judge: Option<String>,
        /// Most questions, spread evenly over conversations and abilities; a smaller number selects a subset [default:
        /// all]
        #[arg(long, value_name = "N")]
        questions: Option<usize>,
        /// Token budget of a pack
        #[arg(long, default_value_t = quipu_core::pack::DEFAULT_TOKENS, value_name = "N")]
        tokens: usize,
        /// Questions processed at a time
        #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
        parallel: u16,
        /// Extract no facts: search only the original messages
        #[arg(long)]
        words_only: bool,
        /// Store every prompt and answer in this folder; what is already there is not requested again
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Efficiency over a LoCoMo file: tokens of packs by intent, durations, write-to-recall lag, bytes per item
    Efficiency {
        /// A file in LoCoMo's own format
        file: PathBuf,
        /// Number of questions, spread evenly
        #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        questions: u64,
        /// Use only these conversations, such as conv-26,conv-30
        #[arg(long, value_delimiter = ',', value_name = "NAMES")]
        conversations: Vec<String>,
    },
    /// Compares two runs over the same questions, as written with --out, with confidence intervals
    Compare {
        /// The first file of details
        a: PathBuf,
        /// The second; differences are second minus first
        b: PathBuf,
    },
    /// A page of tables and plots from files of details, without network access or scripts
    Report {
        /// The page to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Files written with --out, or folders of them
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}
