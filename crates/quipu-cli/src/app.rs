//! Assembles the engine from its concrete components.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu::Components;
use quipu::system::SystemEntropy;
use quipu_core::id::UserId;
use quipu_core::predicate::Predicates;
use quipu_core::reconcile::Policy;
use quipu_encryption::EncryptedStore;
use quipu_engine::keys::Keys;
use quipu_engine::ports::{
    Embedder, Extractor, KeyStore, LanguageModel, LedgerStore, Reflector, Reranker, Summarizer, WindowReader,
};
use quipu_engine::{Engine, EngineRules, Error, OpenLimits, OptionalParts, Result};
use quipu_files::{FolderVault, KeyFile};
use quipu_models::language::{ModelUsage, RemoteModel};
use quipu_models::{
    CrossEncoder, MiniLm, ModelFolder, ModelReader, ModelReflector, ModelSummarizer, RuleExtractor, RuleSummarizer,
};
use quipu_postgres::{PostgresKeys, PostgresOptions};
use quipu_sqlite::{SqliteKeys, SqliteStore, StoreOptions};

use crate::document_process::DocumentProcess;
use crate::encryption;
use crate::settings::{ModelRole, Settings, StoreSetting};

/// Opens an engine on the data folder of the settings.
pub(crate) fn open(settings: &Settings) -> Result<Engine> {
    open_in(&settings.data_dir, settings)
}

/// Opens an engine on a folder.
pub(crate) fn open_in(folder: &Path, settings: &Settings) -> Result<Engine> {
    open_with(folder, settings, &model_usage(folder, settings))
}

/// Opens an engine on a folder, with the record of model usage.
pub(crate) fn open_with(folder: &Path, settings: &Settings, usage: &Arc<ModelUsage>) -> Result<Engine> {
    assemble(store(folder, settings)?, folder, settings, usage)
}

/// Opens an engine on a place other than the configured one. `folder` holds what is not in the store.
pub(crate) fn open_on(place: &StoreSetting, folder: &Path, settings: &Settings) -> Result<Engine> {
    let store = encryption::open_store(place, folder, &settings.encryption)?;
    assemble(store, folder, settings, &model_usage(folder, settings))
}

fn assemble(
    store: Box<dyn LedgerStore>,
    folder: &Path,
    settings: &Settings,
    usage: &Arc<ModelUsage>,
) -> Result<Engine> {
    let engine = quipu::open_engine_on(
        store,
        Components {
            embedder: embedder(settings)?,
            clock: Arc::new(settings.clock.clone()),
            entropy: Arc::new(SystemEntropy),
            extractor: Some(extractor(settings)),
            summarizer: Some(summarizer(settings, usage)?),
            rules: EngineRules {
                policy: Policy { keep_sensitive: settings.keep_sensitive, ..Policy::default() },
                sessions: settings.sessions.clone(),
                open_limits: OpenLimits { bytes_max: settings.open_memories_mib << 20, ..OpenLimits::default() },
                ..EngineRules::default()
            },
            optional: OptionalParts {
                tokenizers: quipu_models::tokenizers(),
                reader: reader_of(settings, usage)?,
                reflector: reflector(settings, usage)?,
                documents: Some(Arc::new(DocumentProcess)),
                reranker: reranker(settings)?,
                vault: Some(Arc::new(FolderVault::new(files_folder(folder, settings)))),
                artifacts: settings.artifacts.on,
            },
        },
    );
    engine.set_profiles(settings.profiles.clone());
    Ok(engine)
}

/// The store of a folder: for the data folder the one of the settings, for any other the folder itself, without encryption.
fn store(folder: &Path, settings: &Settings) -> Result<Box<dyn LedgerStore>> {
    if folder != settings.data_dir {
        let inner = SqliteStore::open(folder, StoreOptions::default())?;
        return Ok(Box::new(EncryptedStore::off(Box::new(inner))));
    }
    if settings.store != StoreSetting::Folder {
        create_folder(folder)?;
    }
    encryption::open_store(&settings.store, folder, &settings.encryption)
}

/// The ledgers of the settings.
pub(crate) fn ledgers(settings: &Settings) -> Result<Box<dyn LedgerStore>> {
    store(&settings.data_dir, settings)
}

/// Creates the data folder, accessible to its owner only. It holds plain files, the signing key and the record of model usage
/// whatever the store is.
pub(crate) fn create_folder(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let created = builder.create(folder);
    created.map_err(|error| Error::Unavailable(format!("cannot create the folder {}: {error}", folder.display())))
}

