//! A user's open memory: its ledger, the state readers see, and how it follows events of other processes.

use std::cell::Cell;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use quipu_core::event::{Change, Event};
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger;
use quipu_core::recall::DerivedIndex;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::GlanceCache;
use crate::growth::reflect::ReflectionCursorState;
use crate::lock::{Mutex, MutexGuard, Rank, ReadGuard, RwLock, WriteGuard};
use crate::memory::absent::AbsentLedger;
use crate::memory::catalog::Totals;
use crate::memory::shown_texts::ShownTexts;
use crate::memory::watched::{Watched, holds, made_anew};
use crate::memory::{Freshness, State, Writer, commit, fold, index};
use crate::ports::{Head, LedgerStore, StoreError, WatchEvent};
use crate::process::extract_with_model::ModelCursorState;
use crate::process::maintain::Maintained;
use crate::process::unread::ReadCursorState;
use crate::read::hits::PendingHits;
use crate::sessions::summarize::SessionLocks;
use crate::write::novelty::Values;
use crate::write::origins::Origins;

/// Events of other processes that are applied in one step.
const FOLLOWED_AT_ONCE: Seq = 1024;

/// Result of following a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followed {
    /// Readers see every acknowledged event.
    Level,
    /// The ledger was removed, so this memory is no longer valid.
    Removed,
}

/// A user's open memory, shared by all operations on it. See [`crate::lock`] for the order of its locks.
pub(crate) struct SharedMemory {
    user: UserId,
    store: Arc<dyn LedgerStore>,
    /// True if the user has no memory: it is empty, and nothing can be appended.
    is_absent: bool,
    pub(super) writer: Mutex<Writer>,
    state: RwLock<State>,
    watched: Mutex<Watched>,
    /// Id of the first event, which identifies the ledger; loaded on demand.
    first_event: OnceLock<EventId>,
    /// The version readers see.
    level: AtomicU64,
    /// The newest event appended by this process.
    appended: AtomicU64,
    /// When the store was last asked for events of other processes, in microseconds since 1970.
    asked_at: AtomicI64,
    /// Estimated size in bytes.
    bytes: AtomicUsize,
    is_connected: AtomicBool,
    totals: Arc<Totals>,
    /// Texts of recent recalls; when they are echoed in a message, they are not extracted as news.
    pub(super) shown: Mutex<ShownTexts>,
    /// Hits that are not recorded yet.
    pub(crate) shown_items: PendingHits,
    /// Vectors of values, for novelty checks.
    pub(crate) values: Values,
    /// Up to where sources have been read by the extractor.
    pub(crate) unread: ReadCursorState,
    /// Up to where the language model has read.
    pub(crate) studied: ModelCursorState,
    /// Up to where a model has reflected.
    pub(crate) reflected: ReflectionCursorState,
    /// Locks on the summaries of sessions.
    pub(crate) sessions: SessionLocks,
    /// Events by origin.
    pub(crate) origins: Origins,
    /// Cache of the rendered pages.
    pub(crate) glanced: GlanceCache,
    /// Held while plain files are written.
    pub(crate) files: Mutex<()>,
    /// Held while a model is called about this memory.
    pub(crate) turns: Turns,
    /// Time of the last maintenance.
    pub(crate) maintained: Maintained,
}

/// Locks that limit maintenance and each kind of model call to one thread at a time.
pub(crate) struct Turns {
    pub(crate) maintain: Mutex<()>,
    pub(crate) extract: Mutex<()>,
    pub(crate) reflect: Mutex<()>,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            maintain: Mutex::new(Rank::Maintenance, ()),
            extract: Mutex::new(Rank::Turn, ()),
            reflect: Mutex::new(Rank::Turn, ()),
        }
    }
}

/// A user's memory as used by one operation, with the version its caller expects.
pub(crate) struct OpenMemory {
    shared: Arc<SharedMemory>,
    expected: Cell<Option<Seq>>,
}

impl Deref for OpenMemory {
    type Target = SharedMemory;

    fn deref(&self) -> &SharedMemory {
        &self.shared
    }
}

impl OpenMemory {
    pub(crate) fn new(shared: Arc<SharedMemory>, expected: Option<Seq>) -> Self {
        Self { shared, expected: Cell::new(expected) }
    }

