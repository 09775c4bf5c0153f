//! Proxies a chat request with memory: parse, recall, inject, pass on, read the reply, record.
//!
//! If memory fails, the request is passed on unchanged; response headers report what happened.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use bytes::Bytes;
use quipu_core::id::{EventId, UserId};
use quipu_engine::ports::Scope;
use tokio::time::Instant;
use tracing::{Instrument, field};

use super::breaking::sent_before_an_error;
use super::caller::Caller;
use super::fault::Fault;
use super::pass::{self, MemoryHeaders};
use crate::app::App;
use crate::memory::{MemoryQuery, Recalled};
use crate::options::Upstream;
use crate::proxy::{
    self, Ask, Dialect, Ended, Hold, Messages, Reader, Reply, SaidTurn, Speaker, Tee, address, choose, with_blocks,
};
use crate::queue::{Appended, Durability, Exchange, QueueSlot};

pub(super) async fn chat(State(app): State<Arc<App>>, request: Request) -> Response {
    remembered(app, Dialect::Chat, "chat/completions", request).await
}

pub(super) async fn responses(State(app): State<Arc<App>>, request: Request) -> Response {
    remembered(app, Dialect::Responses, "responses", request).await
}

pub(super) async fn messages(State(app): State<Arc<App>>, request: Request) -> Response {
    remembered(app, Dialect::Messages, "v1/messages", request).await
}

async fn remembered(app: Arc<App>, dialect: Dialect, path: &'static str, request: Request) -> Response {
    let request_id = app.new_request_id();
    let span = tracing::info_span!(
        "chat",
        "gen_ai.operation.name" = "chat",
        "gen_ai.request.model" = field::Empty,
        "gen_ai.provider.name" = field::Empty,
        "gen_ai.conversation.id" = field::Empty,
        "error.type" = field::Empty,
        request_id,
    );
    let outcome = answer(&app, dialect, path, request, &request_id).instrument(span).await;
    outcome.unwrap_or_else(|fault| pass::refused(&fault, Some(dialect.wire()), request_id))
}

/// What memory has to do for a request.
struct Task {
    request: proxy::ChatRequest,
    user: UserId,
    session: String,
    /// The user's new messages; never empty.
    turns: Vec<SaidTurn>,
    /// All messages of the user in the request.
    messages: Messages,
}

async fn answer(
    app: &Arc<App>,
    dialect: Dialect,
    path: &str,
    request: Request,
    request_id: &str,
) -> Result<Response, Fault> {
    let (parts, body) = request.into_parts();
    let ask = Ask::read(&parts.headers, &app.engine).map_err(Fault::invalid)?;
    let caller = pass::caller(&parts)?;
    for (wanted, scope) in [(ask.mode.reads(), Scope::Read), (ask.mode.writes(), Scope::Write)] {
        if wanted {
            caller.must(scope)?;
        }
    }
    let body = pass::collect(&parts, body, &app.options.bounds).await?;
    let start = Instant::now();
    let read = readable(&parts.headers, &body).and_then(|text| proxy::read(dialect, text));
    let model = read.as_ref().and_then(|request| request.model.clone());
    let upstream = choose(&app.options.upstreams, dialect.wire(), model.as_deref())
        .ok_or_else(|| pass::no_upstream(dialect.wire(), model.as_deref(), &body))?;
    let url = address(upstream, path, parts.uri.query()).ok_or_else(|| Fault::not_found("unknown path"))?;
    let headers = pass::outgoing(&parts.headers, upstream)?;
    let task = task(app, &caller, &parts.headers, &ask, read).await?;
    note(task.as_ref(), upstream, model.as_deref());

    let mut told = MemoryHeaders::skipped(request_id.to_owned());
    let mut outgoing = body.clone();
    let mut kept = None;
    if let Some(task) = task {
        let within = app.options.recall_within;
        let (recalled, place, ledger) = tokio::join!(
            async { if ask.mode.reads() { Some(recall(app, &ask, &task).await) } else { None } },
            async { if ask.mode.writes() { app.queue.place(within).await } else { None } },
            // If the user is deleted from here on, earlier messages are not recorded.
            async { if ask.mode.writes() { app.memory.ledger(&task.user, within).await } else { None } },
        );
        told.status = "ok";
        if let Some(with_memory) = put_in(&body, &task, upstream, recalled, &mut told) {
            outgoing = with_memory;
        }
        if ask.mode.writes() {
            let messages = task.messages.clone();
            let note = format!(
                "through the proxy: {request_id} to {} ({})",
                upstream.name,
                model.as_deref().unwrap_or("no model").chars().take(100).collect::<String>()
            );
            let exchange = exchange(app, &ask, task, ledger, note);
            // Appended after the recall, so that the question does not find itself.
            kept = say(app, exchange, messages, place, &mut told).await;
        }
    }
    told.latency_ms = start.elapsed().as_secs_f64() * 1e3;
    app.metrics.took("proxy_request", told.status, start.elapsed().as_secs_f64());

    let sent = app.client.request(parts.method, url).headers(headers).body(outgoing).send().await;
    let answer = match sent {
        Ok(answer) => answer,
        Err(error) => {
            let fault = Fault::upstream(&upstream.name, &error);
            tracing::Span::current().record("error.type", fault.status.as_u16());
            pass::count(app, &upstream.name, fault.status.as_u16(), told.status);
            let mut response = fault.answer(Some(dialect.wire()), Some(request_id));
            told.put_into(response.headers_mut());
            return Ok(response);
        }
    };
    pass::count(app, &upstream.name, answer.status().as_u16(), told.status);
    let (head, ()) = pass::head(&answer, &told).into_parts();
    let body = listening(app, dialect, answer, kept);
    Ok(Response::from_parts(head, body))
}

