//! An extractor that counts what it reads, and dies when a test wants it to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use quipu_core::extract::{Extraction, Reading};
use quipu_engine::ports::{ExtractError, Extractor};

/// Hands every text on to another extractor, until it dies.
pub struct FailingExtractor<E> {
    inner: E,
    read: Mutex<Vec<String>>,
    /// Texts it still reads.
    left: AtomicU64,
}

impl<E: Extractor> FailingExtractor<E> {
    /// Reads everything with `inner`.
    pub fn new(inner: E) -> Self {
        Self { inner, read: Mutex::default(), left: AtomicU64::new(u64::MAX) }
    }

    /// Panics from now on after so many texts, as a process that ends would.
    pub fn die_after(&self, texts: u64) {
        self.left.store(texts, Ordering::SeqCst);
    }

    /// The texts that were read since this was last asked.
    pub fn take_read(&self) -> Vec<String> {
        std::mem::take(&mut *self.read.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<E: Extractor> Extractor for FailingExtractor<E> {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        let left = self.left.load(Ordering::SeqCst);
        assert!(left > 0, "the extractor was to die here");
        self.left.store(left - 1, Ordering::SeqCst);
        self.read.lock().unwrap_or_else(PoisonError::into_inner).push(reading.text.to_owned());
        self.inner.read(reading)
    }
}
