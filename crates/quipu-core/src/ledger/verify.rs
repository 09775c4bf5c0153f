//! Verifies a ledger: every event is intact, erased by a named event, or damaged at a named place.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::seal::{digest, header_hash, open_change, open_header};
use super::sealed::{SealedChange, SealedEvent};
use crate::event::{Change, ChangeRef, Hash, Header, NO_HASH};
use crate::id::{Seq, UserId};

/// A recorded head: the ledger must still have this hash at this position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// The position.
    pub seq: Seq,
    /// The hash it had.
    pub hash: Hash,
}

/// The result for a pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PinOutcome {
    /// The pinned position.
    pub seq: Seq,
    /// True if the ledger still has the pinned hash there.
    pub holds: bool,
    /// The reason if it does not.
    pub reason: Option<String>,
}

/// A change erased by a recorded event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErasedChange {
    /// The erased change.
    pub target: ChangeRef,
    /// The event that erased it.
    pub by: Seq,
}

/// A deviation from what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "LedgerDamage"))]
pub struct Damage {
    /// The position of the event.
    pub seq: Seq,
    /// Index of the change, if one is damaged.
    pub change: Option<u32>,
    /// The reason.
    pub reason: String,
}

/// The result for a whole ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// The user of the ledger.
    pub user_id: UserId,
    /// Number of events checked.
    pub events: u64,
    /// Number of changes that match their digest.
    pub changes_intact: u64,
    /// The newest position.
    pub head_seq: Seq,
    /// The newest hash, in hexadecimal. Pin it to detect truncation and rewriting later.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::HexHash"))]
    pub head_hash: String,
    /// Erased changes.
    pub erased: Vec<ErasedChange>,
    /// Damaged events and changes.
    pub damage: Vec<Damage>,
    /// The results for the pins.
    pub pins: Vec<PinOutcome>,
}

impl Verification {
    /// True if nothing is damaged and every pin holds.
    pub fn is_intact(&self) -> bool {
        self.damage.is_empty() && self.pins.iter().all(|pin| pin.holds)
    }
}

/// Verifies a ledger event by event. Its memory use grows only with erasures and damage.
#[derive(Debug)]
pub struct Verifier {
    user: UserId,
    author: Option<UserId>,
    expected: Seq,
    prev: Hash,
    holes: Vec<ChangeRef>,
    erasures: BTreeMap<ChangeRef, Seq>,
    pins: BTreeMap<Seq, (Hash, Option<Hash>)>,
    /// Whether the changes are checked too.
    payloads: bool,
    verdict: Verification,
}

impl Verifier {
    /// Starts at the first event of a user's ledger.
    pub fn new(user: UserId, pins: &[Pin]) -> Self {
        let verdict = Verification {
            user_id: user.clone(),
            events: 0,
            changes_intact: 0,
            head_seq: 0,
            head_hash: NO_HASH.to_hex().to_string(),
            erased: Vec::new(),
            damage: Vec::new(),
            pins: Vec::new(),
        };
        let pins = pins.iter().map(|pin| (pin.seq, (pin.hash, (pin.seq == 0).then_some(NO_HASH)))).collect();
        Self {
            user,
            author: None,
            expected: 1,
            prev: NO_HASH,
            holes: Vec::new(),
            erasures: BTreeMap::new(),
            pins,
            payloads: true,
            verdict,
        }
    }

    /// Checks headers and the chain only, for a ledger whose payloads cannot be read, because they are sealed with a key that
    /// is not at hand. Whose events they are is not checked: a fork is told from a foreign event by its payload.
    #[must_use]
    pub fn headers_only(self) -> Self {
        Self { payloads: false, ..self }
    }

    fn damaged(&mut self, seq: Seq, change: Option<u32>, reason: impl Into<String>) {
        self.verdict.damage.push(Damage { seq, change, reason: reason.into() });
    }

    /// Checks the next event, in order of position.
    pub fn check(&mut self, event: &SealedEvent) {
        if event.seq != self.expected {
            let (from, to) = (self.expected, event.seq);
            self.damaged(from, None, format!("events {from} to {} are missing", to.saturating_sub(1)));
        }
        self.verdict.events += 1;
        let computed = header_hash(&event.header);
        if computed != event.hash {
            self.damaged(event.seq, None, "the header does not match its hash");
        }
        match open_header(event) {
            Ok(header) => self.check_header(event, &header),
            Err(error) => self.damaged(event.seq, None, format!("the header: {error}")),
        }
        if let Some((_, found)) = self.pins.get_mut(&event.seq) {
            *found = Some(computed);
        }
        self.prev = event.hash;
        self.expected = event.seq.saturating_add(1);
        self.verdict.head_seq = event.seq;
        self.verdict.head_hash = computed.to_hex().to_string();
    }

