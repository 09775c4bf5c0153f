//! One user's open memory: the writer, and what readers see.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use quipu_core::Memory;
use quipu_core::event::{Change, Event};
use quipu_core::guard::Echo;
use quipu_core::history::History;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::{self, SealedEvent};
use quipu_core::limit;
use quipu_core::recall::{DerivedIndex, Index};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::hits::Shown;
use crate::novelty::Values;
use crate::origins::Origins;
use crate::ports::UserLedger;
use crate::reflect::Reflected;
use crate::study::Studied;
use crate::summarize::Desk;
use crate::unread::Unread;
use crate::upkeep;
use crate::vault::Glanced;

/// What readers see: a memory, what it knows of its events, and the index over its items. Always at one version.
pub(crate) struct State {
    pub(crate) memory: Memory,
    pub(crate) history: History,
    pub(crate) index: Index,
    pub(crate) derived: DerivedIndex,
}

impl State {
    /// What there is before the first event.
    pub(crate) fn empty(engine: &Engine, user: &UserId) -> Self {
        Self {
            memory: Memory::new(user.clone(), BTreeSet::new()),
            history: History::default(),
            index: upkeep::empty_index(engine),
            derived: DerivedIndex::default(),
        }
    }
}

/// What only the writer touches.
pub(crate) struct Writer {
    pub(crate) ledger: Box<dyn UserLedger>,
    /// The newest snapshot's position.
    pub(crate) snapshot_seq: Seq,
}

/// One user's open memory. Lock order: the writer, then the state.
pub(crate) struct Keeper {
    writer: Mutex<Writer>,
    state: RwLock<State>,
    /// What was recalled lately, oldest first: its echo is not read as news.
    shown: Mutex<VecDeque<String>>,
    /// What was shown and is not written down.
    pub(crate) shown_items: Shown,
    /// Vectors of values, for novelty.
    pub(crate) values: Values,
    /// How far what was said has been read.
    pub(crate) unread: Unread,
    /// How far the second reader has come.
    pub(crate) studied: Studied,
    /// How far a model has looked back.
    pub(crate) reflected: Reflected,
    /// Whose turn it is to tell a session's exchanges.
    pub(crate) sessions: Desk,
    /// Which events came with what.
    pub(crate) origins: Origins,
    /// What its pages say.
    pub(crate) glanced: Glanced,
    /// Held while plain files are written; taken before the writer.
    pub(crate) files: Mutex<()>,
}

impl Keeper {
    pub(crate) fn open(engine: &Engine, user: &UserId, create: bool) -> Result<Self> {
        let mut ledger =
            engine.store.open(user, create).map_err(|error| explain_missing(engine, user, error.into()))?;
        let history = read_history(ledger.as_mut())?;
        let head = ledger.head()?.seq;
        let memory = fold_to(ledger.as_mut(), user, &history, head)?;
        let index = upkeep::load_index(engine, ledger.as_mut(), &memory)?;
        let snapshot_seq = ledger.snapshots()?.last().copied().unwrap_or(0);
        let unread = Unread::load(ledger.as_mut(), head)?;
        let studied = Studied::load(ledger.as_mut(), head)?;
        let shown_items = Shown::load(ledger.as_mut(), head)?;
        let reflected = Reflected::load(ledger.as_mut(), head)?;
        let writer = Mutex::new(Writer { ledger, snapshot_seq });
        Ok(Self {
            writer,
            state: RwLock::new(State { derived: DerivedIndex::of(memory.items()), memory, history, index }),
            shown: Mutex::default(),
            shown_items,
            values: Values::default(),
            unread,
            studied,
            reflected,
            sessions: Desk::default(),
            origins: Origins::default(),
            glanced: Glanced::default(),
            files: Mutex::default(),
        })
    }

    /// The writer; held for the length of one command.
    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        // A panic in a command leaves ledger and state apart at worst; the next conflict check brings them together.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what was recalled.
    pub(crate) fn note_shown(&self, text: &str) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.iter().any(|known| known == text) {
            return;
        }
        if shown.len() == limit::SHOWN_TEXTS_MAX {
            shown.pop_front();
        }
        shown.push_back(text.to_owned());
    }

    /// Lets go of texts kept beside the memory: one of them may have been erased.
    pub(crate) fn forget_texts(&self) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.values.clear();
        self.glanced.forget();
    }

    /// What was recalled lately, to be compared with.
    pub(crate) fn echo(&self) -> Echo {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        Echo::new(shown.iter().map(String::as_str))
    }

    pub(crate) fn bytes(&self) -> usize {
        let state = self.read();
        state.memory.bytes() + state.index.memory_bytes() + state.derived.bytes() + self.glanced.bytes()
    }
}