/// The body as text; `None` if it is encoded or not UTF-8.
fn readable<'a>(headers: &HeaderMap, body: &'a Bytes) -> Option<&'a str> {
    let is_plain = headers.get(header::CONTENT_ENCODING).is_none_or(|encoding| encoding == "identity");
    std::str::from_utf8(body).ok().filter(|_| is_plain)
}

/// The task of memory; `None` if memory is off, or the request has no new message of a user.
async fn task(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    ask: &Ask,
    read: Option<proxy::ChatRequest>,
) -> Result<Option<Task>, Fault> {
    // The user of a key takes precedence over users named in the request.
    let user = match caller.bound() {
        Some(bound) => Some(bound.clone()),
        None => proxy::user(headers, read.as_ref(), app.options.user.as_ref()).map_err(Fault::invalid)?,
    };
    let (Some(mut request), Some(user)) = (read, user) else { return Ok(None) };
    if !(ask.mode.reads() || ask.mode.writes()) || app.asides.has(&request) {
        return Ok(None);
    }
    let before = request.goes_on_from.clone();
    if let Some(reply) = before.as_ref().filter(|reply| app.chain.knows(&user, reply)) {
        let ledger = app.memory.ledger(&user, app.options.recall_within).await;
        request.sessions.extend(app.chain.session(&user, reply, ledger));
    }
    let Some(mut session) = proxy::session(headers, &request) else { return Ok(None) };
    let mut turns = proxy::turns(&session, before.as_deref(), &request.messages);
    let messages = Messages::of(&request.messages);
    if let Some(earlier) = app.unanswered.take_up(&user, &session, &messages, &mut turns) {
        session = earlier;
    }
    Ok((!turns.is_empty()).then_some(Task { request, user, session, turns, messages }))
}

fn note(task: Option<&Task>, upstream: &Upstream, model: Option<&str>) {
    let span = tracing::Span::current();
    span.record("gen_ai.provider.name", upstream.name.as_str());
    if let Some(model) = model {
        span.record("gen_ai.request.model", model);
    }
    if let Some(task) = task {
        span.record("gen_ai.conversation.id", task.session.as_str());
    }
}

async fn recall(app: &App, ask: &Ask, task: &Task) -> Recalled {
    let said =
        || task.request.messages.iter().filter(|said| matches!(said.speaker, Speaker::User | Speaker::Assistant));
    let present: BTreeSet<String> = said().map(|said| said.words.clone()).filter(|words| !words.is_empty()).collect();
    let query = task.turns.iter().map(|turn| turn.words.as_str()).collect::<Vec<_>>().join("\n");
    let wanted = MemoryQuery {
        user: task.user.clone(),
        session: task.session.clone(),
        turn: task.turns.last().map(|turn| turn.key.clone()).unwrap_or_default(),
        query,
        present,
        max_tokens: ask.max_tokens.unwrap_or(app.options.max_tokens),
        at: ask.at,
    };
    app.memory.recall(wanted, app.options.recall_within).await
}

