//! A call that is being answered.

use std::sync::Arc;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::{Engine, Error, Result};
use tokio::sync::Semaphore;

use super::guest::McpCaller;
use crate::queue::Queue;

/// State shared by all calls.
pub(crate) struct SharedState {
    pub(crate) engine: Arc<Engine>,
    /// Limits the calls at work at a time, and how long one may wait for its turn.
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) waits: Duration,
    /// Reads new sources in the background.
    pub(crate) queue: Arc<Queue>,
    /// Text passed as the user's words counts as the user's.
    pub(crate) user_words: bool,
}

impl SharedState {
    /// Runs a blocking operation when a slot is free.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        guest: McpCaller,
        work: impl FnOnce(&Call<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let busy = || Error::Unavailable("the server is busy with other requests; try again".to_owned());
        let slot = tokio::time::timeout(self.waits, self.slots.clone().acquire_owned()).await;
        let slot = slot.ok().and_then(std::result::Result::ok).ok_or_else(busy)?;
        let hall = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            work(&Call { engine: &hall.engine, guest: &guest, hall: &hall })
        });
        done.await.map_err(|_| Error::Bug("a tool was aborted".to_owned()))?
    }
}

/// A call that is being answered.
pub(super) struct Call<'a> {
    pub(super) engine: &'a Engine,
    pub(super) guest: &'a McpCaller,
    pub(super) hall: &'a SharedState,
}

impl Call<'_> {
    pub(super) fn user(&self) -> &UserId {
        &self.guest.user
    }

    /// Queues new sources for the language model, to be read in the background.
    pub(super) fn study(&self, session: Option<String>) {
        self.hall.queue.study(self.user(), session);
    }
}
