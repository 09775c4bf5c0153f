//! Putting the concrete parts together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu::Components;
use quipu::system::{SystemClock, SystemEntropy};
use quipu_core::id::UserId;
use quipu_core::predicate::Predicates;
use quipu_core::reconcile::Policy;
use quipu_engine::keys::Keys;
use quipu_engine::ports::{Embedder, Extractor, LanguageModel, Reflector, Reranker, Summarizer, WindowReader};
use quipu_engine::{Engine, EngineRules, Error, OptionalParts, Result};
use quipu_models::language::{ModelUsage, RemoteModel};
use quipu_models::{
    CrossEncoder, MiniLm, ModelFolder, ModelReader, ModelReflector, ModelSummarizer, RuleExtractor, RuleSummarizer,
};
use quipu_sqlite::SqliteKeys;
use quipu_vault::{FolderVault, KeyFile};

use crate::settings::{ModelRole, Settings};

/// Opens an engine over the data folder of the settings.
pub(crate) fn open(settings: &Settings) -> Result<Engine> {
    open_in(&settings.data_dir, settings)
}

/// Opens an engine over a given folder.
pub(crate) fn open_in(folder: &Path, settings: &Settings) -> Result<Engine> {
    open_with(folder, settings, &book(folder, settings))
}

/// The same, with the book that what models cost is written in.
pub(crate) fn open_with(folder: &Path, settings: &Settings, book: &Arc<ModelUsage>) -> Result<Engine> {
    let embedder = embedder(settings)?;
    let engine = quipu::open_engine(
        folder,
        Components {
            embedder: embedder.clone(),
            clock: Arc::new(SystemClock { fixed: settings.now }),
            entropy: Arc::new(SystemEntropy),
            extractor: Some(extractor(settings, embedder)),
            summarizer: Some(summarizer(settings, book)?),
            rules: EngineRules {
                policy: Policy { keep_sensitive: settings.keep_sensitive, ..Policy::default() },
                sessions: settings.sessions.clone(),
                ..EngineRules::default()
            },
            optional: OptionalParts {
                tokenizers: quipu_models::tokenizers(),
                reader: reader_of(settings, book)?,
                reflector: reflector(settings, book)?,
                reranker: reranker(settings)?,
                vault: Some(Arc::new(FolderVault::new(vault_folder(folder, settings)))),
                artifacts: settings.artifacts.on,
            },
        },
    )?;
    engine.set_profiles(settings.profiles.clone());
    Ok(engine)
}

/// Reads offline: rules, and remarks unless the settings switch them off.
fn extractor(settings: &Settings, embedder: Arc<dyn Embedder>) -> Arc<dyn Extractor> {
    if settings.remarks { Components::default_extractor(embedder) } else { Arc::new(RuleExtractor::english()) }
}

/// Where plain files go: beside the memories unless another place is set for these memories.
pub(crate) fn vault_folder(folder: &Path, settings: &Settings) -> PathBuf {
    let chosen = settings.artifacts.folder.clone().filter(|_| folder == settings.data_dir);
    chosen.unwrap_or_else(|| folder.join("vault"))
}

/// The key this data folder signs with.
pub(crate) fn signer(settings: &Settings) -> KeyFile {
    KeyFile::new(settings.data_dir.join("signing.key"), Arc::new(SystemEntropy))
}

/// The keys of the data folder.
pub(crate) fn keys(settings: &Settings) -> Result<Keys> {
    let store = SqliteKeys::open(&settings.data_dir)?;
    Ok(Keys::new(Arc::new(store), Arc::new(SystemClock { fixed: settings.now }), Arc::new(SystemEntropy)))
}

/// What is spent on models today; beside the memories, so that it outlives the command.
pub(crate) fn book(folder: &Path, settings: &Settings) -> Arc<ModelUsage> {
    Arc::new(ModelUsage::in_file(Arc::new(SystemClock { fixed: settings.now }), &folder.join("models.json")))
}

/// The model of a role, if it is configured. Nobody is contacted yet.
pub(crate) fn model(settings: &Settings, book: &Arc<ModelUsage>, role: ModelRole) -> Result<Option<Arc<RemoteModel>>> {
    let Some(set) = settings.models.iter().find(|set| set.role == role) else { return Ok(None) };
    let model = RemoteModel::new(role.as_str(), set.endpoint.clone(), book.clone(), Arc::new(SystemEntropy));
    let wrong = |error| Error::Invalid(format!("[models.{}]: {error}", role.as_str()));
    Ok(Some(Arc::new(model.map_err(wrong)?)))
}

/// The rules, or the configured model with the rules beside it.
fn summarizer(settings: &Settings, book: &Arc<ModelUsage>) -> Result<Arc<dyn Summarizer>> {
    Ok(match model(settings, book, ModelRole::Summarizer)? {
        Some(model) => Arc::new(ModelSummarizer::new(model)),
        None => Arc::new(RuleSummarizer),
    })
}

/// The configured model that looks back, if there is one.
fn reflector(settings: &Settings, book: &Arc<ModelUsage>) -> Result<Option<Arc<dyn Reflector>>> {
    let model = model(settings, book, ModelRole::Reflector)?;
    Ok(model.map(|model| Arc::new(ModelReflector::new(model)) as Arc<dyn Reflector>))
}

/// The configured model that reads, if there is one.
fn reader_of(settings: &Settings, book: &Arc<ModelUsage>) -> Result<Option<Arc<dyn WindowReader>>> {
    let Some(model) = model(settings, book, ModelRole::Extractor)? else { return Ok(None) };
    let model: Arc<dyn LanguageModel> = model;
    Ok(Some(Arc::new(ModelReader::new(model, &Predicates::default_registry()))))
}

/// The built-in model, read when it is first needed, or the one in a folder of the user's.
pub(crate) fn embedder(settings: &Settings) -> Result<Arc<dyn Embedder>> {
    match &settings.model_dir {
        Some(folder) => Ok(Arc::new(ModelFolder::open(folder, quipu_models::threads_default())?)),
        None => Ok(Arc::new(MiniLm::new())),
    }
}

/// The cross-encoder in a folder of the user's, if there is one.
fn reranker(settings: &Settings) -> Result<Option<Arc<dyn Reranker>>> {
    let Some(folder) = &settings.reranker_dir else { return Ok(None) };
    Ok(Some(Arc::new(CrossEncoder::open(folder, quipu_models::threads_default())?)))
}

/// The user to read from: the one named, else the default one; if that has no memory and exactly one user has, that.
pub(crate) fn reader(engine: &Engine, settings: &Settings) -> Result<UserId> {
    if settings.user_named.is_some() {
        return Ok(settings.user.clone());
    }
    let users = quipu_engine::users(engine)?;
    if users.contains(&settings.user) {
        return Ok(settings.user.clone());
    }
    match users.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Error::NotFound(
            "nothing is remembered here yet; try `quipu demo`, `quipu add` or `quipu import`".to_owned(),
        )),
        many => {
            let names: Vec<&str> = many.iter().map(UserId::as_str).take(10).collect();
            Err(Error::Invalid(format!("whose memory? give -u with one of: {}", names.join(", "))))
        }
    }
}
