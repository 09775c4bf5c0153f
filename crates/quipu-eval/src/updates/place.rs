//! A test engine over a temporary folder, with a manual clock and seeded random numbers.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use quipu::Components;
use quipu_engine::ports::{Clock, Embedder, Entropy};
use quipu_engine::{Engine, EngineRules, Error, OptionalParts, Result};
use quipu_models::RuleExtractor;

use super::super::worlds::WorldRng;
use crate::temporary_folder;

/// An engine whose ledgers follow from the seed alone.
pub(crate) struct SeededEngine {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) engine: Engine,
    pub(crate) extractor: Arc<RuleExtractor>,
    clock: Arc<StoryClock>,
}

impl SeededEngine {
    pub(crate) fn make(seed: u64, embedder: Arc<dyn Embedder>) -> Result<Self> {
        let folder = temporary_folder()?;
        let clock = Arc::new(StoryClock(AtomicI64::new(0)));
        let extractor = Arc::new(RuleExtractor::english());
        let components = Components {
            embedder,
            clock: clock.clone(),
            entropy: Arc::new(StoryDice(Mutex::new(WorldRng::new(seed)))),
            extractor: Some(extractor.clone()),
            summarizer: None,
            rules: EngineRules::default(),
            optional: OptionalParts::default(),
        };
        let engine = quipu::open_engine(&folder.path().join("data"), components)?;
        Ok(Self { folder, engine, extractor, clock })
    }

    /// Sets the clock.
    pub(crate) fn put(&self, now: Timestamp) {
        self.clock.0.store(now.as_microsecond(), Ordering::Relaxed);
    }

    /// Writes a file to import.
    pub(crate) fn file(&self, name: &str, content: &str) -> Result<std::path::PathBuf> {
        let path = Path::new(self.folder.path()).join(name);
        std::fs::write(&path, content)
            .map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", path.display())))?;
        Ok(path)
    }
}

struct StoryClock(AtomicI64);

impl Clock for StoryClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.0.load(Ordering::Relaxed)).unwrap_or_default()
    }
}

struct StoryDice(Mutex<WorldRng>);

impl Entropy for StoryDice {
    fn fill(&self, bytes: &mut [u8]) {
        let mut dice = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            let bits = dice.roll().to_le_bytes();
            chunk.iter_mut().zip(bits).for_each(|(byte, random)| *byte = random);
        }
    }
}
