//! Plain files: keeps a user's folder up to date with the ledger, rebuilds and verifies it, and restores a ledger from
//! it.
//!
//! The folder is a function of the ledger: rewriting it gives the same bytes. A mark file exists while the folder is
//! being written; if it is found later, everything is rewritten.

mod days;
mod edits;
mod glance;
mod level;
mod pages;
mod report;
mod restore;
mod trial;

pub use glance::{MemoryGlance, glance};
pub use level::{VaultOptions, level, rebuild, verify};
pub use pages::{rebuild_global, rebuild_pages};
pub use report::{EditedPage, VaultReport};
pub use restore::{RestoreOptions, RestoredFolder, restore};

pub(crate) use glance::GlanceCache;
pub(crate) use level::{after_erasure, before_erasure, lags, remove_all};
pub(crate) use restore::receive;

use quipu_core::artifact::VaultPath;
use quipu_core::id::UserId;
use quipu_core::limit;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::OpenMemory;
use crate::ports::UserVault;

/// Records the version the folder was written from.
const STANDING: &str = "index/vault.json";
/// Mark file that exists while files are being written.
const UNFINISHED: &str = "index/unfinished";
/// The audit log, one line per event.
const AUDIT: &str = "index/audit.log";

/// Parses a path built by Quipu itself.
fn path(text: &str) -> Result<VaultPath> {
    VaultPath::parse(text).map_err(|refusal| Error::Bug(refusal.to_string()))
}

/// Opens a user's folder.
pub(crate) fn open(engine: &Engine, user: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>> {
    match &engine.optional.vault {
        Some(vault) => Ok(vault.open(user, create)?),
        None => Ok(None),
    }
}

/// Opens a user's folder with exclusive access until it is dropped.
pub(crate) fn alone(engine: &Engine, user: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>> {
    for _ in 0..=limit::CONFLICT_RETRIES_MAX {
        match open(engine, user, create)? {
            None => return Ok(None),
            Some(vault) if vault.alone()? => return Ok(Some(vault)),
            // The folder was removed while this call waited.
            Some(_) => {}
        }
    }
    Err(Error::Unavailable(format!("the plain files of user {user} are taken away again and again; try again")))
}

/// Opens or creates a user's folder with exclusive access, and includes in the memory the events that other processes
/// have appended.
fn level_alone(engine: &Engine, memory: &OpenMemory) -> Result<Option<Box<dyn UserVault>>> {
    let Some(vault) = alone(engine, memory.user(), true)? else { return Ok(None) };
    match memory.writer().and_then(|mut writer| memory.catch_up(engine, &mut writer)) {
        // The folder of a deleted user is removed.
        Err(Error::NotFound(why)) => {
            vault.remove_all()?;
            Err(Error::NotFound(why))
        }
        outcome => outcome.map(|()| Some(vault)),
    }
}

fn missing(user: &UserId) -> Error {
    Error::NotFound(format!("there are no plain files of user {user} here; `quipu files rebuild` makes them"))
}
