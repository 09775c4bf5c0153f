//! Metrics of the server. No label contains a user, a session or text from a model.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use quipu_core::item::ReviewKind;
use quipu_engine::Gauges;
use quipu_engine::ports::{ModelCall, ModelWatch};
use tokio::time::Instant;

use crate::maintenance::Figures;

/// An operation and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Operation {
    pub(crate) operation: &'static str,
    pub(crate) outcome: &'static str,
}

/// A request that was passed on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Proxied {
    pub(crate) upstream: String,
    /// Status sent to the client.
    pub(crate) status: u16,
    pub(crate) memory_status: &'static str,
}

/// Outcome of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct TurnLabel {
    pub(crate) outcome: &'static str,
}

/// A call of a language model and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    purpose: &'static str,
    model: String,
    outcome: &'static str,
}

/// Tokens of a language model: of prompts (`input`) or of answers (`output`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Tokens {
    purpose: &'static str,
    direction: &'static str,
}

/// Purpose of a call of a language model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asking {
    purpose: &'static str,
}

/// Kind of a review.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Waiting {
    kind: &'static str,
}

/// A request, by the route that answered it: a path from the routing table, never one sent by a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RouteLabel {
    pub(crate) http_request_method: &'static str,
    /// Empty if no route matches.
    pub(crate) http_route: String,
    /// Status class, such as `2xx`.
    pub(crate) http_response_status_class: &'static str,
}

/// All metrics of the server.
pub struct Metrics {
    registry: Registry,
    pub(crate) operations: Family<Operation, Histogram>,
    pub(crate) proxied: Family<Proxied, Counter>,
    pub(crate) recall_results: Histogram,
    pub(crate) context_tokens: Histogram,
    pub(crate) turns: Family<TurnLabel, Counter>,
    pub(crate) queue_depth: Gauge,
    requests: Family<RouteLabel, Histogram>,
    pub(crate) connections: Gauge,
    pub(crate) connections_refused: Counter,
    llm_calls: Family<Call, Counter>,
    llm_tokens: Family<Tokens, Counter>,
    llm_durations: Family<Asking, Histogram>,
    reviews: Family<Waiting, Gauge>,
    unsummarized: Gauge,
    open_memories: Gauge,
    memories_opened: Counter,
    memory_bytes: Gauge,
    pub(crate) maintenance: Figures,
    stalled: Gauge,
    servers: Gauge,
    pub(crate) takeovers: Counter,
    model_answered: Mutex<Option<Instant>>,
}

/// Buckets from 0.1 ms to about 30 s.
fn durations() -> Histogram {
    Histogram::new(exponential_buckets(0.0001, 2.5, 15))
}

/// OpenTelemetry's buckets for `http.server.request.duration`, with smaller ones added, because most responses are
/// faster than its smallest.
fn request_durations() -> Histogram {
    Histogram::new([
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    ])
}

