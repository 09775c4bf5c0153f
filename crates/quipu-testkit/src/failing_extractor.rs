//! An extractor that counts texts and panics on demand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use quipu_core::extract::{Extraction, Reading};
use quipu_engine::ports::{ExtractError, Extractor};

/// Forwards every text to another extractor until it panics.
pub struct FailingExtractor<E> {
    inner: E,
    read: Mutex<Vec<String>>,
    /// Number of texts left before it panics.
    left: AtomicU64,
}

impl<E: Extractor> FailingExtractor<E> {
    /// Wraps `inner`, without a limit.
    pub fn new(inner: E) -> Self {
        Self { inner, read: Mutex::default(), left: AtomicU64::new(u64::MAX) }
    }

    /// Panics after `texts` more texts, to simulate the end of the process.
    pub fn die_after(&self, texts: u64) {
        self.left.store(texts, Ordering::SeqCst);
    }

    /// The texts read since the last call.
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
