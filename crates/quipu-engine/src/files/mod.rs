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
    match &engine.optional.vault {
        Some(vault) => Ok(vault.open(user, create)?),
        None => Ok(None),
    }
}

/// The same, with nobody else writing there until it is dropped.
pub(crate) fn alone(engine: &Engine, user: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>> {
    for _ in 0..=limit::CONFLICT_RETRIES_MAX {
        match open(engine, user, create)? {
            None => return Ok(None),
            Some(vault) if vault.alone()? => return Ok(Some(vault)),
            // Taken away while this one waited.
            Some(_) => {}
        }
    }
    Err(Error::Unavailable(format!("the plain files of user {user} are taken away again and again; try again")))
}

/// The same, made if need be, with the memory at what another process had appended when it was done there.
fn level_alone(engine: &Engine, memory: &OpenMemory) -> Result<Option<Box<dyn UserVault>>> {
    let Some(vault) = alone(engine, memory.user(), true)? else { return Ok(None) };
    match memory.writer().and_then(|mut writer| memory.catch_up(engine, &mut writer)) {
        // The folder of a user who was deleted is not left behind.
        Err(Error::NotFound(why)) => {
            vault.remove_all()?;
            Err(Error::NotFound(why))
        }
        outcome => outcome.map(|()| Some(vault)),
    }
}

fn missing(user: &UserId) -> Error {
    Error::NotFound(format!("there are no plain files of user {user} here; `quipu vault rebuild` makes them"))
}
