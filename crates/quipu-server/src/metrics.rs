//! What the server counts. No label names a user, a session or a model's words.

use std::fmt;

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// What was done, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Operation {
    pub(crate) operation: &'static str,
    pub(crate) outcome: &'static str,
}

/// A request that was passed on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Proxied {
    pub(crate) upstream: String,
    /// The status the client saw.
    pub(crate) status: u16,
    pub(crate) memory_status: &'static str,
}

/// What came of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Turn {
    pub(crate) outcome: &'static str,
}

/// Every figure there is.
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) operations: Family<Operation, Histogram>,
    pub(crate) proxied: Family<Proxied, Counter>,
    pub(crate) recall_results: Histogram,
    pub(crate) context_tokens: Histogram,
    pub(crate) turns: Family<Turn, Counter>,
    pub(crate) queue_depth: Gauge,
    pub(crate) connections: Gauge,
    pub(crate) connections_refused: Counter,
}

/// From a tenth of a millisecond to about half a minute.
fn durations() -> Histogram {
    Histogram::new(exponential_buckets(0.0001, 2.5, 15))
}

impl Metrics {
    /// All at zero.
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("quipu");
        let mut all = Self {
            registry: Registry::default(),
            operations: Family::new_with_constructor(durations),
            proxied: Family::default(),
            recall_results: Histogram::new(exponential_buckets(1.0, 2.0, 8)),
            context_tokens: Histogram::new(exponential_buckets(16.0, 2.0, 10)),
            turns: Family::default(),
            queue_depth: Gauge::default(),
            connections: Gauge::default(),
            connections_refused: Counter::default(),
        };
        registry.register_with_unit(
            "operation_duration",
            "How long operations of memory took",
            Unit::Seconds,
            all.operations.clone(),
        );
        registry.register("proxy_requests", "Requests passed on, by what memory did for them", all.proxied.clone());
        registry.register("recall_results", "Items in a block of memory", all.recall_results.clone());
        registry.register("context_tokens", "Tokens of a block of memory", all.context_tokens.clone());
        registry.register("proxy_turns", "Turns that came through the proxy, by what came of them", all.turns.clone());
        registry.register("queue_depth", "Exchanges that wait to be recorded", all.queue_depth.clone());
        registry.register("connections", "Open connections", all.connections.clone());
        registry.register(
            "connections_refused",
            "Connections closed because there were too many",
            all.connections_refused.clone(),
        );
        all.registry = registry;
        all
    }

    /// One operation that took so many seconds.
    pub(crate) fn took(&self, operation: &'static str, outcome: &'static str, seconds: f64) {
        self.operations.get_or_create(&Operation { operation, outcome }).observe(seconds);
    }

    /// One turn, and what came of it: `recorded`, `known`, `partial`, `dropped`, `refused`, `unsummarized`.
    pub(crate) fn turn(&self, outcome: &'static str) {
        self.turns.get_or_create(&Turn { outcome }).inc();
    }

    /// All figures as text.
    pub(crate) fn page(&self) -> Result<String, fmt::Error> {
        let mut page = String::new();
        encode(&mut page, &self.registry)?;
        Ok(page)
    }
}
