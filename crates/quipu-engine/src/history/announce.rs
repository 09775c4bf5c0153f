//! Previews large deletions, and computes the token that confirms them.
//!
//! A token is a hash of the memory's head and the targets. It is not stored; it is valid in every process until the
//! memory changes. It is not a secret and grants no permission.

use quipu_core::artifact::VaultPath;
use quipu_core::id::{Seq, UserId};
use serde::Serialize;

use crate::admin::keys::Keys;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files;
use crate::history::erase::{EraseTarget, preview_erase};
use crate::ports::UserVault;

/// Erasing more changes than this at once needs a confirmation.
const UNANNOUNCED_MAX: usize = 100;
/// Hexadecimal digits of the hash in a token.
const DIGITS: usize = 20;

/// What a deletion would destroy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Announcement {
    /// The user.
    pub user_id: UserId,
    /// The version it was computed from.
    pub version: Seq,
    /// True if the whole memory would be deleted.
    pub everything: bool,
    /// Events whose payload would be destroyed; for a whole memory, all events.
    pub events: u64,
    /// Sources in them and items derived from them.
    pub items: u64,
    /// Plain files that would be deleted. An erasure rewrites files instead.
    pub files: u64,
    /// Keys that would be revoked.
    pub keys: u64,
    /// The token to pass as `confirm`. It is valid until the memory changes.
    pub confirm: String,
}

/// Whether a deletion may be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Announced {
    /// No confirmation is needed (`None`), or it was given and is valid at this version only.
    Confirmed(Option<Seq>),
    /// The confirmation is missing.
    Unconfirmed(Announcement),
    /// The confirmation is for another version or another target.
    Stale(Announcement),
}

impl Announced {
    /// The version the deletion is restricted to, if it was confirmed.
    ///
    /// # Errors
    /// `Refused` without a confirmation, and `Stale` if it is for something else; both messages contain the valid
    /// token.
    pub fn version(self) -> Result<Option<Seq>> {
        match self {
            Self::Confirmed(version) => Ok(version),
            Self::Unconfirmed(announcement) => Err(Error::Refused(announcement.to_string())),
            Self::Stale(announcement) => Err(Error::Stale(format!(
                "the memory has changed since, or the token is for something else; {announcement}"
            ))),
        }
    }
}

impl std::fmt::Display for Announcement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counted = |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let (events, items) = (counted(self.events, "event"), counted(self.items, "item"));
        let user = &self.user_id;
        match self.everything {
            true => write!(
                f,
                "deleting the memory of user {user} destroys {events}, {items} and {} and revokes {}",
                counted(self.files, "plain file"),
                counted(self.keys, "key")
            )?,
            false => write!(f, "erasing this destroys the words of {events} ({items}) of user {user}")?,
        }
        write!(f, ". Nothing was destroyed. To do it, ask again with the token {}", self.confirm)
    }
}

/// Previews the deletion of a user's whole memory, or checks `token` as its confirmation.
///
/// # Errors
/// `NotFound` if there is no such user; any error of the store, the key store and the plain files.
pub fn announce_deletion(engine: &Engine, keys: &Keys, user: &UserId, token: Option<&str>) -> Result<Announced> {
    let (version, head, items) = {
        let open = engine.open_existing(user)?;
        let state = open.read();
        let items = state.memory.sources().len() + state.memory.items().ids().count();
        (state.memory.seq(), state.memory.head().to_hex().to_string(), items as u64)
    };
    let files = match files::open(engine, user, false)? {
        Some(mut files) => count(files.as_mut(), None)?,
        None => 0,
    };
    let keys = keys.list()?.iter().filter(|key| key.revoked_at.is_none() && key.user_id.as_ref() == Some(user)).count();
    let announcement = Announcement {
        user_id: user.clone(),
        version,
        everything: true,
        events: version,
        items,
        files,
        keys: keys as u64,
        confirm: token_of(user, version, &head, &["everything".to_owned()]),
    };
    Ok(judged(announcement, token))
}

/// Previews an erasure of more than 100 changes, or checks `token` as its confirmation. A smaller erasure needs no
/// token, but one that is given is checked.
///
/// # Errors
/// As for the erasure itself.
pub fn announce_erasure(
    engine: &Engine,
    user: &UserId,
    targets: &[EraseTarget],
    token: Option<&str>,
) -> Result<Announced> {
    let (version, head) = {
        let open = engine.open_existing(user)?;
        let state = open.read();
        (state.memory.seq(), state.memory.head().to_hex().to_string())
    };
    let going = preview_erase(engine, user, targets)?.going;
    if token.is_none() && going.len() <= UNANNOUNCED_MAX {
        return Ok(Announced::Confirmed(None));
    }
    let mut named: Vec<String> = going.iter().map(|one| one.change.to_string()).collect();
    named.sort();
    let mut events: Vec<Seq> = going.iter().map(|one| one.change.seq).collect();
    events.dedup();
    let announcement = Announcement {
        user_id: user.clone(),
        version,
        everything: false,
        events: events.len() as u64,
        items: going.len() as u64,
        files: 0,
        keys: 0,
        confirm: token_of(user, version, &head, &named),
    };
    Ok(judged(announcement, token))
}

fn judged(announcement: Announcement, token: Option<&str>) -> Announced {
    match token {
        None => Announced::Unconfirmed(announcement),
        Some(token) if token == announcement.confirm => Announced::Confirmed(Some(announcement.version)),
        Some(_) => Announced::Stale(announcement),
    }
}

fn token_of(user: &UserId, version: Seq, head: &str, targets: &[String]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("quipu confirmation v1");
    for part in [user.as_str(), head].into_iter().chain(targets.iter().map(String::as_str)) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let hash = hasher.finalize().to_hex();
    format!("{version}-{}", hash.get(..DIGITS).unwrap_or_default())
}

fn count(files: &mut dyn UserVault, folder: Option<&VaultPath>) -> Result<u64> {
    let mut found = 0;
    for named in files.list(folder)? {
        if !named.is_folder {
            found += 1;
            continue;
        }
        let path = folder.map_or_else(|| named.name.clone(), |folder| format!("{}/{}", folder.as_str(), named.name));
        // A path that is not valid names no file of Quipu's.
        if let Ok(path) = VaultPath::parse(&path) {
            found += count(files, Some(&path))?;
        }
    }
    Ok(found)
}
