//! Changing keys: of a user after an erasure, and the master key.

use std::collections::BTreeSet;
use std::time::Duration;

use quipu_core::event::ChangeRef;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{KeyRotation, LeaseRequest, ResealedChange, StoreError, UserKeyId, UserKeyState, UserLedger};

use crate::keyring::Keyring;
use crate::seal::{UserKey, key_of_change};
use crate::user_keys::UserKeys;

/// Name of the lease of whoever seals a ledger again.
const LEASE: &str = "reseal";
/// How long one batch may take before another process may take over. What a process writes after that is refused.
const LEASE_TIME: Duration = Duration::from_secs(60);
/// Changes and bytes that are sealed again in one step.
const BATCH_CHANGES: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;

/// See [`UserLedger::finish_erasures`](quipu_engine::ports::UserLedger::finish_erasures).
pub(crate) fn finish(ledger: &mut dyn UserLedger, ring: &mut Keyring) -> Result<Option<KeyRotation>, StoreError> {
    let Some(keys) = ring.keys().cloned() else { return Ok(None) };
    ring.reload()?;
    if retired(ledger, ring)?.is_empty() {
        return Ok(None);
    }
    let mut holder = [0; 8];
    keys.entropy.fill(&mut holder);
    // A lease is stored as a signed number.
    let holder = u64::from_le_bytes(holder) >> 1;
    hold(ledger, ring, &keys, holder)?;
    let done = rotate(ledger, ring, &keys, holder);
    // If this fails, the lease ends by itself.
    let _ = ledger.release(LEASE, holder);
    done.map(Some)
}

/// The retired keys whose erasure was recorded, also if a deletion of the user did not succeed since. A key whose erasure
/// was not recorded may still be in use by a writer.
fn retired(ledger: &mut dyn UserLedger, ring: &mut Keyring) -> Result<Vec<UserKeyId>, StoreError> {
    let mut ids = Vec::new();
    for key in ring.listed().to_vec() {
        let is_out_of_use = matches!(key.state, UserKeyState::Retired | UserKeyState::Leaving);
        for event in key.retired_by.into_iter().filter(|_| is_out_of_use) {
            if ledger.position_of(event)?.is_some() {
                ids.push(key.id);
                break;
            }
        }
    }
    Ok(ids)
}

fn hold(ledger: &mut dyn UserLedger, ring: &mut Keyring, keys: &UserKeys, holder: u64) -> Result<(), StoreError> {
    let now = keys.clock.now();
    let until = now.saturating_add(LEASE_TIME).unwrap_or(now);
    if ledger.lease(&LeaseRequest { name: LEASE, holder, now, until })? {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!(
        "another process is sealing the ledger of {} again after an erasure, and destroys the previous key when it is done",
        ring.user()
    )))
}

fn rotate(
    ledger: &mut dyn UserLedger,
    ring: &mut Keyring,
    keys: &UserKeys,
    holder: u64,
) -> Result<KeyRotation, StoreError> {
    // Listed again: whoever had the lease before may have destroyed some of them.
    ring.reload()?;
    let mut old: BTreeSet<UserKeyId> = retired(ledger, ring)?.into_iter().collect();
    let head = ledger.head()?.seq;
    // Events after `head` are sealed with an active key: their writers know that the erasure was recorded.
    let Some(current) = ring.for_writing(ledger, head)? else { return Ok(KeyRotation::default()) };
    let mut done = KeyRotation::default();
    let mut first = 1;
    while first <= head {
        let batch = read(ledger, first, head)?;
        let Some(last) = batch.last() else { break };
        first = last.seq + 1;
        let changes = sealed_again(ring, keys, &current, &batch, &mut old)?;
        for part in changes.chunks(BATCH_CHANGES) {
            hold(ledger, ring, keys, holder)?;
            check_current(ledger, ring, &current)?;
            ledger.reseal(LEASE, holder, part)?;
        }
        done.changes_resealed += changes.len() as u64;
    }
    hold(ledger, ring, keys, holder)?;
    check_current(ledger, ring, &current)?;
    old.remove(&current.id);
    let old: Vec<UserKeyId> = old.into_iter().collect();
    keys.store.destroy(ring.user(), &old)?;
    ring.forget(&old);
    done.keys_destroyed = old.len() as u64;
    Ok(done)
}

