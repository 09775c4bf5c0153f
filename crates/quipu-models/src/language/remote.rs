//! A language model at an endpoint, with retries, budgets and error handling.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::ports::{
    Completion, CompletionRequest, Entropy, LanguageModel, Message, ModelError, Purpose, Shape, Usage,
};
use serde_json::Value;
use tokio::time::Instant;

use super::account::{ModelUsage, SpendBudget};
use super::backoff;
use super::breaker::Breaker;
use super::dialect::{self, Question, Reply};
use super::endpoint::Endpoint;
use super::events::Events;
use super::fault::{self, Failure};
use super::ladder::{self, JsonMode};
use super::observed::observed;
use super::transport::{HttpReply, Transport};
use crate::refusals;

/// How often an unusable answer is requested again.
const ASKED_AGAIN_MAX: u32 = 1;
/// How much of an unusable answer is repeated to the model, in characters.
const SHOWN_AGAIN_MAX: usize = 2000;
/// A server that reports less than a fourth of the prompt's tokens truncated the prompt.
const READ_SHARE_MIN: u64 = 4;
/// Maximum bytes of an answer per token.
const BYTES_PER_TOKEN: usize = 16;
const STREAM_BYTES_PER_TOKEN: usize = 768;
/// Maximum bytes of an answer around its text.
const FRAME_BYTES: usize = 64 << 10;
/// Prompts with fewer tokens are not checked for truncation.
const CUT_FROM_TOKENS: u64 = 1000;

/// A [`LanguageModel`] at an endpoint. It can be shared between threads. Creating one contacts no server.
pub struct RemoteModel {
    name: String,
    id: String,
    endpoint: Endpoint,
    book: Arc<ModelUsage>,
    entropy: Arc<dyn Entropy>,
    transport: Transport,
    breaker: Breaker,
}

/// Result of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// The JSON mode that works there.
    pub rung: JsonMode,
    /// Number of requests that were needed.
    pub attempts: u32,
}

