//! Commands that look after ledgers: verify, backup, restore, erase.

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

#[derive(Debug, Args)]
pub(crate) struct Erase {
    /// Changes (12.0), events (12) or item ids; what was drawn from them goes too
    #[arg(required_unless_present = "everything")]
    pub(crate) targets: Vec<String>,
    /// The user's whole memory
    #[arg(long, conflicts_with = "targets")]
    pub(crate) everything: bool,
    /// Why, without repeating what is erased; this stays on record
    #[arg(long, default_value = "asked by the user")]
    pub(crate) because: String,
    /// The token an announcement gave: do it, if the memory has not changed since
    #[arg(long, value_name = "TOKEN")]
    pub(crate) confirm: Option<String>,
    /// Write the receipt to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
}
