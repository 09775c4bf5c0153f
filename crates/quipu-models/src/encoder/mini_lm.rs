use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock, OnceLock};

use quipu_engine::ports::embedder::{EmbedError, Embedded, Embedder, EmbeddingModel};

use crate::encoder::basis::Basis;
use crate::encoder::network::{Network, Pooling};
use crate::encoder::network_encoder::{Encoder, threads_default};
use crate::encoder::vocabulary::Vocabulary;
use crate::encoder::word_piece::WordPiece;
use crate::encoder::word_split::SplitRules;

static WEIGHTS: &[u8] = include_bytes!("../../assets/all-MiniLM-L6-v2/model.onnx");
/// 192 directions of 384 components each, little-endian; see `export/token_basis.py`.
static TOKEN_BASIS: &[u8] = include_bytes!("../../assets/all-MiniLM-L6-v2/token_basis.f32");
pub(crate) static VOCABULARY: &str = include_str!("../../assets/all-MiniLM-L6-v2/vocab.txt");

/// The network, loaded once for all users of it.
static NETWORK: LazyLock<Result<Arc<Network>, String>> =
    LazyLock::new(|| Network::from_static(WEIGHTS, Pooling::Mean).map(Arc::new));

/// The network of the built-in embedder.
///
/// # Errors
/// What is wrong with the embedded file.
pub(crate) fn network() -> Result<Arc<Network>, String> {
    NETWORK.clone()
}

/// all-MiniLM-L6-v2 in int8, with its weights in the binary. The default embedder.
///
/// Construction is free: the vocabulary is loaded with the first token count, and the weights with the first vector.
pub struct MiniLm {
    model: EmbeddingModel,
    threads: NonZeroUsize,
    tokenizer: OnceLock<Result<WordPiece, String>>,
    encoder: OnceLock<Result<Encoder, String>>,
}

impl MiniLm {
    /// The model on [`threads_default`] threads.
    #[must_use]
    pub fn new() -> Self {
        Self::with_threads(threads_default())
    }

    /// The model on `threads` threads, which share a batch. A single text runs on one thread.
    #[must_use]
    pub fn with_threads(threads: NonZeroUsize) -> Self {
        Self {
            model: EmbeddingModel {
                id: "all-MiniLM-L6-v2/int8-channel/v2".to_owned(),
                dimensions: 384,
                tokens_max: 256,
                english_only: true,
            },
            threads,
            tokenizer: OnceLock::new(),
            encoder: OnceLock::new(),
        }
    }

    /// Loads vocabulary and weights now instead of with the first text.
    ///
    /// # Errors
    /// `Model` if the embedded files are damaged.
    pub fn load(&self) -> Result<(), EmbedError> {
        self.tokenizer()?;
        self.encoder()?;
        Ok(())
    }

    fn tokenizer(&self) -> Result<&WordPiece, EmbedError> {
        self.tokenizer
            .get_or_init(|| WordPiece::new(Vocabulary::from_lines(VOCABULARY), SplitRules::uncased()))
            .as_ref()
            .map_err(|why| EmbedError::Model(why.clone()))
    }

    fn encoder(&self) -> Result<&Encoder, EmbedError> {
        self.encoder
            .get_or_init(|| {
                let encoder = Encoder::new(network()?, self.threads);
                Ok(encoder.with_token_basis(Basis::from_bytes(TOKEN_BASIS, self.model.dimensions)?))
            })
            .as_ref()
            .map_err(|why| EmbedError::Model(why.clone()))
    }
}

impl Default for MiniLm {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for MiniLm {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.encoder()?.embed(self.tokenizer()?, self.model.tokens_max, texts)
    }

    fn embed_tokens(&self, texts: &[&str]) -> Result<Vec<Embedded>, EmbedError> {
        self.encoder()?.embed_tokens(self.tokenizer()?, self.model.tokens_max, texts)
    }

    fn count_tokens(&self, text: &str) -> usize {
        // `embed` reports a damaged vocabulary. Until then this returns an upper bound of the count.
        self.tokenizer().map_or_else(|_| text.len() + 2, |tokenizer| tokenizer.count(text))
    }
}
