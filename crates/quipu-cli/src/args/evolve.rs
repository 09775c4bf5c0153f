//! Commands about the categories the core document grows.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Evolve {
    /// Only show what recurs and what would be proposed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Promote what is due at once instead of asking
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) apply: bool,
    /// How often something of it must have been written or said
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) instances: u32,
    /// On how many days
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) days: u32,
    /// Within how many days of now it must have been seen last
    #[arg(long, value_name = "N", default_value_t = 365)]
    pub(crate) recent_days: u32,
    /// How many episodes must tell of it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) links: u32,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    #[command(subcommand)]
    pub(crate) action: Option<SchemaAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SchemaAction {
    /// List the categories, those that were promoted last
    List,
    /// Make a pattern a category at once, however little speaks for it
    Promote {
        /// A dynamic category, or a term or key of uncategorized
        candidate: String,
        /// What the category is called [default: by rule]
        name: Option<String>,
        /// Why [default: what speaks for it]
        #[arg(long, alias = "because", value_name = "TEXT")]
        rationale: Option<String>,
        /// Only show what would move where
        #[arg(long)]
        dry_run: bool,
        /// Sending the same again with the same key has no second effect
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
}
