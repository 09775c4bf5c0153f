//! Health probe of store and engine: one at a time, so that an engine that hangs blocks one thread only.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quipu_engine::ports::StoreServer;
use quipu_engine::{Engine, Error, Gauges};
use tokio::sync::watch;

use crate::progress::{Progress, WatchedWork};

/// What a probe found.
#[derive(Debug, Clone)]
pub(crate) struct Probed {
    /// The gauges of the open memories.
    pub(crate) gauges: Gauges,
    /// The database server behind the store, if there is one.
    pub(crate) database: Option<StoreServer>,
}

/// Result of a probe, or the error of the store.
type ProbeResult = Result<Probed, String>;

/// Probes store and engine. Takes the locks of the engine and of every open memory, as requests do.
pub(crate) struct Probe {
    engine: Arc<Engine>,
    progress: Arc<Progress>,
    /// The probe in progress, which concurrent callers share.
    running: Mutex<Option<watch::Receiver<Option<ProbeResult>>>>,
}

impl Probe {
    pub(crate) fn new(engine: Arc<Engine>, progress: Arc<Progress>) -> Self {
        Self { engine, progress, running: Mutex::default() }
    }

    fn running(&self) -> MutexGuard<'_, Option<watch::Receiver<Option<ProbeResult>>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gauges of the open memories, and what the store says.
    ///
    /// # Errors
    /// `Unavailable` if the store fails, or does not respond within the time.
    pub(crate) async fn ask(self: &Arc<Self>, within: Duration) -> Result<Probed, Error> {
        let mut running = self.join();
        let answered = tokio::time::timeout(within, running.wait_for(Option::is_some)).await;
        let late = || Error::Unavailable(format!("the engine did not answer within {} s", within.as_secs()));
        let stopped = || Error::Bug("the probe of the engine stopped without an answer".to_owned());
        match answered.map_err(|_| late())?.map_err(|_| stopped())?.clone() {
            Some(found) => found.map_err(Error::Unavailable),
            None => Err(stopped()),
        }
    }

    /// The probe in progress, or a new one.
    fn join(self: &Arc<Self>) -> watch::Receiver<Option<ProbeResult>> {
        let mut running = self.running();
        if let Some(going_on) = running.as_ref() {
            return going_on.clone();
        }
        let (told, asked) = watch::channel(None);
        *running = Some(asked.clone());
        drop(running);
        let probe = self.clone();
        tokio::task::spawn_blocking(move || {
            let _over = Over(&probe);
            let _step = probe.progress.begin(WatchedWork::Probe);
            let answered = probe.engine.store().ready().map_err(|error| error.to_string());
            let found = answered.map(|database| Probed { gauges: quipu_engine::gauges(&probe.engine), database });
            told.send_replace(Some(found));
        });
        asked
    }
}

/// Ends the probe when dropped, also after a panic.
struct Over<'a>(&'a Probe);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        *self.0.running() = None;
    }
}
