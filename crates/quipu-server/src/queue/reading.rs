//! Background work behind the appends: reading, telling and embedding what was said.
//!
//! Nothing of it is lost with the process: the engine keeps beside each ledger how far it has come.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use quipu_core::id::UserId;
use quipu_engine::{Budget, Error, Until, process};
use tokio::time::Instant;

use super::{Queue, Reading};
use crate::progress::WatchedWork;

/// Sources a language model reads in one go: others have their turn too.
const READ_AT_ONCE: usize = 64;

impl Queue {
    pub(super) fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets rules and models read and tell what was recorded. It holds up no append, and takes together what came
    /// meanwhile: under load words are understood later, not lost. Does nothing once the server is to stop: the next start
    /// goes on from where the engine says it stands.
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
                    tracing::error!("reading what was said panicked; the next turn of this user tries again");
                }
            }
            queue.went.notify_waiters();
        });
    }

    /// The conversations that have something new; forgets the user if none has.
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
                faults.iter().for_each(|fault| tracing::warn!(fault, "something waits to be read or told"));
                "waits"
            }
            Err(Error::NotFound(_)) => "ok",
            Err(error) => {
                tracing::error!(%error, "what was said is recorded and was not read");
                "error"
            }
        };
        self.metrics.took("update_memory", outcome, start.elapsed().as_secs_f64());
    }

    /// Everything that is made of recorded words; returns why something still waits. The only place of this crate's background
    /// work that calls the engine for it.
    fn process(&self, user: &UserId, session: Option<&str>) -> Result<Vec<String>, Error> {
        let budget =
            Budget { sources_max: READ_AT_ONCE, sources_min: self.read_together, session: session.map(str::to_owned) };
        let done = process(&self.engine, user, Until::Everything, &budget)?;
        Ok(done.faults().map(str::to_owned).collect())
    }
}
