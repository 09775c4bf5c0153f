//! Backup and restore of whole ledgers as single files, verified by their head hash.

use std::path::{Path, PathBuf};

use quipu_core::event::NO_HASH;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::Pin;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::checkpoint;
use crate::ports::{Head, StoreError, UserLedger};

/// Content of `manifest.json` in a backup folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format.
    pub schema_version: u32,
    /// One entry per user.
    pub users: Vec<BackedUp>,
}

/// One user's backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackedUp {
    /// The user.
    pub user_id: UserId,
    /// Name of the file, in the folder of the manifest.
    pub file: String,
    /// The newest event in it.
    pub head_seq: Seq,
    /// Hash of that event.
    pub head_hash: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// Name of the manifest in a backup folder.
pub const MANIFEST: &str = "manifest.json";

fn io(what: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::Unavailable(format!("{what} {}: {error}", path.display()))
}

/// Copies the ledgers of the given users into a new folder and checks the head hash of each copy.
///
/// # Errors
/// `Refused` if the folder exists and is not empty; `Corrupt` if a copy does not have the head of its original.
pub fn backup(engine: &Engine, users: &[UserId], folder: &Path) -> Result<Manifest> {
    let taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if taken {
        return Err(Error::Refused(format!("{} is not empty; a backup needs a new folder", folder.display())));
    }
    create_folders(folder).map_err(|error| io("cannot make the folder", folder, &error))?;
    let mut manifest = Manifest { schema_version: 1, users: Vec::new() };
    for (number, user) in users.iter().enumerate() {
        let open = engine.open(user)?;
        checkpoint::checkpoint(engine, &open, true)?;
        let file = format!("{number:04}.quipu");
        let mut writer = open.writer()?;
        let before = writer.ledger.head()?;
        let copy = writer.ledger.backup(&folder.join(&file))?;
        // Another process may have appended before the copy was made, and after it.
        let original = head_at(writer.ledger.as_mut(), copy.head.seq)?;
        if copy.head.seq < before.seq || original != Some(copy.head) {
            let original = original.unwrap_or(before);
            return Err(Error::Corrupt(format!(
                "the copy of {user} ends at {} ({}), the ledger at {} ({}); the backup is not usable",
                copy.head.seq, copy.head.hash, original.seq, original.hash
            )));
        }
        manifest.users.push(BackedUp {
            user_id: user.clone(),
            file,
            head_seq: copy.head.seq,
            head_hash: copy.head.hash.to_hex().to_string(),
            bytes: copy.bytes,
        });
    }
    let page = serde_json::to_vec_pretty(&manifest).map_err(|error| Error::Bug(error.to_string()))?;
    write_durably(&folder.join(MANIFEST), &page).map_err(|error| io("cannot write the manifest in", folder, &error))?;
    Ok(manifest)
}

/// The head that a ledger had when `seq` was its newest event; `None` if it has no such event.
fn head_at(ledger: &mut dyn UserLedger, seq: Seq) -> Result<Option<Head>> {
    let mut head = (seq == 0).then_some(Head { seq: 0, hash: NO_HASH });
    ledger.read(seq..=seq, &mut |event| {
        head = Some(Head { seq: event.seq, hash: event.hash });
        false
    })?;
    Ok(head)
}

/// Creates a folder and its missing parents, and makes each name durable.
fn create_folders(path: &Path) -> std::io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.is_dir();
    let mut missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    while let Some(folder) = missing.pop() {
        std::fs::create_dir(folder)?;
        sync_parent(folder).inspect_err(|_| {
            // Otherwise the next attempt would find the folder and take its name for durable.
            let _ = std::fs::remove_dir(folder);
        })?;
    }
    Ok(())
}

/// Makes the name of a file or folder durable.
fn sync_parent(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        // Other systems cannot sync a folder.
        _ if cfg!(not(unix)) => Ok(()),
        // A name without a folder is in the working directory.
        Some(folder) if folder.as_os_str().is_empty() => std::fs::File::open(".")?.sync_all(),
        Some(folder) => std::fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Writes a temporary file, syncs, renames, and syncs the folder, so that the file is complete or missing.
pub fn write_durably(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    write_with(std::fs::OpenOptions::new().write(true).create(true).truncate(true), path, bytes)
}

/// As [`write_durably`], for a file that only its owner may read.
pub fn write_privately(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    write_with(&options, path, bytes)
}

fn write_with(options: &std::fs::OpenOptions, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let beside = path.with_extension("part");
    let mut file = options.open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&beside, path)?;
    sync_parent(path)
}

