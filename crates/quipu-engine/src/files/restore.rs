//! Restores a ledger from the lines in a folder or from a list of events.

use std::path::PathBuf;

use quipu_core::artifact::folder_of;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::{self, SealedEvent};
use serde::Serialize;

use super::{missing, path};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::verify;
use crate::memory::{Progress, Watch};
use crate::ports::{StoreError, UserVault};

/// Events made durable in one step.
const BATCH: usize = 512;

/// Result of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RestoredLedger"))]
pub struct RestoredFolder {
    /// The user.
    pub user_id: UserId,
    /// Number of events.
    pub events: Seq,
    /// Hash of the newest event, as before.
    #[cfg_attr(feature = "schema", schemars(with = "quipu_core::schema::HexHash"))]
    pub head_hash: String,
    /// True if nothing was written.
    pub dry_run: bool,
    /// Where the previous ledger was moved to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<PathBuf>,
}

/// Options of a restore.
#[derive(Debug, Clone, Copy, Default)]
pub struct RestoreOptions {
    /// Checks everything, but writes nothing.
    pub dry_run: bool,
    /// Sets an existing memory aside in the same step in which the restored one replaces it. Without this, an existing
    /// memory is an error.
    pub replace: bool,
}

/// Restores a user's ledger from the lines in the user's folder, without the database. The ledger is built out of sight
/// and put in place in one step, so readers see the old memory or the restored one.
///
/// # Errors
/// `NotFound` without a folder; `Corrupt` if the lines are not a complete, intact ledger of this user; `Refused` if the
/// user has a memory and `replace` is off; `Unavailable` if the memory to replace is in use by other processes.
pub fn restore(engine: &Engine, user: &UserId, options: RestoreOptions, watch: Watch<'_>) -> Result<RestoredFolder> {
    let mut vault = super::open(engine, user, false)?.ok_or_else(|| missing(user))?;
    let events = read_lines(vault.as_mut(), user)?;
    receive(engine, user, &events, options, watch)
}

/// Reads the events in a folder, in order.
fn read_lines(vault: &mut dyn UserVault, user: &UserId) -> Result<Vec<SealedEvent>> {
    let mut events = Vec::new();
    for named in vault.list(Some(&path("index/ledger")?))?.iter().filter(|named| !named.is_folder) {
        let file = path(&format!("index/ledger/{}", named.name))?;
        let bytes = vault.read(&file)?.unwrap_or_default();
        let text = String::from_utf8(bytes).map_err(|_| Error::Corrupt(format!("{file} is not text")))?;
        for (number, line) in text.lines().enumerate() {
            let event = ledger::read_line(line)
                .map_err(|error| Error::Corrupt(format!("{file} line {}: {error}", number + 1)))?;
            events.push(event);
        }
    }
    if events.is_empty() {
        let folder = folder_of(user);
        return Err(Error::NotFound(format!("the folder {folder} holds no lines of a ledger under index/ledger")));
    }
    Ok(events)
}

/// Creates a ledger from these events, byte for byte, after verifying all of them.
///
/// # Errors
/// `Refused` if the user has a memory that is not to be replaced; `Corrupt` if the events are not a complete, intact
/// ledger of this user.
pub(crate) fn receive(
    engine: &Engine,
    user: &UserId,
    events: &[SealedEvent],
    options: RestoreOptions,
    watch: Watch<'_>,
) -> Result<RestoredFolder> {
    let verdict = verify::verify_events(user, events.iter(), &[]);
    if !verdict.is_intact() {
        let first = verdict.damage.first();
        let why = first.map(|damage| format!("event {}: {}", damage.seq, damage.reason)).unwrap_or_default();
        return Err(Error::Corrupt(format!("these are not the whole ledger of {user}, nothing was restored: {why}")));
    }
    let taken = || {
        let text = format!("user {user} has a memory here; it is replaced only if that is asked for (`--replace`)");
        Error::Refused(text)
    };
    // The memory to be replaced may be unreadable.
    if !options.replace && !engine.open(user)?.is_absent() {
        return Err(taken());
    }
    let mut restored = RestoredFolder {
        user_id: user.clone(),
        events: verdict.head_seq,
        head_hash: verdict.head_hash.clone(),
        dry_run: options.dry_run,
        set_aside: None,
    };
    if options.dry_run {
        return Ok(restored);
    }
    engine.forget_open(user);
    let built = engine.store.build(user, options.replace, &mut |ledger| {
        let mut done: Seq = 0;
        for batch in events.chunks(BATCH) {
            ledger.append(done, batch)?;
            done += batch.len() as Seq;
            watch(Progress::Events(done, verdict.head_seq));
        }
        Ok(())
    });
    match built {
        Err(StoreError::Exists(_)) => return Err(taken()),
        outcome => restored.set_aside = outcome?,
    }
    // Folds it once, so that an unreadable ledger is detected now.
    engine.forget_open(user);
    engine.open_existing(user)?;
    Ok(restored)
}
