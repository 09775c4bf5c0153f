//! Ports to stores, models, time and randomness: per file a trait, its plain types and its error.

pub mod clock;
pub mod document_reader;
pub mod embedder;
pub mod extractor;
pub mod key_store;
pub mod language_model;
pub mod ledger_store;
pub mod model_watch;
pub mod reflector;
pub mod reranker;
pub mod server_registry;
pub mod signer;
pub mod store_error;
pub mod summarizer;
pub mod tokenizer;
pub mod user_keys;
pub mod vault;
pub mod window_reader;

pub use clock::{Clock, Entropy};
pub use document_reader::{Document, DocumentKind, DocumentReader, DocumentSection};
pub use embedder::{EmbedError, Embedded, Embedder, EmbeddingModel, Token};
pub use extractor::{ExtractError, Extractor};
pub use key_store::{KeyStore, Scope, StoredKey};
pub use language_model::{
    Completion, CompletionRequest, LanguageModel, Message, ModelError, PromptRole, Purpose, Shape, Usage,
};
pub use ledger_store::{
    BackupFile, Checkpoint, Head, KeyRotation, KeyUse, LeaseClaim, LeaseRequest, LedgerStore, LedgerWatch, Projection,
    ResealedChange, StoreServer, UserLedger, VectorKey, WatchEvent,
};
pub use model_watch::{ModelCall, ModelWatch};
pub use reflector::{Looked, NameProposed, ReflectError, ReflectionInput, Reflector, Unnamed};
pub use reranker::Reranker;
pub use server_registry::{AbandonedLease, RegisteredServer, ServerRecord, ServerRegistry};
pub use signer::{PublicKey, Signature, Signer};
pub use store_error::StoreError;
pub use summarizer::{SummarizeError, Summarizer, SummaryInput};
pub use tokenizer::Tokenizer;
pub use user_keys::{UserKeyId, UserKeyState, UserKeyStore, WrappedKey};
pub use vault::{FolderEntry, UserVault, Vault, VaultError};
pub use window_reader::WindowReader;
