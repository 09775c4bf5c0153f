//! The engine: its ports and its open memories.

use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use jiff::tz::Offset;
use quipu_core::Memory;
use quipu_core::calendar::TimeExpression;
use quipu_core::core_document::Registry;
use quipu_core::growth::GrowthOptions;
use quipu_core::id::{EventId, ItemId, ItemKind, Seq, UserId};
use quipu_core::limit;
use quipu_core::predicate::Predicates;
use quipu_core::recall::Profiles;
use quipu_core::reconcile::{DecisionContext, Policy};
use quipu_core::session::SessionOptions;
use quipu_core::source::Source;

use crate::error::{Error, Result};
use crate::lock::{Rank, RwLock};
use crate::memory::{
    Catalog, Followed, Freshness, LeaseKeeper, MemoryRef, OpenLimits, OpenMemory, SharedMemory, Totals, precondition,
};
use crate::ports::{
    Clock, DocumentReader, Embedder, Entropy, Extractor, LedgerStore, Reflector, Reranker, Summarizer, Tokenizer,
    Vault, WindowReader,
};
use crate::process::deadline::DeadlineWorkers;

/// The parts of an engine.
pub struct EngineParts {
    /// Where ledgers are stored.
    pub store: Box<dyn LedgerStore>,
    /// Turns text into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Source of the time.
    pub clock: Arc<dyn Clock>,
    /// Source of random numbers.
    pub entropy: Arc<dyn Entropy>,
    /// Reads facts from text. Without one only the text is stored.
    pub extractor: Option<Arc<dyn Extractor>>,
    /// Summarises the exchanges of a session. Without one they stay unsummarised.
    pub summarizer: Option<Arc<dyn Summarizer>>,
    /// What may be recorded, and how it is judged.
    pub rules: EngineRules,
    /// Optional ports and switches.
    pub optional: OptionalParts,
}

/// Optional parts that improve an engine.
#[derive(Default)]
pub struct OptionalParts {
    /// Tokenizers that measure packs; the first is the default. Without one the count is estimated.
    pub tokenizers: Vec<Arc<dyn Tokenizer>>,
    /// A language model that reads again what the extractor has read: better, but slower. It is used only by
    /// [`extract_with_model`](crate::extract_with_model()) and [`process`](crate::process()).
    pub reader: Option<Arc<dyn WindowReader>>,
    /// A language model that proposes notes, in addition to the rules. It is used only by
    /// [`reflect`](crate::reflect()) and [`maintain`](crate::maintain()).
    pub reflector: Option<Arc<dyn Reflector>>,
    /// Reads documents of other programs, for imports.
    pub documents: Option<Arc<dyn DocumentReader>>,
    /// Reorders the best answers.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Where plain files are written. Erasure also changes these files, so it is set even if they are not kept up to
    /// date.
    pub vault: Option<Arc<dyn Vault>>,
    /// Keeps plain files up to date with the ledger.
    pub artifacts: bool,
}

/// What may be recorded, and how it is judged. The default is the built-in rules.
#[derive(Debug, Default)]
pub struct EngineRules {
    /// The categories of the core document.
    pub registry: Registry,
    /// Meanings of predicates.
    pub predicates: Predicates,
    /// Options of writing.
    pub policy: Policy,
    /// Options of session memory.
    pub sessions: SessionOptions,
    /// Options of schema evolution and consolidation.
    pub growth: GrowthOptions,
    /// Limits on open memories.
    pub open_limits: OpenLimits,
}

/// A memory engine over one store. Verbs take it by reference; it can be shared between threads. A clone shares the
/// open memories.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<EngineState>,
    /// How current the memories must be that its operations use.
    freshness: Freshness,
}

