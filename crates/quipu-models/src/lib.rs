//! Embedding models that run in the process, language models at an endpoint, and rules that need no model.
//!
//! [`MiniLm`] is all-MiniLM-L6-v2, with its weights in the binary: nothing to download, nothing to configure.
//! [`ModelFolder`] runs another BERT-like encoder from files. [`HashedNgrams`] compares spelling instead of meaning;
//! it is for tests. [`CrossEncoder`] scores a question and a passage together. [`tokenizers`] count tokens as language
//! models do. [`RULES_EN`] are the English patterns that extract claims without a model; [`LearnedReader`] adds what a
//! trained network finds. [`language`] has the client
//! for language models, which [`ModelReader`] and [`ModelSummarizer`] use.
//!
//! The vector of a text does not depend on the rest of the batch or the number of threads. Processors with other
//! vector instructions may differ in the last bits.
//!
//! Remote embeddings and splitting of long texts are not included.
//!
//! ```
//! use quipu_engine::ports::embedder::Embedder;
//! use quipu_models::MiniLm;
//!
//! let embedder = MiniLm::new();
//! let vectors = embedder.embed(&["She adopted a greyhound.", "Her new pet is a dog.", "Rates rose again."])?;
//! let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
//! assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]));
//! # Ok::<(), quipu_engine::ports::embedder::EmbedError>(())
//! ```

pub(crate) mod encoder;
mod rule_extractor;
mod rule_summarizer;
mod rules;
mod tokenizers;

#[cfg(test)]
mod fixed;

mod learned_reader;

pub mod language;
mod model_naming;
mod model_reader;
mod model_reflector;
mod model_summarizer;

mod prompt;
mod refusals;

pub use encoder::cross_encoder::CrossEncoder;
pub use encoder::hashed_ngrams::HashedNgrams;
pub use encoder::mini_lm::MiniLm;
pub use encoder::model_folder::ModelFolder;
pub use encoder::network_encoder::threads_default;
pub use learned_reader::LearnedReader;
pub use model_reader::ModelReader;
pub use model_reflector::ModelReflector;
pub use model_summarizer::ModelSummarizer;
pub use prompt::{CHAT, Prompt};
pub use rule_extractor::RuleExtractor;
pub use rule_summarizer::RuleSummarizer;
pub use rules::RULES_EN;
pub use tokenizers::tokenizers;
