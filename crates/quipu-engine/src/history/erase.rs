//! Erasure: destroys the payload of changes. The digests stay, so the chain still verifies, and an event records what
//! was erased.

use std::collections::BTreeSet;

use quipu_core::Memory;
use quipu_core::event::{Actor, Change, ChangeRef, Draft, SourceKind};
use quipu_core::id::{EventId, ItemId, ItemKind, Seq, UserId};
use quipu_core::limit;
use quipu_core::reconcile::Understanding;
use serde::Serialize;

use crate::admin::keys::Keys;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::{self, VaultOptions};
use crate::history::after_revert;
use crate::history::erasure_cascade::{self, Derived};
use crate::history::log;
use crate::memory::commit;
use crate::memory::cursor;
use crate::memory::precondition;
use crate::memory::scan;
use crate::memory::{MemoryRef, OpenMemory, fold};
use crate::memory::{Watch, checkpoint};
use crate::ports::{KeyRotation, StoreError, UserLedger};
use crate::process::understand::{self, Cause};
use crate::sessions::episodes;
use crate::sessions::summarize;
use crate::write::hand_words;

/// What to erase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EraseTarget {
    /// One change of an event.
    Change(ChangeRef),
    /// Every change of an event.
    Event(Seq),
    /// The changes that recorded an item, even if it was retracted or reworded since; the replacing words stay.
    Item(ItemId),
}

impl std::str::FromStr for EraseTarget {
    type Err = Error;

    /// Parses `12.0` (a change), `12` (an event) or an item id.
    fn from_str(text: &str) -> Result<Self> {
        if let Some((seq, index)) = text.split_once('.')
            && let (Ok(seq), Ok(index)) = (seq.parse(), index.parse())
        {
            return Ok(Self::Change(ChangeRef { seq, index }));
        }
        match text.parse() {
            Ok(seq) => Ok(Self::Event(seq)),
            Err(_) => text.parse().map(Self::Item).map_err(|_| {
                Error::Invalid(format!(
                    "{text:?} is no change (12.0), no event (12) and no item id (turn_0r5k2m9c4t7wz)"
                ))
            }),
        }
    }
}

/// Proof of an erasure.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErasureReceipt {
    /// The event that records it.
    pub event_seq: Seq,
    /// The changes whose payload was destroyed.
    pub erased: Vec<ChangeRef>,
    /// Sources that still contain words from which erased items were read. Erase them too if the words should go.
    pub sources_left: Vec<ItemId>,
    /// Later events that no longer apply.
    pub orphans_new: Vec<quipu_core::memory::Orphan>,
    /// What was read again from the remaining sources, because its basis was erased.
    pub understood: Understanding,
    /// Places that held copies and were rebuilt.
    pub rebuilt: Vec<&'static str>,
    /// Plain files that were rewritten or removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// In an encrypted store: what was done with the user's keys, if that is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<KeyErasure>,
    /// Why recall does not see all of the rest yet, or the user's previous key is not destroyed yet, if a later step failed.
    pub lag: Option<String>,
}

/// What an erasure in an encrypted store did with the user's keys.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyErasure {
    /// What was sealed again, and how many keys were destroyed.
    #[serde(flatten)]
    pub rotation: KeyRotation,
    /// What is unreadable now, and when that is final.
    pub unreadable: String,
}