impl RemoteModel {
    /// Creates a model under its name in the settings, which its usage is recorded under.
    ///
    /// # Errors
    /// `Invalid` if the base URL is not a URL.
    pub fn new(
        name: &str,
        endpoint: Endpoint,
        book: Arc<ModelUsage>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, ModelError> {
        endpoint.url(dialect::place(endpoint.provider))?;
        Ok(Self {
            name: name.to_owned(),
            id: format!("{}/{}", endpoint.provider.as_str(), endpoint.model),
            transport: Transport::new(&endpoint.limits)?,
            endpoint,
            book,
            entropy,
            breaker: Breaker::default(),
        })
    }

    /// The endpoint, with its limits and budget.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Requests a small JSON object, to find out whether and how the endpoint answers.
    ///
    /// # Errors
    /// Any [`ModelError`].
    pub fn probe(&self, within: Duration) -> Result<Probed, ModelError> {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"capital": {"type": "string"}},
            "required": ["capital"],
            "additionalProperties": false,
        });
        let request = CompletionRequest {
            user: None,
            purpose: Purpose::Probe,
            system: "You answer in JSON: {\"capital\": \"...\"}.".to_owned(),
            messages: vec![Message::of_user("What is the capital of Portugal?")],
            shape: Some(Shape { name: "capital".to_owned(), schema }),
            output_tokens_max: 200,
            temperature: 0.0,
        };
        let done = self.complete(&request, within)?;
        Ok(Probed { rung: self.rung(), attempts: done.attempts })
    }

    fn place(&self) -> String {
        format!("{} {}", self.endpoint.base_url, self.endpoint.model)
    }

    fn rung(&self) -> JsonMode {
        self.book.rung(&self.place()).unwrap_or(JsonMode::FIRST)
    }

    fn purse<'a>(&'a self, user: Option<&'a UserId>) -> SpendBudget<'a> {
        SpendBudget { name: &self.name, user, prices: self.endpoint.prices, allowance: self.endpoint.allowance }
    }

    /// Fails while the endpoint is suspended.
    fn may_ask(&self) -> Result<(), ModelError> {
        let left = self.breaker.rest_left(self.book.now(), &self.endpoint.limits);
        left.map_or(Ok(()), |left| {
            Err(ModelError::Unavailable {
                why: "it failed again and again and is left alone for a while".to_owned(),
                retry_after: Duration::try_from(left).ok(),
            })
        })
    }

    /// Makes one request and records its cost. `reply` holds what arrived of a stream that broke off.
    fn once(
        &self,
        question: &Question<'_>,
        until: Instant,
        reply: &mut Reply,
        each: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let body = dialect::body(&self.endpoint, question).to_string().into_bytes();
        let purse = self.purse(question.request.user.as_ref());
        let guess = Usage {
            input_tokens: estimate(body.len()),
            output_tokens: u64::from(question.request.output_tokens_max),
            estimated: true,
        };
        self.book.promise(&purse, &guess).map_err(Failure::Final)?;
        let outcome = self.exchange(question, body, until, reply, each);
        // A rejected request costs nothing. One that broke off is charged as if its answer had the maximum length.
        let turned_away = matches!(&outcome, Err((_, false)));
        if outcome.is_err() {
            reply.usage = guess;
        } else if reply.usage.input_tokens == 0 {
            reply.usage = Usage { output_tokens: estimate(reply.text.len()), ..guess };
        }
        self.book.settle(&purse, &guess, (!turned_away).then_some(&reply.usage));
        outcome.map_err(|(failure, _)| failure)?;
        let read = reply.usage.input_tokens;
        if !reply.usage.estimated && guess.input_tokens > CUT_FROM_TOKENS && read < guess.input_tokens / READ_SHARE_MIN
        {
            let sent = guess.input_tokens;
            let why = format!("its server read {read} of about {sent} tokens: give the model a longer context there");
            return Err(Failure::Final(ModelError::Invalid(why)));
        }
        if let Some(words) = reply.refusal.take() {
            return Err(Failure::Final(ModelError::Refused(fault::words(&words))));
        }
        Ok(())
    }

    /// Sends a request and reads the answer. A failure comes with whether it may have cost something.
    fn exchange(
        &self,
        question: &Question<'_>,
        body: Vec<u8>,
        until: Instant,
        reply: &mut Reply,
        each: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), (Failure, bool)> {
        let provider = self.endpoint.provider;
        let (mut whole, mut events) = (Vec::new(), Events::default());
        let mut take = |piece: &[u8]| {
            if !question.stream {
                whole.extend_from_slice(piece);
                return ControlFlow::Continue(());
            }
            let told = events.push(piece, &mut |data| {
                let text = dialect::read_event(provider, data, reply)?;
                if !text.is_empty() && each(&text).is_break() {
                    return Err(Failure::Final(ModelError::Stopped));
                }
                Ok(())
            });
            told.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        };
        // A server that exceeds the output limit is cut off, since its output is charged.
        let each_token = if question.stream { STREAM_BYTES_PER_TOKEN } else { BYTES_PER_TOKEN };
        let wanted = (question.request.output_tokens_max as usize).saturating_mul(each_token) + FRAME_BYTES;
        let bytes_max = wanted.min(self.endpoint.limits.answer_bytes_max);
        let to = (dialect::place(provider), dialect::headers(&self.endpoint));
        let answer = self
            .transport
            .post(&self.endpoint, to, body, (until, bytes_max), &mut take)
            .map_err(|failure| (failure, true))?;
        if let HttpReply::Status { status, after, body } = answer {
            let formatted = question.shape.is_some_and(|(_, rung)| rung != JsonMode::Prompt);
            return Err((fault::of_status(status, after, &body, formatted), false));
        }
        if question.stream {
            let broke_off = || (Failure::passing("the answer ended before its end"), true);
            return if reply.ended { Ok(()) } else { Err(broke_off()) };
        }
        let value: Value = serde_json::from_slice(&whole).map_err(|_| {
            let words = fault::words(&String::from_utf8_lossy(&whole));
            (Failure::passing(format!("its answer is no JSON: {words}")), true)
        })?;
        *reply = dialect::read(provider, &value).map_err(|failure| (failure, true))?;
        Ok(())
    }

    /// Waits before the next attempt, or returns the error if none is left.
    fn before_next(&self, attempt: u32, failure: Failure, until: Instant) -> Result<(), ModelError> {
        let (why, after) = match failure {
            Failure::Passing { why, after, .. } => (why, after),
            // After earlier attempts, only part of the time was left for this one.
            Failure::Slow { why } if attempt > 1 => (why, None),
            Failure::Slow { why } => {
                self.breaker.failed(self.book.now(), &self.endpoint.limits);
                return Err(ModelError::TooSlow(format!("{why}; `deadline_ms` in the settings is the limit")));
            }
            Failure::Format { why, .. } => return Err(ModelError::Invalid(why)),
            Failure::Final(error) => return Err(error),
        };
        let given_up = |why: String| ModelError::Unavailable { why, retry_after: after };
        let limits = &self.endpoint.limits;
        if attempt >= limits.attempts_max {
            self.breaker.failed(self.book.now(), limits);
            return Err(given_up(format!("{why}; asked {attempt} times")));
        }
        let wait = after.unwrap_or_else(|| backoff::wait(limits.backoff, attempt, self.entropy.as_ref()));
        if Instant::now() + wait >= until {
            self.breaker.failed(self.book.now(), limits);
            return Err(given_up(why));
        }
        self.transport.wait(wait);
        Ok(())
    }

    fn until(&self, within: Duration) -> Instant {
        Instant::now() + within.min(self.endpoint.limits.total)
    }
}