    /// The open memory that all operations share.
    pub(crate) fn shared(&self) -> &Arc<SharedMemory> {
        &self.shared
    }

    /// The version the memory must have at the first append of the operation.
    pub(crate) fn expected(&self) -> Option<Seq> {
        self.expected.get()
    }

    /// Clears the expected version after the first append, since later appends follow from it.
    pub(crate) fn met(&self) {
        self.expected.set(None);
    }
}

impl SharedMemory {
    /// Reads a user's memory from the store.
    pub(crate) fn open(engine: &Engine, user: &UserId, create: bool) -> Result<Self> {
        let asked_at = engine.clock.now().as_microsecond();
        let mut ledger = engine.store.open(user, create).map_err(|error| match error {
            StoreError::NotFound(_) => missing(user),
            other => other.into(),
        })?;
        let mut watch = engine.store.watch(user)?;
        // Checked before the ledger is read, so that later appends are noticed at the next check.
        if let WatchEvent::Changed(head) = watch.look()?
            && !holds(ledger.as_mut(), head)?
        {
            return Err(made_anew(user));
        }
        let newest = ledger.head()?;
        let head = newest.seq;
        let history = fold::read_history(ledger.as_mut(), head)?;
        let memory = fold::fold_to(ledger.as_mut(), user, &history, head)?;
        let index = index::load(engine, ledger.as_mut(), &memory)?;
        let snapshot_seq = ledger.snapshots()?.last().copied().unwrap_or(0);
        let details = Details {
            unread: ReadCursorState::load(ledger.as_mut(), head)?,
            studied: ModelCursorState::load(ledger.as_mut(), head)?,
            shown_items: PendingHits::load(ledger.as_mut(), head)?,
            reflected: ReflectionCursorState::load(ledger.as_mut(), head)?,
            maintained: Maintained::load(ledger.as_mut(), head)?,
        };
        let state = State { derived: DerivedIndex::of(memory.items()), memory, history, index };
        let writer = Writer { ledger, snapshot_seq };
        let watched = Watched::on(watch, newest);
        let opened = Self::new(engine, user, state, writer, watched, details);
        opened.asked_at.store(asked_at, Ordering::Release);
        Ok(opened)
    }

    /// The memory of a user without one.
    pub(crate) fn absent(engine: &Engine, user: &UserId) -> Self {
        let writer = Writer { ledger: Box::new(AbsentLedger::new(user)), snapshot_seq: 0 };
        Self::new(engine, user, State::empty(engine, user), writer, Watched::none(), Details::default())
    }

    fn new(engine: &Engine, user: &UserId, state: State, writer: Writer, watched: Watched, details: Details) -> Self {
        let (level, bytes) = (state.memory.seq(), state.bytes());
        let is_absent = watched.is_none();
        let totals = engine.totals().clone();
        totals.bytes.fetch_add(bytes, Ordering::Relaxed);
        totals.connected.fetch_add(usize::from(!is_absent), Ordering::Relaxed);
        Self {
            user: user.clone(),
            store: engine.store.clone(),
            is_absent,
            writer: Mutex::new(Rank::Writer, writer),
            state: RwLock::new(Rank::State, state),
            watched: Mutex::new(Rank::Watch, watched),
            first_event: OnceLock::new(),
            level: AtomicU64::new(level),
            appended: AtomicU64::new(0),
            asked_at: AtomicI64::new(i64::MIN),
            bytes: AtomicUsize::new(bytes),
            is_connected: AtomicBool::new(!is_absent),
            totals,
            shown: Mutex::new(Rank::Detail, ShownTexts::default()),
            shown_items: details.shown_items,
            values: Values::default(),
            unread: details.unread,
            studied: details.studied,
            reflected: details.reflected,
            sessions: SessionLocks::default(),
            origins: Origins::default(),
            glanced: GlanceCache::default(),
            files: Mutex::new(Rank::Files, ()),
            turns: Turns::default(),
            maintained: details.maintained,
        }
    }

    pub(crate) fn user(&self) -> &UserId {
        &self.user
    }

    /// The version readers see.
    pub(crate) fn level(&self) -> Seq {
        self.level.load(Ordering::Acquire)
    }

    /// Returns true if the user has no memory.
    pub(crate) fn is_absent(&self) -> bool {
        self.is_absent
    }