/// The state that all clones of an engine share.
pub struct EngineState {
    pub(crate) store: Arc<dyn LedgerStore>,
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) registry: Registry,
    pub(crate) extractor: Option<Arc<dyn Extractor>>,
    pub(crate) predicates: Predicates,
    pub(crate) policy: Policy,
    pub(crate) summarizer: Option<Arc<dyn Summarizer>>,
    pub(crate) sessions: SessionOptions,
    pub(crate) growth: GrowthOptions,
    pub(crate) optional: OptionalParts,
    pub(crate) late: DeadlineWorkers,
    /// Extends the leases that this engine holds.
    pub(crate) leases: LeaseKeeper,
    /// Random id of this engine among those that share a store; identifies the holder of a lease.
    holder: OnceLock<u64>,
    profiles: RwLock<Arc<Profiles>>,
    memories: Catalog,
}

impl Deref for Engine {
    type Target = EngineState;

    fn deref(&self) -> &EngineState {
        &self.shared
    }
}

impl Engine {
    /// Returns true if a language model reads what was said.
    pub fn reads_with_model(&self) -> bool {
        self.optional.reader.is_some()
    }

    /// Meanings of predicates.
    pub fn predicates(&self) -> &Predicates {
        &self.predicates
    }

    /// Creates an engine. Nothing is read before the first verb.
    pub fn new(parts: EngineParts) -> Self {
        let shared = EngineState {
            store: Arc::from(parts.store),
            embedder: parts.embedder,
            clock: parts.clock,
            entropy: parts.entropy,
            extractor: parts.extractor,
            registry: parts.rules.registry,
            predicates: parts.rules.predicates,
            policy: parts.rules.policy,
            summarizer: parts.summarizer,
            sessions: parts.rules.sessions,
            growth: parts.rules.growth,
            optional: parts.optional,
            late: DeadlineWorkers::default(),
            leases: LeaseKeeper::default(),
            holder: OnceLock::new(),
            profiles: RwLock::new(Rank::Detail, Arc::default()),
            memories: Catalog::new(parts.rules.open_limits),
        };
        Self { shared: Arc::new(shared), freshness: Freshness::default() }
    }

    /// This engine with other requirements on how current a memory must be. They hold for every operation on the
    /// returned engine, which shares everything else with this one.
    #[must_use]
    pub fn requiring(&self, freshness: Freshness) -> Self {
        Self { shared: Arc::clone(&self.shared), freshness }
    }

    /// The store, for doctor and backup tools.
    pub fn store(&self) -> &dyn LedgerStore {
        self.store.as_ref()
    }

    /// Replaces the profiles for recalls that begin later.
    pub fn set_profiles(&self, profiles: Profiles) {
        *self.profiles.write() = Arc::new(profiles);
    }

    /// The profiles in use.
    pub fn profiles(&self) -> Arc<Profiles> {
        self.profiles.read().clone()
    }

    /// The embedder in use.
    pub fn embedder(&self) -> &dyn Embedder {
        self.embedder.as_ref()
    }

    /// Loads what is otherwise loaded at first use, such as the embedding model and the tables of the tokenizer. Errors
    /// are ignored here; they recur at first use.
    pub fn warm_up(&self) {
        const TEXT: &str = "What was said?";
        if let Some(tokenizer) = self.optional.tokenizers.first() {
            tokenizer.count(TEXT);
        }
        let _ = self.embedder.embed_tokens(&[TEXT]);
    }

