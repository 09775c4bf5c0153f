//! Runs a remote model offline against every fault of a model server.

use std::sync::Arc;
use std::time::Duration;

use quipu_engine::ports::{Clock, CompletionRequest, Entropy, LanguageModel, Message, Purpose, Shape};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{FakeScript, FakeServer, Fault, FaultKind, Repetition};
use quipu_models::language::{Endpoint, Limits, ModelUsage, Provider, RemoteModel};

/// A correct reply.
const GOOD: &str = r#"{"city":"Porto","years":3}"#;

/// Result of a rehearsal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Rehearsal {
    /// Number of faults rehearsed.
    pub faults: usize,
    /// Number of completions requested from the model.
    pub questions: usize,
    /// Number of HTTP requests made for them.
    pub requests: usize,
    /// Unexpected outcomes; empty on success.
    pub wrong: Vec<String>,
}

/// The expected outcome of a persistent fault, and the maximum of requests for one completion.
#[must_use]
pub fn outcome_of(fault: Fault) -> (&'static str, usize) {
    use Fault as F;
    match fault {
        F::Fenced | F::TrailingProse | F::LeadingProse | F::Thinks | F::ExtremeDates | F::Drips => ("good", 1),
        // The shape is right; whether the content is grounded is checked by the caller.
        F::HallucinatedFacts | F::Injects | F::ControlCharacters | F::Echoes => ("good", 2),
        F::RemovesEverything | F::HallucinatedIds => ("good", 1),
        F::EmptyList | F::Null | F::EmptyContent | F::ContentMissing | F::ToolCallInstead => ("nothing", 1),
        F::CutShort | F::EndlessWhitespace => ("truncated", 1),
        F::RefusalField | F::RefusalProse => ("refused", 1),
        F::RateLimited => ("unavailable", 1),
        F::Unavailable500 => ("unavailable", 5),
        F::QuotaSpent => ("over_budget", 1),
        F::Unauthorised401 | F::Forbidden403 => ("unauthorised", 1),
        F::NoSuchModel404 | F::TooLong400 | F::Redirects302 => ("invalid", 1),
        F::ErrorAsText400 => ("invalid", 3),
        F::RejectsFormat400 => ("good", 3),
        F::RejectsSchema400 | F::RejectsSchema500 => ("good", 2),
        F::RejectsObject400 | F::ErrorMidway | F::NoEnd => ("good", 1),
        F::Oversized | F::Endless => ("malformed", 1),
        F::ChoiceMissing => ("unavailable", 3),
        F::HangsAtOnce => ("too_slow", 1),
        _ if fault.kind() == FaultKind::Text => ("malformed", 2),
        _ => ("unavailable", 3),
    }
}

/// Rehearses every fault with `seeds` seeds, each against its own server on the loopback interface. Nothing else is
/// contacted.
///
/// # Errors
/// The I/O error of opening a port.
pub fn rehearse(seeds: u64, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> std::io::Result<Rehearsal> {
    let mut done = Rehearsal { faults: Fault::ALL.len(), ..Rehearsal::default() };
    for &fault in Fault::ALL {
        for seed in 0..seeds {
            let script = FakeScript {
                drip: Duration::ZERO,
                oversized_bytes: 1 << 20,
                ..FakeScript::saying(GOOD).with(fault, Repetition::Always).seeded(seed)
            };
            let server = FakeServer::start(script)?;
            let limits = Limits {
                total: Duration::from_millis(900),
                idle: Duration::from_millis(60),
                backoff: Duration::from_millis(1),
                answer_bytes_max: 256 << 10,
                ..Limits::default()
            };
            // If nothing arrives, the client waits for the whole time.
            let within = Duration::from_millis(if fault == Fault::HangsAtOnce { 60 } else { 900 });
            let endpoint = Endpoint { base_url: server.base_url(), limits, ..Endpoint::new(Provider::OpenAi, "fake") };
            let book = Arc::new(ModelUsage::in_memory(clock.clone()));
            let outcome = RemoteModel::new("rehearsal", endpoint, book, entropy.clone())
                .and_then(|model| model.complete(&question(), within));
            let told = match &outcome {
                Ok(answer) if answer.json.as_ref().is_none_or(Value::is_null) => "nothing",
                Ok(_) => "good",
                Err(error) => error.as_str(),
            };
            let (right, most) = outcome_of(fault);
            let requests = server.requests();
            done.questions += 1;
            done.requests += requests;
            if told != right || requests > most {
                done.wrong.push(format!("{} (seed {seed}): {told} after {requests} requests", fault.name()));
            }
        }
    }
    Ok(done)
}

/// A request whose answer has a schema.
#[must_use]
pub fn question() -> CompletionRequest {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "years": {"type": "integer"}},
        "required": ["city", "years"],
        "additionalProperties": false,
    });
    CompletionRequest {
        user: None,
        purpose: Purpose::Probe,
        system: "Answer.".to_owned(),
        messages: vec![Message::of_user("I live in Porto for 3 years.")],
        shape: Some(Shape { name: "place".to_owned(), schema }),
        output_tokens_max: 50,
        temperature: 0.0,
    }
}