/// Destroys the payload of changes in the ledger and in every projection. This cannot be undone.
///
/// Returns once no file of the store holds the payload. Headers stay, including rationales and keys. Earlier backups
/// still hold the payload.
///
/// # Errors
/// `NotFound` if a target does not exist; `Refused` if it is erased already or is itself an erasure or a fork.
pub fn erase<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    targets: &[EraseTarget],
    reason: &str,
    watch: Watch<'_>,
) -> Result<ErasureReceipt> {
    let open = engine.open_existing(memory)?;
    let user = open.user();
    // A refused erasure changes nothing, so it does not take up edits of pages either.
    let allowed = || -> Result<()> {
        precondition::check(open.expected(), open.read().memory.seq())?;
        let wanted = resolve(&open, targets)?;
        all_going(open.writer()?.ledger.as_mut(), wanted).map(drop)
    };
    files::before_erasure(engine, &open, user, &allowed)?;
    let wanted = resolve(&open, targets)?;
    let by_hand: BTreeSet<Seq> = wanted.iter().map(|target| target.seq).collect();
    let before = open.read().memory.clone();
    let Destroyed { event_id, event_seq, erased, derived, rotation, mut lag } =
        destroy(engine, &open, &wanted, reason)?;
    // Erasing a fact, rather than its source, means that it should not be read from other sources again.
    let is_source = |target: &EraseTarget| match target {
        EraseTarget::Item(id) => matches!(id.kind, ItemKind::Turn | ItemKind::Entry | ItemKind::Document),
        EraseTarget::Change(_) | EraseTarget::Event(_) => true,
    };
    let said_again = if targets.iter().all(is_source) { derived.said_again } else { BTreeSet::new() };
    let sources_left = derived.sources_left;
    // What was asked for is done. An error would say that nothing was changed.
    let mut late = |error: Error| {
        lag.get_or_insert_with(|| {
            format!(
                "event {event_seq} records the erasure, and its targets are destroyed, but what remains was not read and \
                 summarised again: {error}. `quipu reread` reads it"
            )
        });
    };
    let mended = mend(engine, &open, &before, said_again);
    let understood = mended.map_err(&mut late).unwrap_or_default();
    let _ = episodes::retell(engine, &open, &before, event_id).map_err(&mut late);
    let _ = summarize::retell(engine, &open, &before, &by_hand, event_id).map_err(&mut late);
    let lag = lag.or(checkpoint::after_append(engine, &open, true, watch));
    let orphans_new = quipu_core::difference::difference(&before, &open.read().memory).orphans_new;
    let rebuilt = vec!["memory", "snapshots", "recall index", "vectors", "write-ahead log"];
    let files = files::after_erasure(engine, &open, user).map_err(|error| left_in_files(user, event_seq, &error))?;
    let keys = rotation.zip(engine.store.destruction());
    let keys = keys.map(|(rotation, unreadable)| KeyErasure { rotation, unreadable });
    Ok(ErasureReceipt { event_seq, erased, sources_left, orphans_new, understood, rebuilt, files, keys, lag })
}

/// Result of [`destroy`].
struct Destroyed {
    event_id: EventId,
    event_seq: Seq,
    erased: Vec<ChangeRef>,
    derived: Derived,
    /// What was done with the user's keys, in a store that seals with them.
    rotation: Option<KeyRotation>,
    /// What could not be cleaned up yet.
    lag: Option<String>,
}

