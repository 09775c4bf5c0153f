//! Turns text into a vector whose direction carries its meaning.

use thiserror::Error;

/// Which embedder made a vector. Stored with every index: vectors of two models are never compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// Names weights, quantisation and pooling together, e.g. `all-MiniLM-L6-v2/int8-channel/v2`.
    pub id: String,
    /// Length of every vector.
    pub dimensions: usize,
    /// Longest input in the model's own tokens. Longer texts must be split by the caller.
    pub tokens_max: usize,
}

/// Why a text could not be embedded.
#[derive(Debug, Error)]
pub enum EmbedError {
    /// The model's files are missing, damaged or not what their description says.
    #[error("the embedding model cannot be used: {0}")]
    Model(String),
    /// The model failed on this input; trying the same input again will fail again.
    #[error("the embedding model failed: {0}")]
    Run(String),
    /// A remote model did not answer in time or refused; trying again may help.
    #[error("the embedding model is unavailable: {0}")]
    Unavailable(String),
}

/// Turns texts into unit vectors, in process or remotely.
///
/// The same text gives the same vector, whatever else is in the batch.
pub trait Embedder: Send + Sync {
    /// What made these vectors.
    fn model(&self) -> &EmbeddingModel;

    /// One vector of length 1 for each text, in order.
    ///
    /// A text over [`EmbeddingModel::tokens_max`] is cut there: split it first, see [`Embedder::count_tokens`].
    ///
    /// # Errors
    /// Any [`EmbedError`]; then no vector is returned.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// How many of the model's tokens the text takes, special tokens included.
    fn count_tokens(&self, text: &str) -> usize;
}
