//! Options for opening a memory, and the components of its engine.

use std::path::Path;
use std::sync::Arc;

use quipu_encryption::EncryptedStore;
use quipu_engine::ports::{Clock, Embedder, Entropy, Extractor, LedgerStore, Summarizer};
use quipu_engine::{Engine, EngineParts, EngineRules, OptionalParts, Result};
use quipu_models::{LearnedReader, MiniLm, RuleExtractor, RuleSummarizer};
use quipu_sqlite::SqliteStore;

use crate::system::{SystemClock, SystemEntropy};

/// The components of an engine, apart from its folder. The default is the configuration of `quipu` itself.
pub struct Components {
    /// Turns text into vectors. Default: the built-in MiniLM model, loaded on first use.
    pub embedder: Arc<dyn Embedder>,
    /// Extracts facts from messages; `None` stores the messages only. Default: the English rules, and remarks.
    pub extractor: Option<Arc<dyn Extractor>>,
    /// Summarizes sessions; `None` leaves them without summaries. Default: rules.
    pub summarizer: Option<Arc<dyn Summarizer>>,
    /// The source of the time. Default: the system clock.
    pub clock: Arc<dyn Clock>,
    /// The source of random bytes. Default: the operating system's generator.
    pub entropy: Arc<dyn Entropy>,
    /// The rules for admitting and scoring items.
    pub rules: EngineRules,
    /// Language models, a reranker and plain files. Default: the tokenizers only.
    pub optional: OptionalParts,
}

impl Components {
    /// The default extractor: rules, and the trained reader where no rule matches.
    pub fn default_extractor() -> Arc<dyn Extractor> {
        Arc::new(LearnedReader::new(RuleExtractor::english()))
    }
}

impl Default for Components {
    fn default() -> Self {
        let embedder: Arc<dyn Embedder> = Arc::new(MiniLm::new());
        Self {
            extractor: Some(Self::default_extractor()),
            embedder,
            summarizer: Some(Arc::new(RuleSummarizer)),
            clock: Arc::new(SystemClock::of_machine()),
            entropy: Arc::new(SystemEntropy),
            rules: EngineRules::default(),
            optional: OptionalParts { tokenizers: quipu_models::tokenizers(), ..OptionalParts::default() },
        }
    }
}

/// Options of [`Memory::open_with`](crate::Memory::open_with).
pub struct OpenOptions {
    /// The user whose memory is opened. Default: `me`.
    pub user: String,
    /// The components of the engine.
    pub components: Components,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { user: "me".to_owned(), components: Components::default() }
    }
}

/// Opens an engine over a data folder and creates the folder if it does not exist. Nothing is encrypted; for an encrypted
/// folder, pass an `EncryptedStore` of `quipu-encryption` to [`open_engine_on`].
///
/// # Errors
/// `Unavailable` if the folder cannot be created, read or locked; `Corrupt` if it was written by a newer Quipu.
pub fn open_engine(folder: &Path, components: Components) -> Result<Engine> {
    let store = SqliteStore::open(folder, quipu_sqlite::StoreOptions::default())?;
    Ok(open_engine_on(Box::new(EncryptedStore::off(Box::new(store))), components))
}

/// Opens an engine over any store, such as one of `quipu-postgres`.
pub fn open_engine_on(store: Box<dyn LedgerStore>, components: Components) -> Engine {
    Engine::new(EngineParts {
        store,
        embedder: components.embedder,
        clock: components.clock,
        entropy: components.entropy,
        extractor: components.extractor,
        summarizer: components.summarizer,
        rules: components.rules,
        optional: components.optional,
    })
}
