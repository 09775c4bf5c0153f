//! The data folder beside other processes: opened when somebody asks, given back when nobody does. One folder belongs to one process
//! at a time, and a client that is left open all day must not keep the others out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use quipu_engine::ports::Embedder;
use quipu_engine::{Engine, Error, Result, VaultOptions};
use quipu_models::language::Book;
use quipu_server::Lend;

use crate::app;
use crate::settings::Settings;

/// Who finds the folder in use tries again so often, so much later.
const TRIES: u32 = 40;
const BETWEEN_TRIES: Duration = Duration::from_millis(150);
/// The folder is given back when nobody asked for this long.
const IDLE: Duration = Duration::from_millis(700);

/// Opens the folder for as long as it is asked for.
pub(super) struct Lender {
    settings: Settings,
    book: Arc<Book>,
    /// Read once: it is the same whoever has the folder.
    embedder: Arc<dyn Embedder>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// Kept until nobody asks for a while.
    kept: Option<Arc<Engine>>,
    /// It may still be at work for somebody when it is no longer kept.
    at_work: Weak<Engine>,
    was_asked: bool,
}

impl Lender {
    /// Fails only for settings that cannot be meant; the folder is not opened yet.
    pub(super) fn new(settings: Settings) -> Result<Arc<Self>> {
        let book = app::book(&settings.data_dir, &settings);
        let embedder = app::embedder(&settings)?;
        let lender = Arc::new(Self { settings, book, embedder, open: Mutex::default() });
        let own = Arc::downgrade(&lender);
        thread::spawn(move || {
            loop {
                thread::sleep(IDLE);
                let Some(lender) = own.upgrade() else { return };
                lender.give_back();
            }
        });
        Ok(lender)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // A panic elsewhere leaves it whole: an engine, or none.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the folder back for good.
    pub(super) fn close(&self) {
        self.open().was_asked = false;
        self.give_back();
    }

    fn give_back(&self) {
        let mut open = self.open();
        if std::mem::take(&mut open.was_asked) {
            return;
        }
        let Some(engine) = open.kept.take() else { return };
        // Whoever asks now waits until it is closed, and opens it anew.
        if self.settings.artifacts.on {
            for user in engine.users_in_use() {
                if let Err(error) = quipu_engine::vault::level(&engine, &user, VaultOptions::default()) {
                    tracing::warn!(%user, %error, "plain files lag behind");
                }
            }
        }
        drop(engine);
    }
}

impl Lend for Lender {
    fn lend(&self) -> Result<Arc<Engine>> {
        let mut open = self.open();
        open.was_asked = true;
        if let Some(engine) = open.kept.clone().or_else(|| open.at_work.upgrade()) {
            open.kept = Some(engine.clone());
            return Ok(engine);
        }
        let mut tries = 1;
        let engine = loop {
            match app::open_over(&self.settings.data_dir, &self.settings, &self.book, self.embedder.clone()) {
                Err(Error::Unavailable(_)) if tries < TRIES => thread::sleep(BETWEEN_TRIES),
                Err(Error::Unavailable(text)) => {
                    let text =
                        format!("{text}. If that is `quipu serve`, use `quipu mcp --server http://127.0.0.1:7077`");
                    return Err(Error::Unavailable(text));
                }
                outcome => break Arc::new(outcome?),
            }
            tries += 1;
        };
        *open = Open { kept: Some(engine.clone()), at_work: Arc::downgrade(&engine), was_asked: true };
        Ok(engine)
    }
}