    /// Locks the ledger for one step; opens it again if it was closed.
    ///
    /// # Errors
    /// `NotFound` if the user was deleted meanwhile, `Conflict` if the user was also created again; otherwise as the
    /// store.
    pub(crate) fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        let mut writer = self.writer.lock();
        if !self.is_absent && !self.is_connected.load(Ordering::Acquire) {
            let mut ledger = self.store.open(&self.user, false).map_err(|error| self.gone(error))?;
            let level = {
                let state = self.read();
                Head { seq: state.memory.seq(), hash: state.memory.head() }
            };
            if !holds(ledger.as_mut(), level)? {
                return Err(made_anew(&self.user));
            }
            writer.ledger = ledger;
            self.is_connected.store(true, Ordering::Release);
            self.totals.connected.fetch_add(1, Ordering::Relaxed);
        }
        Ok(writer)
    }

    fn gone(&self, error: StoreError) -> Error {
        match error {
            StoreError::NotFound(_) | StoreError::Removed(_) => missing(&self.user),
            other => other.into(),
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Acquire)
    }

    /// Closes the ledger and its watch, unless either is in use. They are opened again when needed.
    pub(crate) fn disconnect_if_idle(&self) {
        let (Some(mut writer), Some(mut watched)) = (self.writer.try_lock(), self.watched.try_lock()) else { return };
        self.disconnect(&mut writer, &mut watched);
    }

    fn disconnect(&self, writer: &mut Writer, watched: &mut Watched) {
        *watched = Watched::none();
        writer.ledger = Box::new(AbsentLedger::new(&self.user));
        if self.is_connected.swap(false, Ordering::AcqRel) {
            self.totals.connected.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Closes the ledger of a user who is being deleted, so that nothing more is appended.
    pub(crate) fn close(&self, writer: &mut Writer) {
        self.disconnect(writer, &mut self.watched.lock());
    }

    /// Id of the first event; `None` without events. The ledger is read once.
    ///
    /// # Errors
    /// Any error of the store.
    pub(crate) fn first_event(&self) -> Result<Option<EventId>> {
        if self.first_event.get().is_none() && self.level.load(Ordering::Acquire) > 0 {
            let id = fold::sealed_at(self.writer()?.ledger.as_mut(), 1)?.id;
            let _ = self.first_event.set(id);
        }
        Ok(self.first_event.get().copied())
    }

    /// Locks the state for reading. Nothing slow may be done while the guard is held.
    pub(crate) fn read(&self) -> ReadGuard<'_, State> {
        self.state.read()
    }

    /// Locks the state for writing. The caller must hold the writer.
    pub(crate) fn write(&self) -> WriteGuard<'_, State> {
        self.state.write()
    }

    /// Replaces the state that readers see.
    pub(crate) fn publish(&self, state: State) {
        let (seq, bytes) = (state.memory.seq(), state.bytes());
        *self.write() = state;
        self.level.store(seq, Ordering::Release);
        self.set_bytes(bytes);
    }

    /// Records that readers see version `seq`, and that the memory has grown by `by` bytes.
    pub(crate) fn grown(&self, seq: Seq, by: usize) {
        self.level.store(seq, Ordering::Release);
        self.set_bytes(self.bytes() + by);
    }

    /// Records that events of this process are not visible yet, so that the next operation follows the ledger.
    pub(crate) fn not_shown(&self) {
        self.appended.store(0, Ordering::Release);
    }

    /// Records that this process has appended up to `seq`.
    pub(crate) fn note_appended(&self, seq: Seq) {
        self.appended.fetch_max(seq, Ordering::AcqRel);
    }

    /// Estimated size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn set_bytes(&self, bytes: usize) {
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        if bytes >= before {
            self.totals.bytes.fetch_add(bytes - before, Ordering::Relaxed);
        } else {
            self.totals.bytes.fetch_sub(before - bytes, Ordering::Relaxed);
        }
    }

    /// Returns true if readers see what a request requires, without asking the store for new events.
    pub(crate) fn is_fresh(&self, engine: &Engine, required: &Freshness) -> bool {
        if required.max_staleness.is_zero() || required.min_version.is_some_and(|wanted| wanted > self.level()) {
            return false;
        }
        let age = engine.clock.now().as_microsecond().saturating_sub(self.asked_at.load(Ordering::Acquire));
        // A clock that was set back makes the age unknown.
        u64::try_from(age).is_ok_and(|age| u128::from(age) <= required.max_staleness.as_micros())
    }

    /// Applies events that another process has appended, if any.
    ///
    /// Without new events this costs some microseconds and waits for no append: events of this process are folded in by
    /// their writer before they are acknowledged.
    pub(crate) fn follow(&self, engine: &Engine) -> Result<Followed> {
        let asked_at = engine.clock.now().as_microsecond();
        let followed = self.follow_now(engine)?;
        if followed == Followed::Level {
            self.asked_at.store(asked_at, Ordering::Release);
        }
        Ok(followed)
    }

    fn follow_now(&self, engine: &Engine) -> Result<Followed> {
        if self.is_absent {
            return Ok(Followed::Level);
        }
        let (head, is_checked) = match self.watched.lock().look(self.store.as_ref(), &self.user) {
            Ok(Some(looked)) => looked,
            Ok(None) | Err(StoreError::NotFound(_) | StoreError::Removed(_)) => return Ok(Followed::Removed),
            Err(other) => return Err(other.into()),
        };
        let is_behind =
            head.seq > self.level.load(Ordering::Acquire) && head.seq > self.appended.load(Ordering::Acquire);
        if !is_behind && is_checked {
            return Ok(Followed::Level);
        }
        let mut writer = match self.writer() {
            Err(Error::NotFound(_) | Error::Conflict(_)) => return Ok(Followed::Removed),
            outcome => outcome?,
        };
        if !is_checked {
            match holds(writer.ledger.as_mut(), head) {
                Ok(true) => self.watched.lock().checked(),
                Ok(false) | Err(Error::NotFound(_)) => return Ok(Followed::Removed),
                Err(other) => return Err(other),
            }
        }
        match self.catch_up(engine, &mut writer) {
            Ok(()) => Ok(Followed::Level),
            Err(Error::NotFound(_)) => Ok(Followed::Removed),
            Err(other) => Err(other),
        }
    }

    /// Applies the events of the ledger that readers do not see yet. The memory is read again only if one of them is a
    /// control event.
    pub(crate) fn catch_up(&self, engine: &Engine, writer: &mut Writer) -> Result<()> {
        loop {
            let head = writer.ledger.head().map_err(|error| self.gone(error))?.seq;
            let (seq, hash) = {
                let state = self.read();
                (state.memory.seq(), state.memory.head())
            };
            if head == seq {
                return Ok(());
            }
            let mut events = Vec::new();
            let mut is_plain = head > seq;
            let last = head.min(seq + FOLLOWED_AT_ONCE);
            writer.ledger.read(seq + 1..=last, &mut |event| {
                is_plain &= !event.control && ledger::is_intact(&event) && event.seq == seq + 1 + events.len() as Seq;
                events.push(event);
                is_plain
            })?;
            is_plain &= events.len() as Seq == last.saturating_sub(seq);
            let opened: Vec<Event> = if is_plain {
                events.iter().map(ledger::open).collect::<std::result::Result<_, _>>()?
            } else {
                Vec::new()
            };
            if !is_plain || opened.first().is_none_or(|first| first.header.prev != hash) {
                // These events may contain unread sources, so they are marked before they can be counted as read.
                self.unread.owe(seq.min(head), head);
                commit::reload(engine, self, writer)?;
                // After the new state is published, so that later cache entries are based on it.
                self.forget_texts();
                return Ok(());
            }
            if let Some(first) = opened.iter().find(|event| records_words(event)) {
                self.unread.owe(first.header.seq - 1, last);
            }
            commit::fold_in(engine, self, writer, &events)?;
            index::adopt_saved(engine, self, writer)?;
        }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        self.set_bytes(0);
        if self.is_connected.swap(false, Ordering::AcqRel) {
            self.totals.connected.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The cursors stored beside a ledger.
#[derive(Default)]
struct Details {
    unread: ReadCursorState,
    studied: ModelCursorState,
    shown_items: PendingHits,
    reflected: ReflectionCursorState,
    maintained: Maintained,
}

/// Returns true if an event records a source.
fn records_words(event: &Event) -> bool {
    event.changes.iter().flatten().any(|change| matches!(change, Change::SourceRecorded(_)))
}

fn missing(user: &UserId) -> Error {
    Error::NotFound(format!("there is no memory of user {user} yet; `quipu add` or `quipu import` starts one"))
}
