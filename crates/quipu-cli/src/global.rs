//! Flags of every command.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quipu_core::calendar::TimeExpression;

/// Flags of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The user whose memory it is [default: me]
    #[arg(short, long, global = true, env = "QUIPU_USER", value_name = "ID")]
    pub(crate) user: Option<String>,
    /// The data folder [default: quipu in the platform's data folder]
    #[arg(long, global = true, env = "QUIPU_DATA_DIR", value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Profile of weights for recall [default: the one set in weights.yaml]
    #[arg(long, global = true, env = "QUIPU_PROFILE", value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Output format
    #[arg(short, long, global = true, value_enum, value_name = "FORM")]
    pub(crate) output: Option<Form>,
    /// Same as -o json
    #[arg(long, global = true, conflicts_with = "output")]
    pub(crate) json: bool,
    /// Print no progress and no hints
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Do not ask for confirmation
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,
    /// Use this time instead of the current one, for experiments: such as `tomorrow`, `last monday`, `2026-07-15 14:00`
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) now: Option<TimeExpression>,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// For programs: stable, with a schema_version.
    Json,
    /// Columns, for lists that have them.
    Table,
}
