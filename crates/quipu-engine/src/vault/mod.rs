//! Plain files: bringing a user's folder level with the ledger, making it anew, proving it, and going back from it.
//!
//! The folder follows from the ledger and from nothing else: making it anew gives the same bytes. While it is written, a
//! mark lies in it; whoever finds the mark makes it anew.

mod days;
mod edits;
mod glance;
mod level;
mod pages;
mod report;
mod restore;
mod trial;

pub use glance::{Glance, glance};
pub use level::{VaultOptions, level, rebuild, verify};
pub use pages::{rebuild_global, rebuild_pages};
pub use report::{Taken, VaultReport};
pub use restore::{RestoredFolder, restore};

pub(crate) use glance::Glanced;
pub(crate) use level::{after_erasure, before_erasure, lags, remove_all};
pub(crate) use restore::receive;

use quipu_core::artifact::VaultPath;
use quipu_core::id::UserId;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ports::UserVault;

/// What the folder is level with.
const STANDING: &str = "index/vault.json";
/// There while files are being written.
const UNFINISHED: &str = "index/unfinished";
/// One line an event.
const AUDIT: &str = "index/audit.log";

/// A path Quipu made up itself.
fn path(text: &str) -> Result<VaultPath> {
    VaultPath::parse(text).map_err(|refusal| Error::Bug(refusal.to_string()))
}

/// A user's folder.
pub(crate) fn open(engine: &Engine, user: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>> {
    match &engine.aids.vault {
        Some(vault) => Ok(vault.open(user, create)?),
        None => Ok(None),
    }
}

fn missing(user: &UserId) -> Error {
    Error::NotFound(format!("there are no plain files of user {user} here; `quipu vault rebuild` makes them"))
}
