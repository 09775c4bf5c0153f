//! Restore: a ledger from the lines in a folder, or from lines that came another way.

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

/// What came of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoredFolder {
    /// Whose memory.
    pub user_id: UserId,
    /// How many events.
    pub events: Seq,
    /// The newest hash: the same as before.
    pub head_hash: String,
    /// True if it was only tried.
    pub dry_run: bool,
    /// Where the ledger that was there before is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<PathBuf>,
}

/// How to restore.
#[derive(Debug, Clone, Copy, Default)]
pub struct RestoreOptions {
    /// Only try it.
    pub dry_run: bool,
    /// A memory that is there is set aside, in the same step in which the restored one takes its place; without this, a user who
    /// has one is refused.
    pub replace: bool,
}

/// Puts a user's ledger back from the lines in the user's folder; the database need not be there. The ledger is built where nobody
/// sees it and then takes its place in one step: at every moment the user has the old memory, or the restored one.
///
/// # Errors
/// `NotFound` without a folder; `Corrupt` if the lines are not a whole, intact ledger of this user; `Refused` if the user
/// has a memory and `replace` is off; `Unavailable` if it is to be replaced while other processes use the folder.
pub fn restore(engine: &Engine, user: &UserId, options: RestoreOptions, watch: Watch<'_>) -> Result<RestoredFolder> {
    let mut vault = super::open(engine, user, false)?.ok_or_else(|| missing(user))?;
    let events = read_lines(vault.as_mut(), user)?;
    receive(engine, user, &events, options, watch)
}

/// The events in a folder, in order.
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

/// Makes a new ledger of these events, byte for byte, once every one of them has proved intact.
///
/// # Errors
/// `Refused` if the user has a memory already that is not to be replaced; `Corrupt` if the events are not a whole, intact ledger of this user.
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
    // A memory that is to be replaced may be one that cannot be read.
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
    // Folds it once, so that a ledger that cannot be read is noticed now.
    engine.forget_open(user);
    engine.open_existing(user)?;
    Ok(restored)
}
