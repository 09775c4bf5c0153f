//! Background processing of recorded messages: extraction, summaries and embeddings.
//!
//! No progress is lost when the process ends: the engine stores it beside each ledger.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use quipu_core::id::UserId;
use quipu_engine::{Budget, Error, Until, process};
use tokio::time::Instant;

use super::{Queue, Reading};
use crate::progress::WatchedWork;

/// Number of sources a language model reads at a time, before other users get their turn.
const READ_AT_ONCE: usize = 64;

impl Queue {
    pub(super) fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes recorded messages with rules and models. Does not delay appends; messages that arrive meanwhile are
    /// processed together, so under load processing lags but loses nothing. Does nothing once the server is stopping:
    /// the next start continues at the engine's cursor.
    pub(crate) fn study(self: &Arc<Self>, user: &UserId, session: Option<String>) {
        if self.is_stopping.load(Ordering::SeqCst) {
            return;
        }
        let mut reading = self.reading();
        if let Some(sessions) = reading.get_mut(user) {
            sessions.insert(session);
            return;
        }
        reading.insert(user.clone(), BTreeSet::from([session]));
        drop(reading);
        let (queue, user) = (self.clone(), user.clone());
        self.runtime.spawn(async move {
            loop {
                let Ok(reader) = queue.readers.clone().acquire_owned().await else { return };
                let Some(sessions) = queue.next_to_read(&user) else { break };
                let (own, whose) = (queue.clone(), user.clone());
                let work = tokio::task::spawn_blocking(move || {
                    let _held = reader;
                    for session in sessions {
                        if !own.is_stopping.load(Ordering::SeqCst) {
                            own.read_now(&whose, session.as_deref());
                        }
                    }
                });
                if work.await.is_err() {
                    tracing::error!("reading messages panicked; the next turn of this user retries");
                }
            }
            queue.went.notify_waiters();
        });
    }

    /// The sessions with new messages; removes the user if there are none.
    fn next_to_read(&self, user: &UserId) -> Option<BTreeSet<Option<String>>> {
        let mut reading = self.reading();
        let sessions = std::mem::take(reading.get_mut(user)?);
        if sessions.is_empty() || self.is_stopping.load(Ordering::SeqCst) {
            reading.remove(user);
            return None;
        }
        Some(sessions)
    }

    fn read_now(&self, user: &UserId, session: Option<&str>) {
        let start = Instant::now();
        let span = tracing::info_span!(
            "update_memory",
            "gen_ai.operation.name" = "update_memory",
            "gen_ai.conversation.id" = session,
        );
        let _in = span.enter();
        let _step = self.progress.begin(WatchedWork::Read);
        let outcome = match self.process(user, session) {
            Ok(faults) if faults.is_empty() => "ok",
            Ok(faults) => {
                self.metrics.turn("unsummarized");
                faults.iter().for_each(|fault| tracing::warn!(fault, "some messages are not read or summarised yet"));
                "waits"
            }
            Err(Error::NotFound(_)) => "ok",
            Err(error) => {
                tracing::error!(%error, "the messages are recorded, but could not be read");
                "error"
            }
        };
        self.metrics.took("update_memory", outcome, start.elapsed().as_secs_f64());
    }

    /// Processes a user's recorded messages; returns the reasons why something still waits. All background processing
    /// of this crate goes through this function.
    fn process(&self, user: &UserId, session: Option<&str>) -> Result<Vec<String>, Error> {
        let budget =
            Budget { sources_max: READ_AT_ONCE, sources_min: self.read_together, session: session.map(str::to_owned) };
        let done = process(&self.engine, user, Until::Everything, &budget)?;
        Ok(done.faults().map(str::to_owned).collect())
    }
}
