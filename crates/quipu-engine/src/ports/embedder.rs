//! Port for text embedding.

use thiserror::Error;

/// Identifies an embedding model. Stored with every index, because vectors of different models cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// Identifies weights, quantisation and pooling, e.g. `all-MiniLM-L6-v2/int8-channel/v2`.
    pub id: String,
    /// Length of every vector.
    pub dimensions: usize,
    /// Longest input in tokens of the model. The caller must split longer texts.
    pub tokens_max: usize,
    /// True if it was trained on English alone: questions in other languages are then found by their words.
    pub english_only: bool,
}

/// Why a text could not be embedded.
#[derive(Debug, Error)]
pub enum EmbedError {
    /// The model's files are missing, damaged or inconsistent with their description.
    #[error("the embedding model cannot be used: {0}")]
    Model(String),
    /// The model failed on this input and will fail again.
    #[error("the embedding model failed: {0}")]
    Run(String),
    /// A remote model refused or did not answer in time; a retry may help.
    #[error("the embedding model is unavailable: {0}")]
    Unavailable(String),
}

/// The vector of a text, with those of its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// Unit length.
    pub vector: Vec<f32>,
    /// The tokens in order, without start and end token. Empty if the model does not provide them.
    pub tokens: Vec<Token>,
}

/// One token of a text. Its vector depends on the context.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The word that contains the token, according to the model's tokenizer.
    pub word: String,
    /// Not normalised.
    pub vector: Vec<f32>,
}

/// Turns texts into unit vectors, in process or remotely.
///
/// The vector of a text does not depend on the rest of the batch.
pub trait Embedder: Send + Sync {
    /// The model of the vectors.
    fn model(&self) -> &EmbeddingModel;

    /// Returns one unit vector for each text, in order.
    ///
    /// Texts longer than [`EmbeddingModel::tokens_max`] are truncated; see [`Embedder::count_tokens`].
    ///
    /// # Errors
    /// Any [`EmbedError`]; no vector is returned in that case.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// As [`Embedder::embed`], with the vectors of the tokens where the model has them.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    fn embed_tokens(&self, texts: &[&str]) -> Result<Vec<Embedded>, EmbedError> {
        let vectors = self.embed(texts)?;
        Ok(vectors.into_iter().map(|vector| Embedded { vector, tokens: Vec::new() }).collect())
    }

    /// Number of tokens of a text, special tokens included.
    fn count_tokens(&self, text: &str) -> usize;
}