fn explain_missing(engine: &Engine, user: &UserId, error: Error) -> Error {
    let Error::NotFound(_) = error else { return error };
    let known = engine.store.users().unwrap_or_default();
    let names: Vec<&str> = known.iter().map(UserId::as_str).take(10).collect();
    Error::NotFound(if names.is_empty() {
        format!("there is no memory of user {user} yet; `quipu add` or `quipu import` starts one")
    } else {
        format!("there is no memory of user {user}; there is one of: {}", names.join(", "))
    })
}

/// What the ledger's control events say.
pub(crate) fn read_history(ledger: &mut dyn UserLedger) -> Result<History> {
    let mut history = History::default();
    let head = ledger.head()?.seq;
    for sealed in ledger.controls(head)? {
        history.note(&ledger::open(&sealed)?);
    }
    Ok(history)
}

/// The memory at a version: from the newest snapshot that still holds, else from the first event.
///
/// A snapshot holds if the events it left out are exactly those that do not count now.
pub(crate) fn fold_to(ledger: &mut dyn UserLedger, user: &UserId, history: &History, version: Seq) -> Result<Memory> {
    fold_skipping(ledger, user, history.skipped_at(version), version)
}

/// The memory at a version as it would be if exactly these events did not count.
pub(crate) fn fold_skipping(
    ledger: &mut dyn UserLedger,
    user: &UserId,
    skipped: BTreeSet<Seq>,
    version: Seq,
) -> Result<Memory> {
    let mut memory = None;
    for seq in ledger.snapshots()?.into_iter().rev().filter(|&seq| seq <= version) {
        let Some(bytes) = ledger.snapshot(seq)? else { continue };
        // A snapshot of an older layout is not an error: it is made again from the ledger.
        let Ok(candidate) = Memory::decode(&bytes) else { continue };
        if candidate.user() == user && candidate.skipped().iter().eq(skipped.range(..=seq)) {
            memory = Some(candidate);
            break;
        }
    }
    let mut memory = memory.unwrap_or_else(|| Memory::new(user.clone(), skipped.clone()));
    memory.set_skipped(skipped);
    replay(ledger, &mut memory, version)?;
    Ok(memory)
}

/// The memory at a version, from the first event on, whatever snapshots say.
pub(crate) fn fold_from_start(
    ledger: &mut dyn UserLedger,
    user: &UserId,
    history: &History,
    version: Seq,
) -> Result<Memory> {
    let mut memory = Memory::new(user.clone(), history.skipped_at(version));
    replay(ledger, &mut memory, version)?;
    Ok(memory)
}

fn replay(ledger: &mut dyn UserLedger, memory: &mut Memory, version: Seq) -> Result<()> {
    let mut expected = memory.seq() + 1;
    let mut fault = None;
    ledger.read(expected..=version, &mut |sealed| {
        if !ledger::is_intact(&sealed) {
            // Wrong words are worse than none: what does not match its digest is never folded in.
            fault = Some(Error::Corrupt(format!("event {} is damaged; `quipu verify` says where", sealed.seq)));
            return false;
        }
        match ledger::open(&sealed) {
            Ok(event) if event.header.seq == expected && !is_heeded(memory, &event) => {
                let text =
                    format!("event {expected} reverts events, and the store does not list it; run `quipu verify`");
                fault = Some(Error::Corrupt(text));
                false
            }
            Ok(event) if event.header.seq == expected => {
                memory.apply(event);
                expected += 1;
                true
            }
            Ok(event) => {
                let found = event.header.seq;
                fault = Some(Error::Corrupt(format!("event {expected} is missing before {found}; run `quipu verify`")));
                false
            }
            Err(error) => {
                fault = Some(Error::Corrupt(format!("event {}: {error}; run `quipu verify`", sealed.seq)));
                false
            }
        }
    })?;
    match fault {
        Some(fault) => Err(fault),
        None if expected <= version => {
            Err(Error::Corrupt(format!("events {expected} to {version} are missing; run `quipu verify`")))
        }
        None => Ok(()),
    }
}

/// True unless the event is a revert that counts and that the memory does not know of: then the store's list of control
/// events is damaged, and going on would bring back what was taken back.
fn is_heeded(memory: &Memory, event: &Event) -> bool {
    let (seq, skipped) = (event.header.seq, memory.skipped());
    skipped.contains(&seq)
        || event.changes.iter().flatten().all(|change| match change {
            Change::Reverted { events } => events.iter().all(|target| *target >= seq || skipped.contains(target)),
            _ => true,
        })
}

/// One event by position, as it is stored.
pub(crate) fn sealed_at(ledger: &mut dyn UserLedger, seq: Seq) -> Result<SealedEvent> {
    let mut found = None;
    ledger.read(seq..=seq, &mut |sealed| {
        found = Some(sealed);
        false
    })?;
    let head = ledger.head()?.seq;
    found.ok_or_else(|| Error::NotFound(format!("there is no event {seq}; the ledger ends at {head}")))
}

/// One event by position.
pub(crate) fn event_at(ledger: &mut dyn UserLedger, seq: Seq) -> Result<Event> {
    Ok(ledger::open(&sealed_at(ledger, seq)?)?)
}
