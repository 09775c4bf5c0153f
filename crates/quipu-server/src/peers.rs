//! The servers that share the store: this one's heartbeats, and work that dead servers left behind.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quipu_engine::Engine;
use quipu_engine::ports::server_registry::HEARTBEAT_EVERY;
use quipu_engine::ports::{AbandonedLease, RegisteredServer, ServerRecord, ServerRegistry, StoreError};
use tokio::sync::watch;

use crate::maintenance::Maintenance;
use crate::metrics::Metrics;

/// The servers that share the store.
pub(crate) struct Peers {
    engine: Arc<Engine>,
    own: ServerRecord,
    known: Mutex<Vec<RegisteredServer>>,
    metrics: Arc<Metrics>,
}

impl Peers {
    pub(crate) fn new(engine: Arc<Engine>, own: ServerRecord, metrics: Arc<Metrics>) -> Self {
        Self { engine, own, known: Mutex::default(), metrics }
    }

    fn known(&self) -> MutexGuard<'_, Vec<RegisteredServer>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names of the live servers at the last heartbeat.
    pub(crate) fn names(&self) -> Vec<String> {
        self.known().iter().filter(|one| one.is_live()).map(|one| one.record.name.clone()).collect()
    }

    /// Registers this server until it stops, and hands abandoned work to maintenance. Returns at once if the store keeps no
    /// register.
    pub(crate) async fn run(self: Arc<Self>, mut stopping: watch::Receiver<bool>, maintenance: Arc<Maintenance>) {
        if self.engine.store().registry().is_none() {
            return;
        }
        // It changes once, from false to true.
        loop {
            self.clone().with_registry(maintenance.clone(), Self::round).await;
            if tokio::time::timeout(HEARTBEAT_EVERY, stopping.changed()).await.is_ok() {
                break;
            }
        }
        self.with_registry(maintenance, |peers, registry, _| registry.leave(&peers.own.id)).await;
    }

    async fn with_registry(
        self: Arc<Self>,
        maintenance: Arc<Maintenance>,
        work: fn(&Self, &dyn ServerRegistry, &Maintenance) -> Result<(), StoreError>,
    ) {
        let done = tokio::task::spawn_blocking(move || match self.engine.store().registry() {
            Some(registry) => work(&self, registry, &maintenance),
            None => Ok(()),
        });
        match done.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the register of servers cannot be used; it is tried again"),
            Err(_) => tracing::error!("the heartbeat panicked; it is tried again"),
        }
    }

    fn round(&self, registry: &dyn ServerRegistry, maintenance: &Maintenance) -> Result<(), StoreError> {
        registry.beat(&self.own)?;
        let servers = registry.servers()?;
        let is_known_dead = |one: &RegisteredServer| !one.is_live();
        let died = {
            let before = self.known();
            let was_live = |id: &str| before.iter().any(|one| one.record.id == id && one.is_live());
            servers.iter().any(|one| is_known_dead(one) && was_live(&one.record.id))
        };
        self.metrics.has_servers(servers.iter().filter(|one| one.is_live()).count());
        *self.known() = servers;
        if died {
            maintenance.sweep_now();
        }
        let abandoned: Vec<AbandonedLease> = registry.abandoned()?;
        maintenance.take_over(abandoned);
        Ok(())
    }
}
