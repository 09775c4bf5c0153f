//! An embedder that counts its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quipu_engine::ports::{EmbedError, Embedded, Embedder, EmbeddingModel};

/// Forwards every call to another embedder and counts it.
pub struct CountingEmbedder {
    inner: Arc<dyn Embedder>,
    calls: AtomicU64,
    texts: AtomicU64,
}

impl CountingEmbedder {
    /// Counts the calls to `inner`.
    pub fn new(inner: Arc<dyn Embedder>) -> Self {
        Self { inner, calls: AtomicU64::new(0), texts: AtomicU64::new(0) }
    }

    /// Calls of `embed` so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Texts embedded so far.
    pub fn texts(&self) -> u64 {
        self.texts.load(Ordering::SeqCst)
    }
}

impl Embedder for CountingEmbedder {
    fn model(&self) -> &EmbeddingModel {
        self.inner.model()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.texts.fetch_add(texts.len() as u64, Ordering::SeqCst);
        self.inner.embed(texts)
    }

    fn embed_tokens(&self, texts: &[&str]) -> Result<Vec<Embedded>, EmbedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.texts.fetch_add(texts.len() as u64, Ordering::SeqCst);
        self.inner.embed_tokens(texts)
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.inner.count_tokens(text)
    }
}