/// Fails if a later erasure has retired the key that seals: the lease may have been lost and taken again.
fn check_current(ledger: &mut dyn UserLedger, ring: &mut Keyring, current: &UserKey) -> Result<(), StoreError> {
    ring.reload()?;
    let is_listed = ring.listed().iter().any(|key| key.id == current.id);
    if is_listed && !retired(ledger, ring)?.contains(&current.id) {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!(
        "the key of {} was changed again by a later erasure, which seals the rest. Nothing was changed",
        ring.user()
    )))
}

/// Events as they are stored, up to one batch.
fn read(ledger: &mut dyn UserLedger, first: Seq, last: Seq) -> Result<Vec<SealedEvent>, StoreError> {
    let (mut batch, mut changes, mut bytes) = (Vec::new(), 0, 0);
    ledger.read(first..=last, &mut |event: SealedEvent| {
        changes += event.changes.len();
        bytes += event.changes.iter().filter_map(|change| change.bytes.as_ref()).map(Vec::len).sum::<usize>();
        batch.push(event);
        changes < BATCH_CHANGES && bytes < BATCH_BYTES
    })?;
    Ok(batch)
}

/// The changes of events that another key sealed, or none, sealed with `current`. Notes keys in `old` that sealed a ledger
/// while it was built and are in use: the ledger is in place.
fn sealed_again(
    ring: &mut Keyring,
    keys: &UserKeys,
    current: &UserKey,
    events: &[SealedEvent],
    old: &mut BTreeSet<UserKeyId>,
) -> Result<Vec<ResealedChange>, StoreError> {
    let mut changes = Vec::new();
    for event in events {
        for (index, change) in (0..).zip(&event.changes) {
            let target = ChangeRef { seq: event.seq, index };
            let sealed_with = key_of_change(change);
            let (Some(from), true) = (change.salt, sealed_with != Some(current.id)) else { continue };
            // What cannot be opened stays as it is: it is damaged, or its key was lost before.
            let Some(opened) = ring.try_open(target, change)? else { continue };
            if let Some(id) = sealed_with {
                old.extend(
                    ring.listed()
                        .iter()
                        .filter(|key| key.id == id && key.state == UserKeyState::Building)
                        .map(|key| key.id),
                );
            }
            changes.push(ResealedChange {
                target,
                from,
                to: current.seal_change(target, &opened, keys.entropy.as_ref())?,
            });
        }
    }
    Ok(changes)
}

/// What [`rewrap`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rewrapped {
    /// Users with keys.
    pub users: u64,
    /// Keys that are wrapped by the current master key now and were not before.
    pub keys: u64,
}

/// Wraps every user's keys with the current master key. Other processes may use the keys meanwhile, and a call that was
/// interrupted is repeated.
///
/// # Errors
/// As [`MasterKeys`](crate::MasterKeys) and the key store; keys before it are wrapped already.
pub fn rewrap(keys: &UserKeys) -> Result<Rewrapped, StoreError> {
    let mut done = Rewrapped::default();
    for user in keys.store.users(None)? {
        done.users += 1;
        done.keys += rewrap_user(keys, &user)?;
    }
    Ok(done)
}

fn rewrap_user(keys: &UserKeys, user: &UserId) -> Result<u64, StoreError> {
    let mut done = 0;
    for key in keys.store.of_user(user)? {
        let secret = keys.masters.unwrap(&key)?;
        if keys.masters.is_current(&key) {
            continue;
        }
        let (master, wrapped) = keys.masters.wrap(user, &key.id, &secret, keys.entropy.as_ref())?;
        done += u64::from(keys.store.rewrap(&key, master, &wrapped)?);
    }
    Ok(done)
}
