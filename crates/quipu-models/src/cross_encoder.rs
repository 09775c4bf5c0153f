//! A reranker from a folder: question and passage are read together.

use std::num::NonZeroUsize;
use std::path::Path;

use quipu_engine::ports::{EmbedError, Reranker};

use crate::encoder::Encoder;
use crate::model_folder::Loaded;
use crate::network::Pooling;
use crate::word_piece::WordPiece;

/// A BERT-like cross-encoder with one output, such as `cross-encoder/ms-marco-MiniLM-L6-v2` exported to ONNX.
///
/// The folder has `model.onnx` and `tokenizer.json` or `vocab.txt`. A pair costs as much as embedding a passage, so that 24
/// answers take about 24 times as long: give a deadline where that matters.
pub struct CrossEncoder {
    model: String,
    tokenizer: WordPiece,
    tokens_max: usize,
    encoder: Encoder,
}

impl CrossEncoder {
    /// Loads the folder's model and judges one pair with it.
    ///
    /// # Errors
    /// `Model`, naming the file: it is missing or not understood, the tokenizer is not WordPiece, or the graph does not give
    /// one number a pair.
    pub fn open(folder: &Path, threads: NonZeroUsize) -> Result<Self, EmbedError> {
        Self::read(folder, threads).map_err(|why| EmbedError::Model(format!("{}: {why}", folder.display())))
    }

    fn read(folder: &Path, threads: NonZeroUsize) -> Result<Self, String> {
        let Loaded { hash, tokenizer, tokens_max, network } = Loaded::read(folder, Pooling::First)?;
        let made =
            Self { model: format!("folder/{hash}"), tokenizer, tokens_max, encoder: Encoder::new(network, threads) };
        made.score("quipu", &["a knotted string"]).map_err(|why| format!("model.onnx: {why}"))?;
        Ok(made)
    }
}

impl Reranker for CrossEncoder {
    fn model(&self) -> &str {
        &self.model
    }

    fn score(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        self.encoder.judge(&self.tokenizer, self.tokens_max, question, passages)
    }
}