    fn check_header(&mut self, event: &SealedEvent, header: &Header) {
        let seq = event.seq;
        if header.prev != self.prev {
            self.damaged(seq, None, "the event does not continue the one before it");
        }
        if header.seq != seq || header.id != event.id {
            self.damaged(seq, None, "position or id differ from the header's");
        }
        if header.recorded_at.as_microsecond() != event.recorded_at_micros {
            self.damaged(seq, None, "the time of recording differs from the header's");
        }
        let key = header.idempotency.as_ref().map(|used| (used.key.as_str(), used.request));
        if key != event.idempotency.as_ref().map(|(key, request)| (key.as_str(), *request)) {
            self.damaged(seq, None, "the idempotency key differs from the header's");
        }
        if header.digests.len() != event.changes.len() {
            let (said, found) = (header.digests.len(), event.changes.len());
            self.damaged(seq, None, format!("the header names {said} changes, {found} are present"));
        }
        if !self.payloads {
            // The last one counts as the owner: the event of a fork is its own user's.
            self.author = Some(header.user.clone());
            return;
        }
        let mut control = false;
        let mut forked_from = None;
        for (index, (change, expected)) in event.changes.iter().zip(&header.digests).enumerate() {
            let at = ChangeRef { seq, index: index as u32 };
            if self.check_change(at, change, expected) {
                match open_change(event, index) {
                    Ok(Some(change)) => {
                        control |= change.is_control();
                        forked_from = forked_from.or(self.note(at, change));
                    }
                    Ok(None) => {}
                    Err(error) => self.damaged(seq, Some(at.index), error.to_string()),
                }
            }
        }
        // Control changes cannot be erased, so the remaining changes decide.
        if control != event.control {
            self.damaged(seq, None, "the control mark differs from the changes");
        }
        self.check_owner(seq, &header.user, forked_from);
    }

    /// True if the payload is present and matches its digest.
    fn check_change(&mut self, at: ChangeRef, change: &SealedChange, expected: &Hash) -> bool {
        match (&change.bytes, &change.salt) {
            (Some(bytes), Some(salt)) if digest(salt, bytes) == *expected => {
                self.verdict.changes_intact += 1;
                true
            }
            (Some(_), Some(_)) => {
                self.damaged(at.seq, Some(at.index), "the payload does not match its digest");
                false
            }
            (None, None) => {
                self.holes.push(at);
                false
            }
            _ => {
                self.damaged(at.seq, Some(at.index), "payload and salt must both be present or both be missing");
                false
            }
        }
    }

    fn note(&mut self, at: ChangeRef, change: Change) -> Option<UserId> {
        match change {
            Change::Erased { targets, .. } => {
                for target in targets {
                    self.erasures.entry(target).or_insert(at.seq);
                }
                None
            }
            Change::Forked { from, at: shared, head } if shared.checked_add(1) == Some(at.seq) && head == self.prev => {
                Some(from)
            }
            Change::Forked { .. } => {
                self.damaged(at.seq, Some(at.index), "the fork does not name the event before it");
                None
            }
            _ => None,
        }
    }

    /// A ledger belongs to one user; only the first event after a fork may change the user.
    fn check_owner(&mut self, seq: Seq, user: &UserId, forked_from: Option<UserId>) {
        let continues = match (&self.author, &forked_from) {
            (None, _) => true,
            (Some(before), Some(from)) => before == from,
            (Some(before), None) => before == user,
        };
        if !continues {
            self.damaged(seq, None, format!("the event belongs to user {user}, not to the one before it"));
        }
        self.author = Some(user.clone());
    }

    /// The result, once every event was checked.
    pub fn finish(mut self) -> Verification {
        if self.author.as_ref().is_some_and(|author| *author != self.user) {
            let user = self.user.clone();
            self.damaged(self.verdict.head_seq, None, format!("the ledger does not belong to user {user}"));
        }
        let holes: BTreeSet<ChangeRef> = self.holes.iter().copied().collect();
        for (target, by) in self.erasures.clone() {
            if !holes.contains(&target) {
                self.damaged(target.seq, Some(target.index), format!("event {by} erased the payload, but it exists"));
            }
        }
        for hole in std::mem::take(&mut self.holes) {
            match self.erasures.get(&hole) {
                Some(&by) if by > hole.seq => self.verdict.erased.push(ErasedChange { target: hole, by }),
                _ => self.damaged(hole.seq, Some(hole.index), "the payload is missing and no event erased it"),
            }
        }
        self.verdict.damage.sort_by_key(|damage| (damage.seq, damage.change));
        let head = self.verdict.head_seq;
        let outcome = |(seq, (pinned, found)): (Seq, (Hash, Option<Hash>))| {
            let reason = match found {
                Some(found) if found == pinned => None,
                Some(found) => Some(format!("event {seq} has hash {found} now: history was rewritten")),
                None if seq > head => Some(format!("the ledger ends at {head}: events were cut off")),
                None => Some(format!("event {seq} is missing")),
            };
            PinOutcome { seq, holds: reason.is_none(), reason }
        };
        self.verdict.pins = std::mem::take(&mut self.pins).into_iter().map(outcome).collect();
        self.verdict
    }
}

/// True if the header matches its hash and every present payload its digest.
pub fn is_intact(event: &SealedEvent) -> bool {
    let Ok(header) = open_header(event) else { return false };
    header_hash(&event.header) == event.hash
        && header.digests.len() == event.changes.len()
        && event.changes.iter().zip(&header.digests).all(|(change, expected)| match (&change.bytes, &change.salt) {
            (Some(bytes), Some(salt)) => digest(salt, bytes) == *expected,
            (None, None) => true,
            _ => false,
        })
}
