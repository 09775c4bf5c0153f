//! Moving to another store: copies ledgers and access keys from one store into another, byte for byte.

use quipu_core::event::{Change, ChangeRef, Hash, NO_HASH};
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::{self, Pin, SealedChange, SealedEvent, Verifier};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::history::verify::at_one_moment;
use crate::ports::{Head, KeyStore, LedgerStore, StoreError, UserLedger};

/// What a store answers.
type StoreResult<T> = std::result::Result<T, StoreError>;

/// Events appended in one durable step.
const BATCH_EVENTS: usize = 512;
/// Payload bytes after which a step is made earlier.
const BATCH_BYTES: usize = 4 << 20;

/// What was done for a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MoveOutcome {
    /// The target had no ledger of the user: all events were copied.
    Copied,
    /// The target had the first events: the rest was appended.
    Continued,
    /// Both ledgers end with the same event: nothing was done.
    AlreadyThere,
    /// The source has no events: nothing was done.
    Empty,
}

/// Result of [`move_ledger`].
#[derive(Debug, Clone, Serialize)]
pub struct MovedLedger {
    /// The user.
    pub user_id: UserId,
    /// What was done.
    pub outcome: MoveOutcome,
    /// Events appended in the target.
    pub events: Seq,
    /// Position of the newest event, the same in both stores.
    pub head_seq: Seq,
    /// Its hash.
    pub head_hash: String,
}

/// Copies a user's ledger into another store, byte for byte, and verifies the copy. The source is not changed.
///
/// If the target has the first events of the source, the rest is appended, and what the source erased since is erased
/// in the target too. Events appended to the source during the call may be missing; another call appends them.
///
/// # Errors
/// `NotFound` if the source has no such user; `Refused` if the target has another ledger of the user, or a longer one;
/// `Corrupt` if the source is damaged or the copy differs from it; `Unavailable` if an erasure or another control event
/// was appended during the call. The target then has what it had before, or more of the first events of the source;
/// nothing is overwritten.
pub fn move_ledger(from: &dyn LedgerStore, to: &dyn LedgerStore, user: &UserId) -> Result<MovedLedger> {
    let mut source = from.open(user, false)?;
    let head = source.head()?;
    let done = |outcome, events| MovedLedger {
        user_id: user.clone(),
        outcome,
        events,
        head_seq: head.seq,
        head_hash: head.hash.to_hex().to_string(),
    };
    let there = match to.open(user, false) {
        Ok(ledger) => Some(ledger),
        Err(StoreError::NotFound(_)) => None,
        Err(other) => return Err(other.into()),
    };
    let Some(mut target) = there else {
        if head.seq == 0 {
            return Ok(done(MoveOutcome::Empty, 0));
        }
        verify(source.as_mut(), head, user, "the ledger to move")?;
        to.build(user, false, &mut |target| copy(source.as_mut(), target, Head { seq: 0, hash: NO_HASH }, head, user))?;
        verify(to.open(user, false)?.as_mut(), head, user, "the copy")?;
        return Ok(done(MoveOutcome::Copied, head.seq));
    };
    let held = target.head()?;
    if held == head {
        return Ok(done(MoveOutcome::AlreadyThere, 0));
    }
    if held.seq >= head.seq || hash_at(source.as_mut(), held.seq)? != Some(held.hash) {
        return Err(differs(source.as_mut(), target.as_mut(), (head, held), user)?);
    }
    verify(source.as_mut(), head, user, "the ledger to move")?;
    copy(source.as_mut(), target.as_mut(), held, head, user)?;
    verify(target.as_mut(), head, user, "the copy")?;
    Ok(done(MoveOutcome::Continued, head.seq - held.seq))
}

/// Why the ledger of the target is not continued.
fn differs(
    source: &mut dyn UserLedger,
    target: &mut dyn UserLedger,
    (head, held): (Head, Head),
    user: &UserId,
) -> Result<Error> {
    let is_ahead = held.seq > head.seq && hash_at(target, head.seq)? == Some(head.hash);
    let why = if is_ahead {
        let more = held.seq - head.seq;
        format!("the target has {more} event{} that the source does not have", if more == 1 { "" } else { "s" })
    } else {
        let hash = hash_at(source, held.seq)?.map_or("no event".to_owned(), |hash| hash.to_hex()[..12].to_owned());
        format!(
            "the target has another ledger, which ends at event {} ({}); there the source has {hash}",
            held.seq,
            &held.hash.to_hex()[..12]
        )
    };
    Ok(Error::Refused(format!("user {user} is not moved: {why}. Nothing of this user was changed")))
}

/// The hash of the event at a position.
fn hash_at(ledger: &mut dyn UserLedger, seq: Seq) -> StoreResult<Option<Hash>> {
    let mut found = (seq == 0).then_some(NO_HASH);
    if seq > 0 {
        ledger.read(seq..=seq, &mut |event| {
            found = Some(event.hash);
            false
        })?;
    }
    Ok(found)
}

