//! The engine: the ports it was given, and the memories it keeps open.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use quipu_core::Memory;
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
use crate::memory::{Catalog, Followed, MemoryRef, OpenLimits, OpenMemory, SharedMemory, Totals, precondition};
use crate::ports::{
    Clock, Embedder, Entropy, Extractor, LedgerStore, Reflector, Reranker, Summarizer, Tokenizer, Vault, WindowReader,
};
use crate::process::deadline::DeadlineWorkers;

/// What an engine is made of.
pub struct EngineParts {
    /// Where ledgers live.
    pub store: Box<dyn LedgerStore>,
    /// What turns text into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The dice.
    pub entropy: Arc<dyn Entropy>,
    /// What reads facts out of what is said; without one only the words are kept.
    pub extractor: Option<Arc<dyn Extractor>>,
    /// What tells the exchanges of a session; without one they stay unsummarised.
    pub summarizer: Option<Arc<dyn Summarizer>>,
    /// What may be recorded, and how it is judged.
    pub rules: EngineRules,
    /// What it can do without.
    pub optional: OptionalParts,
}

/// What makes an engine better and is not needed.
#[derive(Default)]
pub struct OptionalParts {
    /// Count what a pack costs, the first unless another is named. Without one it is estimated.
    pub tokenizers: Vec<Arc<dyn Tokenizer>>,
    /// Reads what the extractor has read once more, better and slower: a language model. Nobody waits for it but
    /// [`extract_with_model`](crate::process::extract_with_model()) and [`process`](crate::process::pipeline()).
    pub reader: Option<Arc<dyn WindowReader>>,
    /// Looks back and proposes notes, beside the rules: a language model. Nobody waits for it but
    /// [`reflect`](crate::growth::reflect()) and [`tend`](crate::process::maintain()).
    pub reflector: Option<Arc<dyn Reflector>>,
    /// Orders the best answers anew.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Where plain files go. What is erased leaves them too, so it is given even where they are not kept level.
    pub vault: Option<Arc<dyn Vault>>,
    /// Keep plain files level with what is recorded.
    pub artifacts: bool,
}

/// What may be recorded, and how it is judged. The default is what comes with Quipu.
#[derive(Debug, Default)]
pub struct EngineRules {
    /// The categories of the core document.
    pub registry: Registry,
    /// What relations mean.
    pub predicates: Predicates,
    /// The knobs of writing.
    pub policy: Policy,
    /// The knobs of session memory.
    pub sessions: SessionOptions,
    /// The knobs of growing.
    pub growth: GrowthOptions,
    /// How much is kept open.
    pub open_limits: OpenLimits,
}

/// A memory engine over one store. Every verb takes it by reference; it may be shared between threads.
pub struct Engine {
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
    /// Random id of this engine among those that share a store: who holds a lease.
    holder: OnceLock<u64>,
    profiles: RwLock<Arc<Profiles>>,
    memories: Catalog,
}

impl Engine {
    /// True if a language model reads what was said.
    pub fn reads_with_model(&self) -> bool {
        self.optional.reader.is_some()
    }

    /// What relations mean.
    pub fn predicates(&self) -> &Predicates {
        &self.predicates
    }

    /// Puts the parts together. Nothing is read before the first verb.
    pub fn new(parts: EngineParts) -> Self {
        Self {
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
            holder: OnceLock::new(),
            profiles: RwLock::new(Rank::Detail, Arc::default()),
            memories: Catalog::new(parts.rules.open_limits),
        }
    }

    /// The store, for doctor and backup tools.
    pub fn store(&self) -> &dyn LedgerStore {
        self.store.as_ref()
    }

    /// Other profiles from now on, for recalls that begin later.
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

    /// Loads what is loaded at first use, so that the first question does not wait for it: a model's buffers, the tables of a
    /// tokenizer. A model that fails here fails again when it is needed, and is told of then.
    pub fn warm_up(&self) {
        const TEXT: &str = "What was said?";
        if let Some(tokenizer) = self.optional.tokenizers.first() {
            tokenizer.count(TEXT);
        }
        let _ = self.embedder.embed_tokens(&[TEXT]);
    }