/// The offline extractor: rules, and remarks unless the settings disable them.
fn extractor(settings: &Settings) -> Arc<dyn Extractor> {
    if settings.remarks { Components::default_extractor() } else { Arc::new(RuleExtractor::english()) }
}

/// The folder for plain files: in the data folder, unless the settings name another one for it.
pub(crate) fn files_folder(folder: &Path, settings: &Settings) -> PathBuf {
    let chosen = settings.artifacts.folder.clone().filter(|_| folder == settings.data_dir);
    chosen.unwrap_or_else(|| folder.join("vault"))
}

/// The signing key of the data folder.
pub(crate) fn signer(settings: &Settings) -> KeyFile {
    KeyFile::new(settings.data_dir.join("signing.key"), Arc::new(SystemEntropy))
}

/// The access keys, which are beside the ledgers.
pub(crate) fn keys(settings: &Settings) -> Result<Keys> {
    let store = key_store(&settings.store, &settings.data_dir)?;
    Ok(Keys::new(store, Arc::new(settings.clock.clone()), Arc::new(SystemEntropy)))
}

/// The stored access keys of a place.
pub(crate) fn key_store(place: &StoreSetting, folder: &Path) -> Result<Arc<dyn KeyStore>> {
    Ok(match place {
        StoreSetting::Folder => Arc::new(SqliteKeys::open(folder)?),
        StoreSetting::Postgres(url) => Arc::new(PostgresKeys::open(url.secret(), PostgresOptions::default())?),
    })
}

/// Today's use of models, in a file of the folder.
pub(crate) fn model_usage(folder: &Path, settings: &Settings) -> Arc<ModelUsage> {
    Arc::new(ModelUsage::in_file(Arc::new(settings.clock.clone()), &folder.join("models.json")))
}

/// The model of a role, if it is configured. Makes no request.
pub(crate) fn model(settings: &Settings, usage: &Arc<ModelUsage>, role: ModelRole) -> Result<Option<Arc<RemoteModel>>> {
    let Some(set) = settings.models.iter().find(|set| set.role == role) else { return Ok(None) };
    let model = RemoteModel::new(role.as_str(), set.endpoint.clone(), usage.clone(), Arc::new(SystemEntropy));
    let wrong = |error| Error::Invalid(format!("[models.{}]: {error}", role.as_str()));
    Ok(Some(Arc::new(model.map_err(wrong)?)))
}

/// The configured model with the rules as a fallback, or the rules.
fn summarizer(settings: &Settings, usage: &Arc<ModelUsage>) -> Result<Arc<dyn Summarizer>> {
    Ok(match model(settings, usage, ModelRole::Summarizer)? {
        Some(model) => Arc::new(ModelSummarizer::new(model)),
        None => Arc::new(RuleSummarizer),
    })
}

/// The configured reflection model, if there is one.
fn reflector(settings: &Settings, usage: &Arc<ModelUsage>) -> Result<Option<Arc<dyn Reflector>>> {
    let model = model(settings, usage, ModelRole::Reflector)?;
    Ok(model.map(|model| Arc::new(ModelReflector::new(model)) as Arc<dyn Reflector>))
}

/// The configured extraction model, if there is one.
fn reader_of(settings: &Settings, usage: &Arc<ModelUsage>) -> Result<Option<Arc<dyn WindowReader>>> {
    let Some(model) = model(settings, usage, ModelRole::Extractor)? else { return Ok(None) };
    let model: Arc<dyn LanguageModel> = model;
    Ok(Some(Arc::new(ModelReader::new(model, &Predicates::default_registry()))))
}

/// The embedding model of the settings, or the built-in one, which is loaded at its first use.
pub(crate) fn embedder(settings: &Settings) -> Result<Arc<dyn Embedder>> {
    match &settings.model_dir {
        Some(folder) => Ok(Arc::new(ModelFolder::open(folder, quipu_models::threads_default())?)),
        None => Ok(Arc::new(MiniLm::new())),
    }
}

/// The cross-encoder of the settings, if there is one.
fn reranker(settings: &Settings) -> Result<Option<Arc<dyn Reranker>>> {
    let Some(folder) = &settings.reranker_dir else { return Ok(None) };
    Ok(Some(Arc::new(CrossEncoder::open(folder, quipu_models::threads_default())?)))
}

/// The user to read from: the named one, else the default one if it has a memory, else the only one that has.
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
            Err(Error::Invalid(format!("several users have a memory; give -u with one of: {}", names.join(", "))))
        }
    }
}
