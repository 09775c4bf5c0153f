//! Port for cross-encoders, which read a question and a passage together.

use super::EmbedError;

/// Scores how well passages answer a question; better and slower than comparing vectors.
pub trait Reranker: Send + Sync {
    /// Name of the weights.
    fn model(&self) -> &str;

    /// One score for each passage, in order; higher is better, on a model-specific scale.
    ///
    /// # Errors
    /// Any [`EmbedError`]; nothing is returned in that case.
    fn score(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError>;
}
