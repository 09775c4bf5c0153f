//! Reads a question and a passage together.

use super::EmbedError;

/// Judges how well passages answer a question, better and slower than vectors that know nothing of each other.
pub trait Reranker: Send + Sync {
    /// Names the weights.
    fn model(&self) -> &str;

    /// How well each passage answers, in order; higher is better, on a scale of its own.
    ///
    /// # Errors
    /// Any [`EmbedError`]; then nothing is returned.
    fn score(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError>;
}