/// Result of restoring one user.
#[derive(Debug, Clone, Serialize)]
pub struct Restored {
    /// The user.
    pub user_id: UserId,
    /// The version now in use.
    pub head_seq: Seq,
    /// Hash of that event, equal to the manifest's.
    pub head_hash: String,
    /// Where the previous ledger was moved to.
    pub set_aside: Option<PathBuf>,
}

/// Reads a backup folder's manifest.
///
/// # Errors
/// `NotFound` if there is none; `Corrupt` if it cannot be read.
pub fn read_manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join(MANIFEST);
    let bytes =
        std::fs::read(&path).map_err(|error| Error::NotFound(format!("no backup in {}: {error}", folder.display())))?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Corrupt(format!("{}: {error}", path.display())))
}

/// Restores users' ledgers from a backup folder and verifies every event.
///
/// Without `replace` an existing memory is an error; with it, the existing ledger is set aside.
///
/// # Errors
/// `NotFound` if the backup has no such user; `Corrupt` if files do not match the manifest. The ledgers of the other users
/// are restored then; what is damaged is not put in place, and the message names its users.
pub fn restore(engine: &Engine, folder: &Path, users: Option<&[UserId]>, replace: bool) -> Result<Vec<Restored>> {
    let manifest = read_manifest(folder)?;
    if let Some(missing) =
        users.into_iter().flatten().find(|user| !manifest.users.iter().any(|held| held.user_id == **user))
    {
        return Err(Error::NotFound(format!("the backup in {} has no user {missing}", folder.display())));
    }
    let wanted = manifest.users.iter().filter(|held| users.is_none_or(|users| users.contains(&held.user_id)));
    let (mut restored, mut damaged) = (Vec::new(), Vec::new());
    for held in wanted {
        if Path::new(&held.file).file_name() != Some(held.file.as_ref()) {
            return Err(Error::Corrupt(format!("the manifest names a file outside its folder: {:?}", held.file)));
        }
        engine.forget_open(&held.user_id);
        let set_aside = match engine.store.restore(&held.user_id, &folder.join(&held.file), replace) {
            Err(StoreError::Corrupt(why)) => {
                damaged.push(format!("{} ({why})", held.user_id));
                continue;
            }
            other => other?,
        };
        // More events may have been appended already, so the manifest's head need not be the last event.
        let hash = blake3::Hash::from_hex(&held.head_hash)
            .map_err(|error| Error::Corrupt(format!("the manifest names a hash that is none: {error}")))?;
        let pins = (held.head_seq > 0).then_some(Pin { seq: held.head_seq, hash });
        let report = crate::history::verify::verify(engine, &held.user_id, pins.as_slice(), &mut |_| {});
        if !matches!(&report, Ok(report) if report.is_intact()) {
            let why = report.err().map_or_else(|| "not what the manifest says".to_owned(), |error| error.to_string());
            damaged.push(format!("{} ({why})", held.user_id));
            take_back(engine, &held.user_id, set_aside.as_deref())?;
            continue;
        }
        let report = report?;
        restored.push(Restored {
            user_id: held.user_id.clone(),
            head_seq: report.ledger.head_seq,
            head_hash: report.ledger.head_hash,
            set_aside,
        });
    }
    if damaged.is_empty() {
        return Ok(restored);
    }
    let others = restored.len();
    Err(Error::Corrupt(format!(
        "the backup in {} is damaged: {}. Nothing was changed for these users; {others} others were restored",
        folder.display(),
        damaged.join(", ")
    )))
}

/// Removes a restored ledger that is damaged, and puts the one that was there before in its place again.
fn take_back(engine: &Engine, user: &UserId, set_aside: Option<&Path>) -> Result<()> {
    engine.forget_open(user);
    match set_aside {
        Some(before) => engine.store.restore(user, before, true).map(drop)?,
        None => engine.store.remove(user, None)?,
    }
    engine.forget_open(user);
    Ok(())
}