/// The bytes of the request with the block; `None` if they stay unchanged. Records the outcome in `told`.
fn put_in(
    body: &Bytes,
    task: &Task,
    upstream: &Upstream,
    recalled: Option<Recalled>,
    told: &mut MemoryHeaders,
) -> Option<Bytes> {
    let block = match recalled? {
        Recalled::Block(block) => block,
        Recalled::Late => {
            told.status = "degraded";
            return None;
        }
        Recalled::Failed(_) => {
            told.status = "error";
            return None;
        }
    };
    if block.is_degraded {
        told.status = "degraded";
    }
    // An existing block was injected by another Quipu or by the application.
    if block.is_empty() || task.request.has_block {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?;
    let Some(made) = with_blocks(text, &task.request, upstream.placement, &block.stable, &block.changing) else {
        told.status = "degraded";
        return None;
    };
    told.is_injected = true;
    told.tokens = block.tokens;
    told.ids.clone_from(&block.ids);
    Some(Bytes::from(made))
}

fn exchange(app: &App, ask: &Ask, task: Task, ledger: Option<EventId>, note: String) -> Exchange {
    let Task { user, session, turns, .. } = task;
    Exchange {
        user,
        session,
        turns,
        said_at: app.clock.now(),
        reply: String::new(),
        partial: None,
        agent: ask.agent.clone(),
        note,
        appended: Appended::nothing(ledger),
    }
}

/// Appends the user's messages before the request is passed on. If they are not durable in time, `told` reports it and
/// the request goes on.
async fn say(
    app: &Arc<App>,
    exchange: Exchange,
    messages: Messages,
    place: Option<QueueSlot>,
    told: &mut MemoryHeaders,
) -> Option<PendingExchange> {
    let degrade = |told: &mut MemoryHeaders| told.status = if told.status == "error" { "error" } else { "degraded" };
    let Some(place) = place else {
        degrade(told);
        app.metrics.turn("dropped");
        tracing::warn!("the queue of turns is full: this turn is not recorded");
        return None;
    };
    let kept = PendingExchange { app: app.clone(), exchange, messages, place, replied: None, is_over: false };
    let pending = app.queue.push(kept.exchange.clone(), kept.place.clone(), false);
    match pending.settled().await {
        Durability::Durable => {}
        Durability::Delayed => {
            degrade(told);
            app.metrics.turn("late");
            tracing::warn!("the user's message is not durable yet; the request goes on");
        }
        Durability::Lost => degrade(told),
    }
    Some(kept)
}

/// An exchange to record. Dropping it ends the exchange without a reply: the upstream failed, or the client
/// disconnected before the first byte.
struct PendingExchange {
    app: Arc<App>,
    exchange: Exchange,
    messages: Messages,
    place: QueueSlot,
    /// The reply recorded so far.
    replied: Option<String>,
    is_over: bool,
}

impl PendingExchange {
    /// Notes that the client may retry the request.
    fn note_unanswered(&self) {
        let Exchange { user, session, turns, .. } = &self.exchange;
        self.app.unanswered.note(user, session, self.messages.clone(), turns);
    }

    /// Records the reply. The bytes that complete it are held back until it is durable.
    fn reply(&mut self, reply: Reply, ended: Ended) -> Hold {
        self.is_over = ended != Ended::Said;
        if !reply.words.is_empty() || reply.is_whole {
            self.app.unanswered.answered(&self.exchange.user, &self.exchange.session);
        } else if self.is_over {
            self.note_unanswered();
        }
        if self.replied.as_ref() == Some(&reply.words) {
            return Box::pin(std::future::ready(()));
        }
        let partial = match (reply.is_whole, ended) {
            (true, _) if reply.is_cut => Some("the reply was too long"),
            (true, _) => None,
            (false, Ended::Left) if *self.app.stopping.borrow() => Some("the server was stopped"),
            (false, Ended::Left) => Some("the client went away"),
            (false, Ended::Broken) => Some("the upstream broke off"),
            (false, Ended::Through | Ended::Said) => Some("the reply has no end"),
        };
        let exchange = Exchange { reply: reply.words.clone(), partial, ..self.exchange.clone() };
        let pending = self.app.queue.push(exchange, self.place.clone(), true);
        let is_silent = reply.words.is_empty();
        self.replied = Some(reply.words);
        let (app, exchange, id) = (self.app.clone(), self.exchange.clone(), reply.id);
        if let Some(id) = &id {
            app.chain.keep(&exchange.user, id, &exchange.session, exchange.appended.ledger());
        }
        Box::pin(async move {
            if !is_silent && pending.settled().await == Durability::Delayed {
                app.metrics.turn("late");
                tracing::warn!("the reply is not durable yet; its end is passed on");
            }
        })
    }
}

impl Drop for PendingExchange {
    fn drop(&mut self) {
        if !self.is_over && self.replied.is_none() {
            self.note_unanswered();
            // The outcome is not needed.
            let _ = self.app.queue.push(self.exchange.clone(), self.place.clone(), true);
        }
    }
}

/// The body of a response; its reply is recorded before the client sees the end.
fn listening(app: &App, dialect: Dialect, answer: reqwest::Response, kept: Option<PendingExchange>) -> Body {
    let Some(mut kept) = kept.filter(|_| answer.status().is_success()) else { return pass::unread(answer) };
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let reader = Reader::new(dialect, kind.starts_with("text/event-stream"), app.options.bounds.reply_bytes_max);
    let tee = Tee::new(answer.bytes_stream(), reader, move |reply, ended| kept.reply(reply, ended));
    Body::from_stream(sent_before_an_error(tee))
}
