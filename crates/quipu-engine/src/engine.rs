//! The engine: the ports it was given, and the memories it keeps open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::core_document::Registry;
use quipu_core::growth::Knobs;
use quipu_core::id::{EventId, ItemId, ItemKind, UserId};
use quipu_core::limit;
use quipu_core::predicate::Predicates;
use quipu_core::recall::Profiles;
use quipu_core::session::SessionOptions;
use quipu_core::source::Source;
use quipu_core::writing::{Desk, Policy};

use crate::error::Result;
use crate::keeper::Keeper;
use crate::late::Late;
use crate::ports::{
    Clock, Embedder, Entropy, Extractor, LedgerStore, Reflector, Reranker, Summarizer, Tokenizer, Vault,
};

/// What an engine is made of.
pub struct Parts {
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
    pub rules: Rules,
    /// What it can do without.
    pub aids: Aids,
}

/// What makes an engine better and is not needed.
#[derive(Default)]
pub struct Aids {
    /// Count what a pack costs, the first unless another is named. Without one it is estimated.
    pub tokenizers: Vec<Arc<dyn Tokenizer>>,
    /// Reads what the extractor has read once more, better and slower: a language model. Nobody waits for it but
    /// [`study`](crate::study()) and [`catch_up`](crate::catch_up()).
    pub reader: Option<Arc<dyn Extractor>>,
    /// Looks back and proposes notes, beside the rules: a language model. Nobody waits for it but
    /// [`reflect`](crate::reflect()) and [`tend`](crate::tend()).
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
pub struct Rules {
    /// The categories of the core document.
    pub registry: Registry,
    /// What relations mean.
    pub predicates: Predicates,
    /// The knobs of writing.
    pub policy: Policy,
    /// The knobs of session memory.
    pub sessions: SessionOptions,
    /// The knobs of growing.
    pub growth: Knobs,
}

/// A memory engine over one store. Every verb takes it by reference; it may be shared between threads.
pub struct Engine {
    pub(crate) store: Box<dyn LedgerStore>,
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) registry: Registry,
    pub(crate) extractor: Option<Arc<dyn Extractor>>,
    pub(crate) predicates: Predicates,
    pub(crate) policy: Policy,
    pub(crate) summarizer: Option<Arc<dyn Summarizer>>,
    pub(crate) sessions: SessionOptions,
    pub(crate) growth: Knobs,
    pub(crate) aids: Aids,
    pub(crate) late: Late,
    profiles: RwLock<Arc<Profiles>>,
    open: Mutex<Open>,
}

/// The memories in use, with the turn at which each was last asked for.
#[derive(Default)]
struct Open {
    keepers: HashMap<UserId, (Arc<Keeper>, u64)>,
    /// Memories that are being opened: who else wants one waits for its lock, and for no other.
    opening: HashMap<UserId, Arc<Mutex<()>>>,
    turn: u64,
}

impl Engine {
    /// Puts the parts together. Nothing is read before the first verb.
    pub fn new(parts: Parts) -> Self {
        Self {
            store: parts.store,
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
            aids: parts.aids,
            late: Late::default(),
            profiles: RwLock::default(),
            open: Mutex::default(),
        }
    }

    /// The store, for doctor and backup tools.
    pub fn store(&self) -> &dyn LedgerStore {
        self.store.as_ref()
    }

    /// Other profiles from now on, for recalls that begin later.
    pub fn set_profiles(&self, profiles: Profiles) {
        *self.profiles.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(profiles);
    }

    /// The profiles in use.
    pub fn profiles(&self) -> Arc<Profiles> {
        // Replaced whole, so a panic elsewhere leaves one or the other.
        self.profiles.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The embedder in use.
    pub fn embedder(&self) -> &dyn Embedder {
        self.embedder.as_ref()
    }

    /// Loads what is loaded at first use, so that the first question does not wait for it: a model's buffers, the tables of a
    /// tokenizer. A model that fails here fails again when it is needed, and is told of then.
    pub fn warm_up(&self) {
        const TEXT: &str = "What was said?";
        if let Some(tokenizer) = self.aids.tokenizers.first() {
            tokenizer.count(TEXT);
        }
        let _ = self.embedder.embed_tokens(&[TEXT]);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // A panic elsewhere leaves the map itself whole.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open memory of a user; reads it from the store the first time.
    pub(crate) fn keeper(&self, user: &UserId, create: bool) -> Result<Arc<Keeper>> {
        if let Some(keeper) = self.in_use(user) {
            return Ok(keeper);
        }
        // Only who wants this memory waits while it is read or made.
        let opening = self.open().opening.entry(user.clone()).or_default().clone();
        let _first = opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keeper) = self.in_use(user) {
            return Ok(keeper);
        }
        let opened = Keeper::open(self, user, create).map(Arc::new);
        let mut open = self.open();
        open.opening.remove(user);
        let keeper = opened?;
        let turn = open.turn;
        // Who waited behind a failure may have been as fast: there is one open memory of a user, the first.
        if let Some((first, _)) = open.keepers.get(user) {
            return Ok(first.clone());
        }
        open.keepers.insert(user.clone(), (keeper.clone(), turn));
        evict(&mut open, user);
        Ok(keeper)
    }

    /// The memory of a user, if it is open.
    fn in_use(&self, user: &UserId) -> Option<Arc<Keeper>> {
        let mut open = self.open();
        open.turn += 1;
        let turn = open.turn;
        let (keeper, last) = open.keepers.get_mut(user)?;
        *last = turn;
        Some(keeper.clone())
    }

    /// The memories that are open, as they are held now.
    pub(crate) fn open_keepers(&self) -> Vec<Arc<Keeper>> {
        self.open().keepers.values().map(|(keeper, _)| keeper.clone()).collect()
    }

    /// Users whose memory is open: those that commands since the start were about.
    pub fn users_in_use(&self) -> Vec<UserId> {
        let mut users: Vec<UserId> = self.open().keepers.keys().cloned().collect();
        users.sort();
        users
    }

    /// True if plain files are kept level with what is recorded.
    pub fn keeps_artifacts(&self) -> bool {
        self.aids.artifacts && self.aids.vault.is_some()
    }

    /// Lets go of a user's memory; the next verb reads it again.
    pub(crate) fn forget_open(&self, user: &UserId) {
        self.open().keepers.remove(user);
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
    pub(crate) fn desk<'a>(&'a self, memory: &'a Memory) -> Desk<'a> {
        Desk { memory, predicates: &self.predicates, registry: &self.registry, now: self.now() }
    }

    /// The time, as it is recorded.
    pub(crate) fn now(&self) -> Timestamp {
        quipu_core::time::to_micros(self.clock.now())
    }
}

/// Lets go of the least recently used memories beyond the bound; one that is in use stays.
fn evict(open: &mut Open, keep: &UserId) {
    let mut total: usize = open.keepers.values().map(|(keeper, _)| keeper.bytes()).sum();
    while total > limit::ACTIVE_BYTES_MAX {
        let idle = |(user, (keeper, last)): (&UserId, &(Arc<Keeper>, u64))| {
            (user != keep && Arc::strong_count(keeper) == 1).then(|| (*last, user.clone(), keeper.bytes()))
        };
        let Some((_, user, bytes)) = open.keepers.iter().filter_map(idle).min() else { return };
        open.keepers.remove(&user);
        total -= bytes.min(total);
    }
}
