//! Putting the concrete parts together.

use std::path::Path;
use std::sync::Arc;

use quipu_core::id::UserId;
use quipu_core::writing::Policy;
use quipu_engine::ports::{Embedder, Reranker};
use quipu_engine::{Aids, Engine, Error, Parts, Result, Rules};
use quipu_models::{CrossEncoder, MiniLm, ModelFolder, RuleExtractor, RuleSummarizer};
use quipu_sqlite::SqliteStore;

use crate::settings::Settings;
use crate::system::{SystemClock, SystemEntropy};

/// Opens an engine over the data folder of the settings.
pub(crate) fn open(settings: &Settings) -> Result<Engine> {
    open_in(&settings.data_dir, settings)
}

/// Opens an engine over a given folder.
pub(crate) fn open_in(folder: &Path, settings: &Settings) -> Result<Engine> {
    let store = SqliteStore::open(folder, quipu_sqlite::Options::default())?;
    let engine = Engine::new(Parts {
        store: Box::new(store),
        embedder: embedder(settings)?,
        clock: Arc::new(SystemClock { fixed: settings.now }),
        entropy: Arc::new(SystemEntropy),
        extractor: Some(Arc::new(RuleExtractor::english())),
        summarizer: Some(Arc::new(RuleSummarizer)),
        rules: Rules {
            policy: Policy { keep_sensitive: settings.keep_sensitive, ..Policy::default() },
            ..Rules::default()
        },
        aids: Aids { tokenizers: quipu_models::tokenizers(), reranker: reranker(settings)?, reader: None },
    });
    engine.set_profiles(settings.profiles.clone());
    Ok(engine)
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
