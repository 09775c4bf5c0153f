//! The ports of a test engine, apart from the store.

use std::sync::Arc;

use quipu_engine::ports::{Extractor, LedgerStore, Reflector, Reranker, Summarizer, Vault, WindowReader};
use quipu_engine::{Engine, EngineParts, EngineRules, OptionalParts};
use quipu_models::HashedNgrams;

use crate::counting_embedder::CountingEmbedder;
use crate::fixed_clock::FixedClock;
use crate::seeded_entropy::SeededEntropy;

/// Clock, random generator and embedder of a test. Engines made from one value share them, as after a restart.
#[derive(Clone)]
pub struct TestEngine {
    /// The clock.
    pub clock: Arc<FixedClock>,
    /// The random generator.
    pub entropy: Arc<SeededEntropy>,
    /// Compares spelling; counts its calls.
    pub embedder: Arc<CountingEmbedder>,
    /// Extractor of facts, if any.
    pub extractor: Option<Arc<dyn Extractor>>,
    /// Summarizer, if any.
    pub summarizer: Option<Arc<dyn Summarizer>>,
    /// Reader of windows, if any.
    pub reader: Option<Arc<dyn WindowReader>>,
    /// Reflector, if any.
    pub reflector: Option<Arc<dyn Reflector>>,
    /// Reranker, if any.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Store of plain files, if any.
    pub vault: Option<Arc<dyn Vault>>,
}

impl TestEngine {
    /// Creates the ports, with a seeded random generator.
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

    /// An engine over a store, with the built-in categories.
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

/// An engine over a store with a fixed clock, seeded random numbers and [`HashedNgrams`].
pub fn engine(store: Box<dyn LedgerStore>) -> Engine {
    TestEngine::new(1).engine(store)
}