/// Appends the events after `held` up to `head` in the target, and erases there what they erase up to `held`.
fn copy(
    source: &mut dyn UserLedger,
    target: &mut dyn UserLedger,
    held: Head,
    head: Head,
    user: &UserId,
) -> StoreResult<()> {
    let mut batch = Batch::default();
    let mut failed = Ok(());
    source.read(held.seq + 1..=head.seq, &mut |event| {
        failed = take(target, &mut batch, event, held.seq);
        failed.is_ok()
    })?;
    failed?;
    append(target, &mut batch)?;
    // Events are read in batches: what was erased meanwhile is missing in some of them.
    let mut is_steady = true;
    source.read(head.seq + 1..=u64::MAX >> 1, &mut |event| {
        is_steady &= !event.control;
        is_steady
    })?;
    if is_steady {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!("the ledger of {user} was changed while it was copied; run it again")))
}

/// Events that are not appended yet.
#[derive(Default)]
struct Batch {
    events: Vec<SealedEvent>,
    bytes: usize,
}

/// Appends one event, sooner or later. An erasure of events that the target had before destroys their payload there.
fn take(target: &mut dyn UserLedger, batch: &mut Batch, event: SealedEvent, held: Seq) -> StoreResult<()> {
    let targets: Vec<ChangeRef> = erased_by(&event)?.into_iter().filter(|target| target.seq <= held).collect();
    if targets.is_empty() {
        let payload = |change: &SealedChange| change.bytes.as_ref().map_or(0, Vec::len);
        batch.bytes += event.header.len() + event.changes.iter().map(payload).sum::<usize>();
        batch.events.push(event);
        let is_full = batch.events.len() >= BATCH_EVENTS || batch.bytes >= BATCH_BYTES;
        return if is_full { append(target, batch) } else { Ok(()) };
    }
    append(target, batch)?;
    target.erase(event.seq - 1, &targets, &event)
}

fn append(target: &mut dyn UserLedger, batch: &mut Batch) -> StoreResult<()> {
    if let Some(first) = batch.events.first() {
        target.append(first.seq - 1, &batch.events)?;
        *batch = Batch::default();
    }
    Ok(())
}

/// The changes that an event erases.
fn erased_by(event: &SealedEvent) -> StoreResult<Vec<ChangeRef>> {
    let mut all = Vec::new();
    let count = if event.control { event.changes.len() } else { 0 };
    for index in 0..count {
        let change = ledger::open_change(event, index)
            .map_err(|error| StoreError::Corrupt(format!("event {}: {error}", event.seq)))?;
        if let Some(Change::Erased { targets, .. }) = change {
            all.extend(targets);
        }
    }
    Ok(all)
}

/// Checks that the first events of a ledger are intact and end with `head`.
fn verify(ledger: &mut dyn UserLedger, head: Head, user: &UserId, what: &str) -> Result<()> {
    let verdict = at_one_moment(ledger, &mut |ledger, newest| {
        let mut verifier = Verifier::new(user.clone(), &[Pin { seq: head.seq, hash: head.hash }]);
        ledger.read(1..=newest, &mut |event| {
            verifier.check(&event);
            true
        })?;
        Ok(verifier.finish())
    })?;
    if verdict.is_intact() {
        return Ok(());
    }
    let why = match verdict.damage.first() {
        Some(damage) => format!("event {}: {}", damage.seq, damage.reason),
        None => format!("event {} is not the newest one of the other ledger", head.seq),
    };
    Err(Error::Corrupt(format!("{what} of {user} is damaged: {why}. `quipu verify -u {user}` lists all damage")))
}

/// Result of [`move_keys`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MovedKeys {
    /// Keys that were stored in the target.
    pub copied: usize,
    /// Keys that the target had already.
    pub already_there: usize,
}

/// Copies access keys into another store: all of them, or those of one user. A key that was revoked in the source is
/// revoked in the target.
///
/// # Errors
/// `Refused` if the target has another key with the same id; otherwise as the stores.
pub fn move_keys(from: &dyn KeyStore, to: &dyn KeyStore, user: Option<&UserId>) -> Result<MovedKeys> {
    let mut moved = MovedKeys { copied: 0, already_there: 0 };
    for key in from.all()?.into_iter().filter(|key| user.is_none() || key.user.as_ref() == user) {
        let Some(held) = to.find(&key.id)? else {
            to.put(&key)?;
            moved.copied += 1;
            continue;
        };
        if (held.digest, &held.scopes, &held.user) != (key.digest, &key.scopes, &key.user) {
            return Err(Error::Refused(format!("the target has another key with the id {}", key.id)));
        }
        if let (Some(at), None) = (key.revoked_at, held.revoked_at) {
            to.revoke(&key.id, at)?;
        }
        moved.already_there += 1;
    }
    Ok(moved)
}