/// Appends the erasure and destroys its targets with everything derived from them; starts again after a concurrent
/// append.
fn destroy(engine: &Engine, open: &OpenMemory, wanted: &BTreeSet<ChangeRef>, reason: &str) -> Result<Destroyed> {
    // Held until the end, so that nothing more is derived from the targets.
    let mut writer = open.writer()?;
    for attempt in 0..=commit::APPEND_RETRIES_MAX {
        open.catch_up(engine, &mut writer)?;
        let derived = all_going(writer.ledger.as_mut(), wanted.clone())?;
        let erased: Vec<ChangeRef> = derived.changes.iter().copied().collect();
        let change = Change::Erased { targets: erased.clone(), reason: reason.to_owned() };
        let draft = Draft::new(Actor::User, SourceKind::UserEdited, vec![change]);
        let sealed = commit::seal_checked(engine, open, &draft)?;
        let mut lag = None;
        cursor::refresh_leased(open, writer.ledger.as_mut())?;
        match writer.ledger.erase(sealed.seq - 1, &erased, &sealed) {
            Ok(()) => {}
            Err(StoreError::Conflict { .. }) => {
                commit::pause(engine, attempt);
                continue;
            }
            // If the erasure was recorded and only the cleaning of other files failed, the rest continues.
            Err(other) if writer.ledger.head()?.hash == sealed.hash => lag = Some(other.to_string()),
            Err(other) => return Err(other.into()),
        }
        // Before anything else is written: the less there is, the less is sealed again.
        let rotation = match writer.ledger.finish_erasures() {
            Ok(rotation) => rotation,
            Err(error) => {
                lag = lag.or(Some(error.to_string()));
                None
            }
        };
        open.note_appended(sealed.seq);
        open.met();
        open.forget_texts();
        // Vectors of the remaining text are reused; those of the erased text are no longer referenced.
        commit::reload_durable(engine, open, &mut writer).map_err(|error| unread(sealed.seq, &error))?;
        open.forget_texts();
        // The erasure removed every projection. The cursors contain no text, so they are stored again.
        let kept = cursor::all(open, sealed.seq);
        lag = lag.or(writer.ledger.checkpoint(&kept).err().map(|error| error.to_string()));
        return Ok(Destroyed { event_id: sealed.id, event_seq: sealed.seq, erased, derived, rotation, lag });
    }
    Err(Error::Conflict("another process appended first on every attempt. Nothing was erased; run it again".to_owned()))
}

/// The changes to erase, including everything derived from them.
fn all_going(ledger: &mut dyn UserLedger, wanted: BTreeSet<ChangeRef>) -> Result<Derived> {
    let derived = erasure_cascade::with_derived(ledger, wanted)?;
    if derived.changes.len() > limit::EVENTS_PER_COMMAND_MAX {
        let bound = limit::EVENTS_PER_COMMAND_MAX;
        return Err(Error::Invalid(format!("at most {bound} changes are erased at once")));
    }
    Ok(derived)
}

/// A change that an erasure would destroy.
#[derive(Debug, Clone, Serialize)]
pub struct ErasureTarget {
    /// The change.
    pub change: ChangeRef,
    /// Short summary.
    pub summary: String,
    /// True if it was requested; false if it follows from a requested change.
    pub asked_for: bool,
}

/// What an erasure would destroy.
#[derive(Debug, Clone, Serialize)]
pub struct ErasurePreview {
    /// Every change whose payload would be destroyed, in order.
    pub going: Vec<ErasureTarget>,
    /// Sources that would still contain words from which erased items were read.
    pub sources_left: Vec<ItemId>,
}

/// Previews an erasure. Appends nothing.
///
/// # Errors
/// As [`erase`].
pub fn preview_erase(engine: &Engine, user: &UserId, targets: &[EraseTarget]) -> Result<ErasurePreview> {
    let open = engine.open(user)?;
    let wanted = resolve(&open, targets)?;
    let mut writer = open.writer()?;
    let derived = erasure_cascade::with_derived(writer.ledger.as_mut(), wanted.clone())?;
    let mut going = Vec::new();
    for change in derived.changes {
        let event = fold::event_at(writer.ledger.as_mut(), change.seq)?;
        let says = event.changes.get(change.index as usize).cloned().flatten();
        let summary = log::summary(&[says]);
        going.push(ErasureTarget { change, summary, asked_for: wanted.contains(&change) });
    }
    Ok(ErasurePreview { going, sources_left: derived.sources_left })
}

/// The erasure is durable, but the memory that readers see could not be read again.
fn unread(event: Seq, error: &Error) -> Error {
    let text = format!(
        "event {event} records the erasure, and its targets are destroyed: it is recorded, but the memory cannot be read \
         again now: {error}. The next command tries it"
    );
    match error {
        Error::Corrupt(_) => Error::Corrupt(text),
        _ => Error::Unavailable(text),
    }
}

/// The ledger is clean but the plain files are not, so the erasure must not be reported as complete.
fn left_in_files(user: &UserId, event: Seq, error: &Error) -> Error {
    Error::Unavailable(format!(
        "event {event} records the erasure, and the database holds it no more, but plain files still may: {error}. Then run \
         `quipu files rebuild -u {user}`"
    ))
}