impl Metrics {
    /// All metrics at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::registered_in(Registry::default())
    }

    /// All metrics at zero, each with the label `server`.
    #[must_use]
    pub fn of_server(name: &str) -> Self {
        Self::registered_in(Registry::with_labels([("server".into(), name.to_owned().into())].into_iter()))
    }

    fn registered_in(mut whole: Registry) -> Self {
        let mut all = Self {
            registry: Registry::default(),
            operations: Family::new_with_constructor(durations),
            proxied: Family::default(),
            recall_results: Histogram::new(exponential_buckets(1.0, 2.0, 8)),
            context_tokens: Histogram::new(exponential_buckets(16.0, 2.0, 10)),
            turns: Family::default(),
            queue_depth: Gauge::default(),
            requests: Family::new_with_constructor(request_durations),
            connections: Gauge::default(),
            connections_refused: Counter::default(),
            llm_calls: Family::default(),
            llm_tokens: Family::default(),
            llm_durations: Family::new_with_constructor(durations),
            reviews: Family::default(),
            unsummarized: Gauge::default(),
            open_memories: Gauge::default(),
            memories_opened: Counter::default(),
            memory_bytes: Gauge::default(),
            maintenance: Figures::default(),
            stalled: Gauge::default(),
            servers: Gauge::default(),
            takeovers: Counter::default(),
            model_answered: Mutex::default(),
        };
        // Named by OpenTelemetry's conventions for HTTP, so that existing dashboards work.
        whole.register_with_unit(
            "http_server_request_duration",
            "Time until the response began, by route",
            Unit::Seconds,
            all.requests.clone(),
        );
        let registry = whole.sub_registry_with_prefix("quipu");
        registry.register_with_unit(
            "operation_duration",
            "Duration of memory operations",
            Unit::Seconds,
            all.operations.clone(),
        );
        registry.register("proxy_requests", "Requests passed on, by what memory did for them", all.proxied.clone());
        registry.register("recall_results", "Items in a block of memory", all.recall_results.clone());
        registry.register("context_tokens", "Tokens of a block of memory", all.context_tokens.clone());
        registry.register("proxy_turns", "Turns that came through the proxy, by outcome", all.turns.clone());
        registry.register("queue_depth", "Exchanges that wait to be recorded", all.queue_depth.clone());
        registry.register("connections", "Open connections", all.connections.clone());
        registry.register(
            "connections_refused",
            "Connections closed because there were too many",
            all.connections_refused.clone(),
        );
        registry.register("llm_calls", "Calls of language models, by outcome", all.llm_calls.clone());
        registry.register("llm_tokens", "Tokens of prompts and answers", all.llm_tokens.clone());
        registry.register_with_unit(
            "llm_duration",
            "Duration of calls of language models, over all attempts",
            Unit::Seconds,
            all.llm_durations.clone(),
        );
        registry.register("review_pending", "Reviews that wait for a person, in open memories", all.reviews.clone());
        registry.register(
            "unsummarized_turns",
            "Closed exchanges without a summary, in open memories",
            all.unsummarized.clone(),
        );
        registry.register("open_memories", "Memories held open", all.open_memories.clone());
        registry.register(
            "memories_opened",
            "Memories read from the store because they were not open",
            all.memories_opened.clone(),
        );
        registry.register("stalled", "1 while a background step is stalled, as in /health/ready", all.stalled.clone());
        registry.register("servers", "Live servers on the same store, this one included", all.servers.clone());
        registry.register("takeovers", "Work of dead servers that this one took over", all.takeovers.clone());
        registry.register_with_unit("memory", "Memory used by open memories", Unit::Bytes, all.memory_bytes.clone());
        all.maintenance.register(registry);
        all.registry = whole;
        all
    }

    /// Records the duration of an operation, in seconds.
    pub(crate) fn took(&self, operation: &'static str, outcome: &'static str, seconds: f64) {
        self.operations.get_or_create(&Operation { operation, outcome }).observe(seconds);
    }

    /// Records the duration of a request, in seconds.
    pub(crate) fn answered(&self, request: &RouteLabel, seconds: f64) {
        self.requests.get_or_create(request).observe(seconds);
    }

    /// Counts a turn by its outcome: `recorded`, `known`, `partial`, `dropped`, `forgotten`, `late`, `refused`,
    /// `unsummarized`.
    pub(crate) fn turn(&self, outcome: &'static str) {
        self.turns.get_or_create(&TurnLabel { outcome }).inc();
    }

    /// Sets the gauges of the open memories.
    pub(crate) fn stands(&self, standing: &Gauges) {
        let figure = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        for kind in ReviewKind::ALL {
            let waiting = standing.reviews.get(&kind).copied().unwrap_or(0);
            self.reviews.get_or_create(&Waiting { kind: kind.as_str() }).set(figure(waiting));
        }
        self.unsummarized.set(figure(standing.unsummarized));
        self.open_memories.set(figure(standing.open));
        self.memories_opened.inner().store(standing.opened, Ordering::Relaxed);
        self.memory_bytes.set(figure(standing.bytes));
    }

    /// Sets the number of live servers.
    pub(crate) fn has_servers(&self, live: usize) {
        self.servers.set(i64::try_from(live).unwrap_or(i64::MAX));
    }

    /// Records whether a background step is stalled.
    pub(crate) fn is_stalled(&self, is_stalled: bool) {
        self.stalled.set(i64::from(is_stalled));
    }

    /// Records that a language model answered.
    pub(crate) fn note_model_answer(&self, at: Instant) {
        *self.model_answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    /// Time of the last answer of a language model, if there was one.
    pub(crate) fn last_model_answer(&self) -> Option<Instant> {
        *self.model_answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All metrics as text.
    pub(crate) fn page(&self) -> Result<String, fmt::Error> {
        let mut page = String::new();
        encode(&mut page, &self.registry)?;
        Ok(page)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelWatch for Metrics {
    fn asked(&self, asked: &ModelCall<'_>) {
        self.note_model_answer(Instant::now());
        let (purpose, outcome) = (asked.purpose.as_str(), asked.outcome());
        self.llm_calls.get_or_create(&Call { purpose, model: asked.model.to_owned(), outcome }).inc();
        for (direction, tokens) in [("input", asked.usage.input_tokens), ("output", asked.usage.output_tokens)] {
            self.llm_tokens.get_or_create(&Tokens { purpose, direction }).inc_by(tokens);
        }
        self.llm_durations.get_or_create(&Asking { purpose }).observe(asked.took.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use quipu_engine::ports::{ModelError, Purpose, Usage};

    use super::*;

    #[test]
    fn every_metric_carries_the_name_of_the_server() {
        let metrics = Metrics::of_server("east-1");
        metrics.turn("recorded");
        metrics.has_servers(3);
        let page = metrics.page().unwrap_or_default();
        let samples = page.lines().filter(|line| !line.starts_with('#'));
        let unnamed: Vec<&str> = samples.filter(|line| !line.contains("server=\"east-1\"")).collect();
        assert!(unnamed.is_empty(), "{unnamed:?}");
        for line in
            ["quipu_servers{server=\"east-1\"} 3", "quipu_proxy_turns_total{server=\"east-1\",outcome=\"recorded\"} 1"]
        {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }

    #[test]
    fn questions_to_models_are_counted_by_what_came_of_them() {
        let metrics = Metrics::new();
        let usage = Usage { input_tokens: 40, output_tokens: 2, estimated: false };
        let took = Duration::from_millis(250);
        let over = ModelError::OverBudget("spent".to_owned());
        for fault in [None, None, Some(&over)] {
            metrics.asked(&ModelCall { purpose: Purpose::Summarize, model: "openai/m", fault, usage, took });
        }
        metrics.stands(&Gauges {
            open: 2,
            opened: 7,
            unsummarized: 4,
            reviews: [(ReviewKind::Conflict, 3)].into(),
            ..Gauges::default()
        });
        let page = metrics.page().unwrap_or_default();
        for line in [
            "quipu_llm_calls_total{purpose=\"summarize\",model=\"openai/m\",outcome=\"ok\"} 2",
            "quipu_llm_calls_total{purpose=\"summarize\",model=\"openai/m\",outcome=\"over_budget\"} 1",
            "quipu_llm_tokens_total{purpose=\"summarize\",direction=\"input\"} 120",
            "quipu_llm_duration_seconds_sum{purpose=\"summarize\"} 0.75",
            "quipu_review_pending{kind=\"conflict\"} 3",
            "quipu_review_pending{kind=\"tenet\"} 0",
            "quipu_open_memories 2",
            "quipu_memories_opened_total 7",
            "quipu_unsummarized_turns 4",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }
}
