//! The ports of an engine besides its store.

use std::sync::Arc;

use quipu_engine::ports::{Extractor, LedgerStore, Reflector, Reranker, Summarizer, Vault, WindowReader};
use quipu_engine::{Engine, EngineParts, EngineRules, OptionalParts};
use quipu_models::HashedNgrams;

use crate::counting_embedder::CountingEmbedder;
use crate::fixed_clock::FixedClock;
use crate::seeded_entropy::SeededEntropy;

/// Clock, dice and embedder of a test. Engines made by one rig go on with its time and its dice, as restarts would.
#[derive(Clone)]
pub struct TestEngine {
    /// The time.
    pub clock: Arc<FixedClock>,
    /// The dice.
    pub entropy: Arc<SeededEntropy>,
    /// Compares spelling; counts what it is asked.
    pub embedder: Arc<CountingEmbedder>,
    /// Reads facts, if the test wants that.
    pub extractor: Option<Arc<dyn Extractor>>,
    /// Tells exchanges, if the test wants that.
    pub summarizer: Option<Arc<dyn Summarizer>>,
    /// Reads windows, if the test wants that.
    pub reader: Option<Arc<dyn WindowReader>>,
    /// Looks back, if the test wants that.
    pub reflector: Option<Arc<dyn Reflector>>,
    /// Orders answers anew, if the test wants that.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Where plain files go, if the test wants that.
    pub vault: Option<Arc<dyn Vault>>,
}

impl TestEngine {
    /// A rig whose dice start at a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            clock: Arc::new(FixedClock::new()),
            entropy: Arc::new(SeededEntropy::new(seed)),
            embedder: Arc::new(CountingEmbedder::new(Arc::new(HashedNgrams::new()))),
            extractor: None,
            summarizer: None,
            reader: None,
            reflector: None,
            reranker: None,
            vault: None,
        }
    }

    /// An engine over a store, with the categories that come with Quipu.
    pub fn engine(&self, store: Box<dyn LedgerStore>) -> Engine {
        Engine::new(EngineParts {
            store,
            embedder: self.embedder.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            extractor: self.extractor.clone(),
            summarizer: self.summarizer.clone(),
            rules: EngineRules::default(),
            optional: OptionalParts {
                reader: self.reader.clone(),
                reflector: self.reflector.clone(),
                reranker: self.reranker.clone(),
                vault: self.vault.clone(),
                ..OptionalParts::default()
            },
        })
    }
}

/// An engine over a store with a fixed clock, seeded dice and [`HashedNgrams`].
pub fn engine(store: Box<dyn LedgerStore>) -> Engine {
    TestEngine::new(1).engine(store)
}
