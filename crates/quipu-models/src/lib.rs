//! Models: for embedding, in process; for language, behind an endpoint; and rules, which are none.
//!
//! [`MiniLm`] is all-MiniLM-L6-v2 with its weights inside the binary: nothing to download, nothing to configure.
//! [`ModelFolder`] runs another BERT-like encoder from files. [`HashedNgrams`] compares spelling, not meaning, and costs
//! nothing; it is for tests. [`CrossEncoder`] reads a question and a passage together. [`tokenizers`] count what language
//! models charge for. [`RULES_EN`] is no model: the patterns by which claims are read without one. [`language`] is a language
//! model behind an endpoint, [`ModelReader`] and [`ModelSummarizer`] ask one; [`fake`] is a server with every fault.
//!
//! The same text gives the same bits whatever else is in the batch and however many threads there are. Processors with
//! other vector instructions may differ in the last bits.
//!
//! Not here: remote embeddings, splitting of long texts.
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

mod cross_encoder;
mod mini_lm;
mod model_folder;
mod rule_extractor;
mod rule_summarizer;
mod rules;
mod tokenizers;

mod basis;
mod encoder;
#[cfg(test)]
mod fixed;
mod network;
mod vocabulary;
mod word_piece;
mod word_split;

mod hashed_ngrams;

pub mod language;
mod model_naming;
mod model_reader;
mod model_reflector;
mod model_summarizer;

mod prompt;
mod refusals;
mod remarks;

pub mod fake;
pub mod self_test;

pub use cross_encoder::CrossEncoder;
pub use encoder::threads_default;
pub use hashed_ngrams::HashedNgrams;
pub use mini_lm::MiniLm;
pub use model_folder::ModelFolder;
pub use model_reader::ModelReader;
pub use model_reflector::ModelReflector;
pub use model_summarizer::ModelSummarizer;
pub use prompt::{CHAT, Prompt};
pub use remarks::{RemarkPiece, RemarkReader};
pub use rule_extractor::RuleExtractor;
pub use rule_summarizer::RuleSummarizer;
pub use rules::RULES_EN;
pub use tokenizers::tokenizers;