/// Reads again what lost its basis while its own source remains, and updates the core document to match the facts.
fn mend(engine: &Engine, open: &OpenMemory, before: &Memory, mut sources: BTreeSet<ItemId>) -> Result<Understanding> {
    let orphans = quipu_core::difference::difference(before, &open.read().memory).orphans_new;
    for orphan in &orphans {
        let event = fold::event_at(open.writer()?.ledger.as_mut(), orphan.seq)?;
        sources.extend(erasure_cascade::sources_of(&event));
    }
    let mut all = Understanding::default();
    let mut read = Ok(());
    for source in sources {
        match understand::understand(engine, open, source, &Cause::default()) {
            Ok(understood) => all.extend(understood),
            Err(error) => read = read.and(Err(error)),
        }
    }
    // Nothing repeats this later, so that a source that was not read must not stop it.
    after_revert::level(engine, open, before, None)?;
    read.map(|()| all)
}

fn resolve(open: &OpenMemory, targets: &[EraseTarget]) -> Result<BTreeSet<ChangeRef>> {
    let mut wanted = BTreeSet::new();
    let mut writer = open.writer()?;
    let state = open.read();
    for target in targets {
        match *target {
            EraseTarget::Change(change) => {
                wanted.insert(change);
            }
            EraseTarget::Event(seq) => {
                let event = fold::event_at(writer.ledger.as_mut(), seq)?;
                let present = (0..event.changes.len()).filter(|&index| event.changes[index].is_some());
                wanted.extend(present.map(|index| ChangeRef { seq, index: index as u32 }));
            }
            EraseTarget::Item(id) => wanted.extend(made_by(writer.ledger.as_mut(), &state.memory, id)?),
        }
    }
    if wanted.is_empty() {
        return Err(Error::NotFound("there is nothing left to erase there".to_owned()));
    }
    if wanted.len() > limit::EVENTS_PER_COMMAND_MAX {
        return Err(Error::Invalid(format!("at most {} changes are erased at once", limit::EVENTS_PER_COMMAND_MAX)));
    }
    for target in &wanted {
        let event = fold::event_at(writer.ledger.as_mut(), target.seq)?;
        match event.changes.get(target.index as usize) {
            None => return Err(Error::NotFound(format!("event {} has no change {}", target.seq, target.index))),
            Some(None) => return Err(Error::Refused(format!("change {target} is erased already"))),
            Some(Some(change)) if change.is_control() => {
                return Err(Error::Refused(format!(
                    "change {target} says what happened to other events; it holds no content"
                )));
            }
            Some(Some(_)) => {}
        }
    }
    Ok(wanted)
}

/// The changes that made an item. For an item that was retracted or reworded, these are all changes that ever made it;
/// the replacing words are not included.
fn made_by(ledger: &mut dyn UserLedger, memory: &Memory, id: ItemId) -> Result<BTreeSet<ChangeRef>> {
    if let Some(held) = memory.get(id) {
        return Ok([ChangeRef { seq: held.seq, index: held.change }].into());
    }
    let makes = |change: &Option<Change>| match change {
        Some(Change::SourceRecorded(source)) => source.id == id,
        Some(Change::Drawn(drawn)) => drawn.makes() == Some(id),
        _ => false,
    };
    let is_words = |change: &Option<Change>| match change {
        Some(Change::SourceRecorded(source)) => hand_words::instead_of(source).is_some(),
        _ => false,
    };
    let range = memory.items().made_by(id).map_or(1..=memory.seq(), |seq| seq..=seq);
    let mut made = BTreeSet::new();
    scan::events(ledger, range, &mut |event| {
        // The words of the edit that made an item are erased with it; they were recorded for that only.
        let is_made = event.changes.iter().any(makes);
        let wanted = |change: &Option<Change>| is_made && (makes(change) || is_words(change));
        let indices = (0u32..).zip(&event.changes).filter(|(_, change)| wanted(change)).map(|(index, _)| index);
        made.extend(indices.map(|index| ChangeRef { seq: event.header.seq, index }));
    })?;
    if made.is_empty() {
        return Err(Error::NotFound(format!("there is no item {id}")));
    }
    Ok(made)
}

