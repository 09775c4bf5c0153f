//! Commands that look after ledgers: verify, backup, restore.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// A head you remember: the ledger must still hold it
    #[arg(long = "pin", value_name = "SEQ:HASH")]
    pub(crate) pins: Vec<String>,
    /// Check a file of events (.jsonl), or a bundle, instead of a ledger
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The public key a bundle must be signed with
    #[arg(long, value_name = "HEX", requires = "file")]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// A folder that does not exist yet
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// A backup folder
    pub(crate) folder: PathBuf,
    /// Set ledgers that are there aside
    #[arg(long)]
    pub(crate) replace: bool,
}
