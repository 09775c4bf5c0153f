//! Counts what a text costs a language model.

/// The tokenizer of a family of language models.
pub trait Tokenizer: Send + Sync {
    /// What it is called where it comes from, e.g. `o200k_base`.
    fn name(&self) -> &str;

    /// Tokens of a text. The names of special tokens have no meaning inside it.
    fn count(&self, text: &str) -> usize;
}
