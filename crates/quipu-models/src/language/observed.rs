//! Observes a request to a model: a span with OpenTelemetry's attribute names, and a call of the [`ModelWatch`].

use std::time::Instant;

use quipu_engine::ports::{Completion, CompletionRequest, ModelCall, ModelError, ModelWatch, Usage};
use tracing::field::Empty;

use super::endpoint::Endpoint;

/// Runs `ask` and reports it. `ask` stores the usage in its argument, also on failure.
#[expect(clippy::disallowed_methods, reason = "a figure of how long it took; nothing is decided by it")]
pub(super) fn observed(
    (endpoint, model, watch): (&Endpoint, &str, Option<&dyn ModelWatch>),
    request: &CompletionRequest,
    ask: impl FnOnce(&mut Usage) -> Result<Completion, ModelError>,
) -> Result<Completion, ModelError> {
    let span = tracing::info_span!(
        "chat",
        "otel.name" = format!("chat {}", endpoint.model),
        "otel.kind" = "client",
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = endpoint.provider.as_str(),
        "gen_ai.request.model" = endpoint.model,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "quipu.purpose" = request.purpose.as_str(),
        "quipu.attempts" = Empty,
        "error.type" = Empty,
    );
    let (started, mut usage) = (Instant::now(), Usage::default());
    let answer = span.in_scope(|| ask(&mut usage));
    let asked =
        ModelCall { purpose: request.purpose, model, fault: answer.as_ref().err(), usage, took: started.elapsed() };
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    match &answer {
        Ok(done) => span.record("quipu.attempts", done.attempts),
        Err(_) => span.record("error.type", asked.outcome()),
    };
    if let Some(watch) = watch {
        watch.asked(&asked);
    }
    answer
}
