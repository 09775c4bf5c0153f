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

/// A text's vector with those of its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// Of length 1.
    pub vector: Vec<f32>,
    /// The tokens in order, start and end token left out. Empty if the model hands out none.
    pub tokens: Vec<Token>,
}

/// One token of a text, in its place: the same word has another vector in another sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The word it is a piece of, as the model's tokenizer sees it.
    pub word: String,
    /// Of any length.
    pub vector: Vec<f32>,
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

    /// As [`Embedder::embed`], with the vectors of the tokens where the model has them.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    fn embed_tokens(&self, texts: &[&str]) -> Result<Vec<Embedded>, EmbedError> {
        let vectors = self.embed(texts)?;
        Ok(vectors.into_iter().map(|vector| Embedded { vector, tokens: Vec::new() }).collect())
    }

    /// How many of the model's tokens the text takes, special tokens included.
    fn count_tokens(&self, text: &str) -> usize;
}