    /// Opens the current memory of a user, including events of other processes. A user without a memory gets an empty
    /// one that is not stored.
    ///
    /// # Errors
    /// `Unavailable` and `Corrupt` from the store.
    pub(crate) fn open<'a>(&self, of: impl Into<MemoryRef<'a>>) -> Result<OpenMemory> {
        let of = of.into();
        match self.opened(of, false) {
            Err(Error::NotFound(_)) => {
                self.freshness.check(of.user, 0)?;
                Ok(OpenMemory::new(Arc::new(SharedMemory::absent(self, of.user)), of.version))
            }
            outcome => outcome,
        }
    }

    /// Opens the memory of a user that has one.
    ///
    /// # Errors
    /// As [`open`](Self::open); `NotFound` if there is none.
    pub(crate) fn open_existing<'a>(&self, of: impl Into<MemoryRef<'a>>) -> Result<OpenMemory> {
        self.opened(of.into(), false)
    }

    /// Opens the memory of a user, or creates an empty one.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn open_or_create<'a>(&self, of: impl Into<MemoryRef<'a>>) -> Result<OpenMemory> {
        self.opened(of.into(), true)
    }

    /// The memory of a user, if it is open and an operation needs no more than to append to it. The store is not asked
    /// for new events: the append fails if there are any, and is then decided again.
    pub(crate) fn open_already(&self, of: MemoryRef<'_>) -> Option<OpenMemory> {
        let is_any = of.version.is_none() && of.ledger.is_none();
        let memory = is_any.then(|| self.memories.get(of.user)).flatten()?;
        self.freshness.check(of.user, memory.level()).ok()?;
        self.memories.disconnect_surplus(of.user);
        Some(OpenMemory::new(memory, None))
    }

    fn opened(&self, of: MemoryRef<'_>, create: bool) -> Result<OpenMemory> {
        let Some(ledger) = of.ledger else { return self.opened_any(of, create) };
        // The request names an existing ledger, so none is created.
        let found = self.opened_any(of, false).and_then(|open| Ok((open.first_event()?, open)));
        match found {
            // The open memory stays bound to this ledger: if the ledger is removed from now on, nothing can be
            // appended.
            Ok((Some(first), open)) if first == ledger => Ok(open),
            Ok(_) | Err(Error::NotFound(_) | Error::Conflict(_)) => Err(precondition::another_ledger(of.user)),
            Err(other) => Err(other),
        }
    }

    fn opened_any(&self, of: MemoryRef<'_>, create: bool) -> Result<OpenMemory> {
        for _ in 0..=limit::CONFLICT_RETRIES_MAX {
            let opened = self.memories.get_or_open(of.user, || SharedMemory::open(self, of.user, create));
            let (memory, is_new) = match opened {
                // Deleted and created again while it was read.
                Err(Error::Conflict(_)) => continue,
                outcome => outcome?,
            };
            // A memory that was just read is up to date.
            let is_current = is_new || memory.is_fresh(self, &self.freshness);
            if is_current || memory.follow(self)? == Followed::Level {
                self.freshness.check(of.user, memory.level())?;
                self.memories.disconnect_surplus(of.user);
                return Ok(OpenMemory::new(memory, of.version));
            }
            self.memories.forget(&memory);
        }
        Err(Error::Conflict(format!("the memory of user {} is removed again and again; try again", of.user)))
    }

    /// The open memories at this moment.
    pub(crate) fn open_memories(&self) -> Vec<Arc<SharedMemory>> {
        self.memories.all()
    }

    /// Users whose memory is open.
    pub fn users_in_use(&self) -> Vec<UserId> {
        self.memories.users()
    }

    /// The version of each open memory. No ledger is read, so later events of other processes are not included.
    pub fn open_versions(&self) -> Vec<(UserId, Seq)> {
        self.memories.versions()
    }

    /// How often a memory was read from the store since the start, because it was not open.
    pub fn memories_opened(&self) -> u64 {
        self.memories.totals().opened.load(Ordering::Relaxed)
    }

    /// Closes a user's memory unless an operation is using it; the next operation reads it again.
    pub fn let_go(&self, user: &UserId) {
        self.memories.forget_if_idle(user);
    }

    /// Returns true if plain files are kept up to date with the ledger.
    pub fn keeps_artifacts(&self) -> bool {
        self.optional.artifacts && self.optional.vault.is_some()
    }

    /// Closes a user's memory; the next verb reads it again.
    pub(crate) fn forget_open(&self, user: &UserId) {
        self.memories.forget_user(user);
    }

    pub(crate) fn totals(&self) -> &Arc<Totals> {
        self.memories.totals()
    }

    /// Id of this engine among those that share a store.
    pub(crate) fn holder(&self) -> u64 {
        *self.holder.get_or_init(|| {
            let mut random = [0u8; 8];
            self.entropy.fill(&mut random);
            u64::from_le_bytes(random)
        })
    }

    pub(crate) fn new_event_id(&self) -> EventId {
        let mut random = [0u8; 10];
        self.entropy.fill(&mut random);
        let millis = u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }

    /// Assigns a random id of its kind to a source.
    pub(crate) fn name(&self, source: &mut Source) {
        source.id = self.new_item_id(source.id.kind);
    }

    /// Allocates a random item id.
    pub(crate) fn new_item_id(&self, kind: ItemKind) -> ItemId {
        let mut random = [0u8; 8];
        self.entropy.fill(&mut random);
        ItemId { kind, bits: u64::from_le_bytes(random) }
    }

    /// Context in which a person's decisions are evaluated.
    pub(crate) fn desk<'a>(&'a self, memory: &'a Memory) -> DecisionContext<'a> {
        DecisionContext { memory, predicates: &self.predicates, registry: &self.registry, now: self.now() }
    }

    /// The current time, rounded as it is recorded.
    pub fn now(&self) -> Timestamp {
        quipu_core::calendar::to_micros(self.clock.now())
    }

    /// What a user's clock shows now, written as if it were UTC like the days that are stored: by it a task is overdue.
    /// In UTC if none of their newest messages came with an offset.
    ///
    /// # Errors
    /// As for every reading operation.
    pub fn local_now(&self, user: &UserId) -> Result<Timestamp> {
        Ok(self.local(&self.open(user)?.read().memory, self.now()))
    }

    /// What a user's clock shows at a moment.
    pub(crate) fn local(&self, memory: &Memory, at: Timestamp) -> Timestamp {
        quipu_core::calendar::local(at, self.offset_of(memory, at))
    }

    /// The UTC offset of a user's clock at a moment: that of their latest message that has one, or of the engine's
    /// clock if the message has got it from there or there is none.
    fn offset_of(&self, memory: &Memory, at: Timestamp) -> Offset {
        let own = memory.clock().filter(|(offset, said_at)| self.clock.utc_offset(*said_at) != Some(*offset));
        own.map_or_else(|| self.utc_offset(at), |(offset, _)| offset)
    }

    /// The time that a time as typed means now on a user's clock: when something ended.
    ///
    /// # Errors
    /// As [`time`](Self::time), and as for every reading operation.
    pub fn time_for(&self, user: &UserId, typed: TimeExpression) -> Result<Timestamp> {
        let now = self.now();
        let offset = self.offset_of(&self.open(user)?.read().memory, now);
        typed.shown(now, offset).map_err(Error::Invalid)
    }

    /// The moment that an optional time as typed means now on the user's clock: when something was said.
    ///
    /// # Errors
    /// As [`time_of`](Self::time_of).
    pub fn moment_of(&self, typed: Option<TimeExpression>) -> Result<Option<Timestamp>> {
        let offset = |at| self.utc_offset(at);
        typed.map(|typed| typed.moment(self.now(), &offset)).transpose().map_err(Error::Invalid)
    }

    /// The UTC offset of the engine's clock at a moment; none if it is unknown.
    pub(crate) fn utc_offset(&self, at: Timestamp) -> Offset {
        self.clock.utc_offset(at).unwrap_or(Offset::UTC)
    }

    /// The time that a time as typed means now on the user's clock, written as if it were UTC, as days are stored: when
    /// something holds.
    ///
    /// # Errors
    /// `Invalid` if it is outside of the years 1 to 9999.
    pub fn time(&self, typed: TimeExpression) -> Result<Timestamp> {
        let now = self.now();
        let shown = typed.shown(now, self.utc_offset(now)).map_err(Error::Invalid)?;
        // What was told just now is dated by its moment: west of Greenwich that is later than what the clock shows.
        let is_moment = matches!(typed, TimeExpression::Now | TimeExpression::Minutes(_));
        Ok(if is_moment { shown.max(typed.at(now).map_err(Error::Invalid)?) } else { shown })
    }

    /// As [`time`](Self::time), of an optional time.
    ///
    /// # Errors
    /// As [`time`](Self::time).
    pub fn time_of(&self, typed: Option<TimeExpression>) -> Result<Option<Timestamp>> {
        typed.map(|typed| self.time(typed)).transpose()
    }
}