    /// The memory of a user, as it is now, whoever appended last. A user without one has an empty memory that is kept nowhere.
    ///
    /// # Errors
    /// `Unavailable` and `Corrupt` as the store says.
    pub(crate) fn open<'a>(&self, of: impl Into<MemoryRef<'a>>) -> Result<OpenMemory> {
        let of = of.into();
        match self.opened(of, false) {
            Err(Error::NotFound(_)) => Ok(OpenMemory::new(Arc::new(SharedMemory::absent(self, of.user)), of.version)),
            outcome => outcome,
        }
    }

    /// The memory of a user who has one.
    ///
    /// # Errors
    /// As [`open`](Self::open); `NotFound` without one.
    pub(crate) fn open_existing<'a>(&self, of: impl Into<MemoryRef<'a>>) -> Result<OpenMemory> {
        self.opened(of.into(), false)
    }

    /// The memory of a user; makes an empty one if there is none.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn open_or_create<'a>(&self, of: impl Into<MemoryRef<'a>>) -> Result<OpenMemory> {
        self.opened(of.into(), true)
    }

    fn opened(&self, of: MemoryRef<'_>, create: bool) -> Result<OpenMemory> {
        let Some(ledger) = of.ledger else { return self.opened_any(of, create) };
        // One ledger is meant, so none is made.
        let found = self.opened_any(of, false).and_then(|open| Ok((open.first_event()?, open)));
        match found {
            // What is open stays a memory of this ledger: should it be removed from here on, nothing can be appended to it.
            Ok((Some(first), open)) if first == ledger => Ok(open),
            Ok(_) | Err(Error::NotFound(_) | Error::Conflict(_)) => Err(precondition::another_ledger(of.user)),
            Err(other) => Err(other),
        }
    }

    fn opened_any(&self, of: MemoryRef<'_>, create: bool) -> Result<OpenMemory> {
        for _ in 0..=limit::CONFLICT_RETRIES_MAX {
            let opened = self.memories.get_or_open(of.user, || SharedMemory::open(self, of.user, create));
            let (memory, is_new) = match opened {
                // Deleted and made anew while it was read.
                Err(Error::Conflict(_)) => continue,
                outcome => outcome?,
            };
            // One that was just read is level.
            if is_new || memory.follow(self)? == Followed::Level {
                self.memories.disconnect_surplus(of.user);
                return Ok(OpenMemory::new(memory, of.version));
            }
            self.memories.forget(&memory);
        }
        Err(Error::Conflict(format!("the memory of user {} is removed again and again; try again", of.user)))
    }

    /// The memories that are open, as they are held now.
    pub(crate) fn open_memories(&self) -> Vec<Arc<SharedMemory>> {
        self.memories.all()
    }

    /// Users whose memory is open: those that commands since the start were about.
    pub fn users_in_use(&self) -> Vec<UserId> {
        self.memories.users()
    }

    /// The version of each memory that is open. Nothing is opened and no ledger is read, so what other processes appended since
    /// the memory was last used is not seen.
    pub fn open_versions(&self) -> Vec<(UserId, Seq)> {
        self.memories.versions()
    }

    /// Lets go of a user's memory unless an operation uses it just now; the next one reads it again.
    pub fn let_go(&self, user: &UserId) {
        self.memories.forget_if_idle(user);
    }

    /// True if plain files are kept level with what is recorded.
    pub fn keeps_artifacts(&self) -> bool {
        self.optional.artifacts && self.optional.vault.is_some()
    }

    /// Lets go of a user's memory; the next verb reads it again.
    pub(crate) fn forget_open(&self, user: &UserId) {
        self.memories.forget_user(user);
    }

    pub(crate) fn totals(&self) -> &Arc<Totals> {
        self.memories.totals()
    }

    /// Who this engine is among those that share a store.
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

    /// Gives a source a random id of its kind.
    pub(crate) fn name(&self, source: &mut Source) {
        source.id = self.new_item_id(source.id.kind);
    }

    /// A random id.
    pub(crate) fn new_item_id(&self, kind: ItemKind) -> ItemId {
        let mut random = [0u8; 8];
        self.entropy.fill(&mut random);
        ItemId { kind, bits: u64::from_le_bytes(random) }
    }

    /// Where a person's decisions are worked out.
    pub(crate) fn desk<'a>(&'a self, memory: &'a Memory) -> DecisionContext<'a> {
        DecisionContext { memory, predicates: &self.predicates, registry: &self.registry, now: self.now() }
    }

    /// The time, as it is recorded.
    pub fn now(&self) -> Timestamp {
        quipu_core::time::to_micros(self.clock.now())
    }
}