/// Estimates tokens as one for every three bytes, which rather overestimates the cost.
fn estimate(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3)
}

fn add(all: &mut Usage, one: &Usage) {
    all.input_tokens += one.input_tokens;
    all.output_tokens += one.output_tokens;
    all.estimated |= one.estimated;
}

impl LanguageModel for RemoteModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn complete(&self, request: &CompletionRequest, within: Duration) -> Result<Completion, ModelError> {
        let whose = (&self.endpoint, self.id.as_str(), self.book.watch());
        observed(whose, request, |usage| self.complete_once(request, within, usage))
    }

    fn stream(
        &self,
        request: &CompletionRequest,
        within: Duration,
        each: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Completion, ModelError> {
        let whose = (&self.endpoint, self.id.as_str(), self.book.watch());
        observed(whose, request, |usage| self.stream_once(request, within, usage, each))
    }
}

impl RemoteModel {
    /// Requests one answer. `usage` holds its cost, also on failure.
    fn complete_once(
        &self,
        request: &CompletionRequest,
        within: Duration,
        usage: &mut Usage,
    ) -> Result<Completion, ModelError> {
        self.may_ask()?;
        let until = self.until(within);
        let known = self.rung();
        let (mut rung, mut messages) = (known, request.messages.clone());
        let (mut failures, mut asked_again, mut attempts) = (0, 0, 0);
        loop {
            let shape = request.shape.as_ref().map(|shape| (shape, rung));
            let question = Question { request, messages: &messages, shape, stream: false };
            let mut reply = Reply::default();
            attempts += 1;
            let outcome = self.once(&question, until, &mut reply, &mut |_| ControlFlow::Continue(()));
            add(usage, &reply.usage);
            if let Err(failure) = outcome {
                let below = rung.below(self.endpoint.provider).filter(|_| request.shape.is_some());
                let is_last = failures + 1 >= self.endpoint.limits.attempts_max;
                let steps_down = match &failure {
                    Failure::Format { .. } => true,
                    // Some servers fail at a format that they do not support.
                    Failure::Passing { unsure, .. } => *unsure && is_last,
                    Failure::Slow { .. } | Failure::Final(_) => false,
                };
                if let (true, Some(below)) = (steps_down, below) {
                    rung = below;
                    continue;
                }
                failures += 1;
                self.before_next(failures, failure, until)?;
                continue;
            }
            self.breaker.succeeded();
            if rung != known && request.shape.is_some() {
                // The server answers without the format, so the format was the cause.
                self.book.set_rung(&self.place(), rung);
            }
            let Some(shape) = &request.shape else {
                let text = super::json_text::spoken(&reply.text).unwrap_or_default().to_owned();
                return Ok(Completion { text, json: None, cut: reply.cut, usage: *usage, attempts });
            };
            if reply.cut {
                let output_tokens = u32::try_from(reply.usage.output_tokens).unwrap_or(u32::MAX);
                return Err(ModelError::Truncated { output_tokens });
            }
            let why = match ladder::read(&reply.text, shape) {
                Ok(value) => {
                    return Ok(Completion { text: reply.text, json: Some(value), cut: false, usage: *usage, attempts });
                }
                Err(why) => why,
            };
            if refusals::is_refusal(&reply.text) {
                return Err(ModelError::Refused(fault::words(&reply.text)));
            }
            if asked_again >= ASKED_AGAIN_MAX {
                return Err(ModelError::Malformed(why));
            }
            asked_again += 1;
            messages.truncate(request.messages.len());
            let shown: String = reply.text.chars().take(SHOWN_AGAIN_MAX).collect();
            messages.push(Message::of_assistant(shown));
            messages.push(Message::of_user(ladder::ask_again(&why)));
        }
    }

    fn stream_once(
        &self,
        request: &CompletionRequest,
        within: Duration,
        usage: &mut Usage,
        each: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Completion, ModelError> {
        self.may_ask()?;
        let until = self.until(within);
        let question = Question { request, messages: &request.messages, shape: None, stream: true };
        let mut attempts = 0;
        loop {
            let mut reply = Reply::default();
            attempts += 1;
            let outcome = self.once(&question, until, &mut reply, each);
            add(usage, &reply.usage);
            match outcome {
                Ok(()) => {
                    self.breaker.succeeded();
                    return Ok(Completion { text: reply.text, json: None, cut: reply.cut, usage: *usage, attempts });
                }
                Err(Failure::Passing { why, after, .. }) if !reply.text.is_empty() => {
                    self.breaker.failed(self.book.now(), &self.endpoint.limits);
                    return Err(ModelError::Unavailable { why, retry_after: after });
                }
                Err(failure) => self.before_next(attempts, failure, until)?,
            }
        }
    }
}

impl std::fmt::Debug for RemoteModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteModel").field("name", &self.name).field("id", &self.id).finish_non_exhaustive()
    }
}
