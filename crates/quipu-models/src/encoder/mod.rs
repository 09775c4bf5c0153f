//! Embedding and reranking models that run in process, and their tokenization.

pub(crate) mod basis;
pub(crate) mod cross_encoder;
pub(crate) mod hashed_ngrams;
pub(crate) mod mini_lm;
pub(crate) mod model_folder;
pub(crate) mod network;
pub(crate) mod network_encoder;
pub(crate) mod token_classifier;
pub(crate) mod vocabulary;
pub(crate) mod word_piece;
pub(crate) mod word_split;