/// Proof that a user was deleted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserErasure {
    /// The user.
    pub user_id: UserId,
    /// Number of events in the ledger.
    pub events: Seq,
    /// Number of items.
    pub items: u64,
    /// The last head, which identifies the deleted ledger to holders of a pin.
    #[cfg_attr(feature = "schema", schemars(with = "quipu_core::schema::HexHash"))]
    pub head: String,
    /// Places that held copies and were cleaned.
    pub cleaned: Vec<&'static str>,
    /// In an encrypted store: what is unreadable now, and when that is final.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// Deletes a user's ledger and everything made from it, then revokes the user's keys. This cannot be undone; earlier
/// backups stay.
///
/// # Errors
/// `NotFound` if there is no such user; `Unavailable` if the store cannot delete it, or if it was deleted but the keys
/// cannot be revoked (the message says which).
pub fn delete_user_with_keys<'a>(
    engine: &Engine,
    keys: &Keys,
    memory: impl Into<MemoryRef<'a>>,
) -> Result<UserErasure> {
    let memory = memory.into();
    let user = memory.user();
    let mut receipt = delete_user(engine, memory)?;
    let left = |error: Error| {
        Error::Unavailable(format!(
            "the memory of user {user} is deleted, but its keys may still open what is made anew by that name: {error}. Take \
             them back with `quipu key revoke`"
        ))
    };
    if !keys.revoke_of(user).map_err(left)?.is_empty() {
        receipt.cleaned.push("keys");
    }
    Ok(receipt)
}

/// Deletes a user's ledger and everything made from it, but no keys; see [`delete_user_with_keys`]. This cannot be
/// undone; earlier backups stay.
///
/// # Errors
/// `NotFound` if there is no such user; `Unavailable` if the store cannot delete it.
pub fn delete_user<'a>(engine: &Engine, memory: impl Into<MemoryRef<'a>>) -> Result<UserErasure> {
    let open = engine.open_existing(memory)?;
    let user = open.user();
    let cleaned = engine.store.cleaned();
    // From here on nothing else is appended or written, so what was checked is what is deleted.
    let files = open.files.lock();
    let mut writer = open.writer()?;
    open.catch_up(engine, &mut writer)?;
    let mut receipt = {
        let state = open.read();
        precondition::check(open.expected(), state.memory.seq())?;
        let (memory, items) = (&state.memory, state.memory.items().ids().count());
        UserErasure {
            user_id: user.clone(),
            events: memory.seq(),
            items: (memory.sources().len() + items) as u64,
            head: memory.head().to_hex().to_string(),
            cleaned,
            unreadable: engine.store.destruction(),
        }
    };
    // The files go first, because the deletion of a user who is gone cannot be repeated. If the deletion fails due to a
    // concurrent append, the files can be written again from the ledger.
    if files::remove_all(engine, user)? {
        receipt.cleaned.push("plain files");
    }
    match engine.store.remove(user, open.expected()) {
        Err(conflict @ StoreError::Conflict { .. }) => {
            drop((writer, files));
            if receipt.cleaned.contains(&"plain files") {
                files::level(engine, user, VaultOptions::default())?;
            }
            return Err(Error::Stale(format!("{conflict}. Nothing was deleted; read it again and decide again")));
        }
        outcome => outcome?,
    }
    // Another process may have written them again before the ledger was gone.
    files::remove_all(engine, user).map_err(|error| {
        Error::Unavailable(format!(
            "the ledger of user {user} is gone, but some of its plain files may be there: {error}"
        ))
    })?;
    open.close(&mut writer);
    open.forget_texts();
    drop(writer);
    engine.forget_open(user);
    Ok(receipt)
}
