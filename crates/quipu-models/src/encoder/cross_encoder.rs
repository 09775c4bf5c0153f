//! A reranker from a folder, which reads a question and a passage together.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use quipu_engine::ports::{EmbedError, Reranker};

use crate::encoder::model_folder::Loaded;
use crate::encoder::network::Pooling;
use crate::encoder::network_encoder::Encoder;
use crate::encoder::word_piece::WordPiece;

/// A BERT-like cross-encoder with one output, such as `cross-encoder/ms-marco-MiniLM-L6-v2` exported to ONNX.
///
/// The folder has `model.onnx` and `tokenizer.json` or `vocab.txt`. A pair takes about as long as embedding a passage,
/// and 24 answers 24 times as long: set a deadline where that matters.
pub struct CrossEncoder {
    model: String,
    tokenizer: WordPiece,
    tokens_max: usize,
    encoder: Encoder,
}

impl CrossEncoder {
    /// Loads the model and scores one pair as a test.
    ///
    /// # Errors
    /// `Model`, naming the file, if a file is missing or cannot be parsed, the tokenizer is not WordPiece, or the
    /// graph does not return one number for a pair.
    pub fn open(folder: &Path, threads: NonZeroUsize) -> Result<Self, EmbedError> {
        Self::read(folder, threads).map_err(|why| EmbedError::Model(format!("{}: {why}", folder.display())))
    }

    fn read(folder: &Path, threads: NonZeroUsize) -> Result<Self, String> {
        let Loaded { hash, tokenizer, tokens_max, network } = Loaded::read(folder, Pooling::First)?;
        let made = Self {
            model: format!("folder/{hash}"),
            tokenizer,
            tokens_max,
            encoder: Encoder::new(Arc::new(network), threads),
        };
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
