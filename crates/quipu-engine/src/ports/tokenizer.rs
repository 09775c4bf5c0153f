//! Port for counting the tokens of a text.

/// The tokenizer of a family of language models.
pub trait Tokenizer: Send + Sync {
    /// Published name, e.g. `o200k_base`.
    fn name(&self) -> &str;

    /// Number of tokens of a text. Names of special tokens are counted as plain text.
    fn count(&self, text: &str) -> usize;
}
