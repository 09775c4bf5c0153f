//! Turns that wait to be recorded: of one user one after the other, of all users a bounded number at a time.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_core::limit;
use quipu_core::source::Role;
use quipu_engine::{Budget, Engine, Error, RememberOptions, Until, Utterance, process, recorded_at, remember};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::metrics::Metrics;
use crate::options::Bounds;
use crate::proxy::{SaidTurn, reply_key};

/// After a store that is not available is asked again, so often and so much later.
const AGAIN_AFTER: [Duration; 3] = [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(5)];

/// Sources a second reader reads in one go: others have their turn too.
const STUDIED_AT_ONCE: usize = 64;

/// What came of one request, to be kept.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) user: UserId,
    pub(crate) session: String,
    /// What the user said, oldest first; never empty.
    pub(crate) turns: Vec<SaidTurn>,
    pub(crate) said_at: Timestamp,
    /// What was replied; empty if nothing was.
    pub(crate) reply: String,
    /// Why the reply is not whole, if it is not.
    pub(crate) partial: Option<&'static str>,
    pub(crate) agent: Option<String>,
    /// What is recorded as the reason: through which door it came.
    pub(crate) note: String,
}

/// A place in the queue, held from before a request is passed on.
pub(crate) struct Place(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

/// The queue.
pub(crate) struct Queue {
    engine: Arc<Engine>,
    metrics: Arc<Metrics>,
    /// Users something is recorded for, with what waits behind it.
    waiting: Mutex<HashMap<UserId, VecDeque<(Exchange, Place)>>>,
    /// Users of whom something is read and told, with the conversations that have something new since.
    studying: Mutex<HashMap<UserId, BTreeSet<Option<String>>>>,
    students: Arc<Semaphore>,
    places: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    went: Notify,
    runtime: Handle,
}

impl Queue {
    /// To be made inside the runtime that does the work.
    pub(crate) fn new(engine: Arc<Engine>, bounds: &Bounds, metrics: Arc<Metrics>) -> Self {
        Self {
            engine,
            metrics,
            waiting: Mutex::default(),
            studying: Mutex::default(),
            students: Arc::new(Semaphore::new(bounds.studies_max)),
            places: Arc::new(Semaphore::new(bounds.turns_waiting_max)),
            workers: Arc::new(Semaphore::new(bounds.recordings_max)),
            went: Notify::new(),
            runtime: Handle::current(),
        }
    }

    /// A place for one exchange; waits for one as long as the request can wait.
    pub(crate) async fn place(&self, within: Duration) -> Option<Place> {
        let place = tokio::time::timeout(within, self.places.clone().acquire_owned()).await;
        place.ok().and_then(Result::ok).map(Place)
    }

    /// True if there is a place now.
    pub(crate) fn has_room(&self) -> bool {
        self.places.available_permits() > 0
    }

    /// How many wait or are being recorded.
    pub(crate) fn depth(&self) -> i64 {
        self.metrics.queue_depth.get()
    }

    /// True if nothing waits, is being recorded, or is being read.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting().is_empty() && self.studying().is_empty()
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<UserId, VecDeque<(Exchange, Place)>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an exchange behind those of its user.
    pub(crate) fn push(self: &Arc<Self>, exchange: Exchange, place: Place) {
        self.metrics.queue_depth.inc();
        let user = exchange.user.clone();
        let mut waiting = self.waiting();
        if let Some(line) = waiting.get_mut(&user) {
            line.push_back((exchange, place));
            return;
        }
        waiting.insert(user.clone(), VecDeque::from([(exchange, place)]));
        drop(waiting);
        let queue = self.clone();
        self.runtime.spawn(async move { queue.work_off(user).await });
    }

    /// Records what waits for one user until nothing does.
    async fn work_off(self: Arc<Self>, user: UserId) {
        loop {
            let next = {
                let mut waiting = self.waiting();
                let next = waiting.get_mut(&user).and_then(VecDeque::pop_front);
                if next.is_none() {
                    waiting.remove(&user);
                }
                next
            };
            let Some((exchange, place)) = next else { break };
            let Ok(worker) = self.workers.clone().acquire_owned().await else { break };
            let session = Some(exchange.session.clone());
            let (engine, metrics) = (self.engine.clone(), self.metrics.clone());
            let work = tokio::task::spawn_blocking(move || {
                let _held = (worker, place);
                keep(&engine, &metrics, &exchange);
            });
            if work.await.is_err() {
                self.metrics.turn("dropped");
                tracing::error!("recording a turn stopped without an answer");
            }
            self.metrics.queue_depth.dec();
            self.went.notify_waiters();
            self.study(&user, session);
        }
        self.went.notify_waiters();
    }

    fn studying(&self) -> MutexGuard<'_, HashMap<UserId, BTreeSet<Option<String>>>> {
        self.studying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets rules and models read and tell what was recorded. It holds up no recording, and takes together what came
    /// meanwhile: under load words are understood later, not lost.
    pub(crate) fn study(self: &Arc<Self>, user: &UserId, session: Option<String>) {
        let mut studying = self.studying();
        if let Some(sessions) = studying.get_mut(user) {
            sessions.insert(session);
            return;
        }
        studying.insert(user.clone(), BTreeSet::from([session]));
        drop(studying);
        let (queue, user) = (self.clone(), user.clone());
        self.runtime.spawn(async move {
            loop {
                let Ok(student) = queue.students.clone().acquire_owned().await else { return };
                let Some(sessions) = queue.next_to_study(&user) else { break };
                let (own, whose) = (queue.clone(), user.clone());
                let work = tokio::task::spawn_blocking(move || {
                    let _held = student;
                    sessions.iter().for_each(|session| own.study_now(&whose, session.as_deref()));
                });
                if work.await.is_err() {
                    tracing::error!("reading what was said stopped without an answer");
                }
            }
            queue.went.notify_waiters();
        });
    }

    /// The conversations that have something new; forgets the user if none has.
    fn next_to_study(&self, user: &UserId) -> Option<BTreeSet<Option<String>>> {
        let mut studying = self.studying();
        let sessions = std::mem::take(studying.get_mut(user)?);
        if sessions.is_empty() {
            studying.remove(user);
            return None;
        }
        Some(sessions)
    }

    fn study_now(&self, user: &UserId, session: Option<&str>) {
        let start = Instant::now();
        let span = tracing::info_span!(
            "update_memory",
            "gen_ai.operation.name" = "update_memory",
            "gen_ai.conversation.id" = session,
        );
        let _in = span.enter();
        let budget = Budget { sources_max: STUDIED_AT_ONCE, session: session.map(str::to_owned) };
        let done = process(&self.engine, user, Until::Everything, &budget)
            .map(|done| done.faults().map(str::to_owned).collect::<Vec<_>>());
        let outcome = match done {
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

    /// Waits until nothing waits or is being read; returns how many exchanges are not recorded when the time is up.
    pub(crate) async fn drain(&self, within: Duration) -> usize {
        let empty = async {
            loop {
                let went = self.went.notified();
                if self.waiting().is_empty() && self.studying().is_empty() {
                    return;
                }
                went.await;
            }
        };
        let _ = tokio::time::timeout(within, empty).await;
        usize::try_from(self.depth()).unwrap_or(0)
    }
}

/// Records one exchange; what cannot be recorded is counted and told.
fn keep(engine: &Engine, metrics: &Metrics, exchange: &Exchange) {
    let start = Instant::now();
    let span = tracing::info_span!(
        "create_memory",
        "gen_ai.operation.name" = "create_memory",
        "gen_ai.conversation.id" = exchange.session,
        "gen_ai.memory.record.count" = tracing::field::Empty,
        "error.type" = tracing::field::Empty,
    );
    let _in = span.enter();
    let mut after = AGAIN_AFTER.iter();
    let outcome = loop {
        match record(engine, metrics, exchange) {
            // What was recorded before the fault is known now.
            Err(Error::Unavailable(why)) => match after.next() {
                Some(pause) => {
                    tracing::warn!(why, "memory cannot be written; it is tried again");
                    std::thread::sleep(*pause);
                }
                None => break Err(Error::Unavailable(why)),
            },
            other => break other,
        }
    };
    let word = match &outcome {
        Ok(count) => {
            span.record("gen_ai.memory.record.count", count);
            "ok"
        }
        Err(error) => {
            span.record("error.type", "remember");
            metrics.turn(if matches!(error, Error::Invalid(_) | Error::Refused(_)) { "refused" } else { "dropped" });
            tracing::error!(%error, "a turn was not recorded");
            "error"
        }
    };
    metrics.took("create_memory", word, start.elapsed().as_secs_f64());
}

/// Something to be remembered, with its name.
struct Words<'a> {
    key: String,
    text: &'a str,
    role: Role,
}

fn record(engine: &Engine, metrics: &Metrics, exchange: &Exchange) -> Result<usize, Error> {
    let reply = exchange
        .turns
        .last()
        .filter(|_| !exchange.reply.is_empty())
        .map(|turn| SaidTurn { key: reply_key(&turn.key, &exchange.reply), words: exchange.reply.clone() });
    let said =
        exchange.turns.iter().map(|turn| (turn, Role::User)).chain(reply.iter().map(|reply| (reply, Role::Assistant)));
    let mut fresh: Vec<Words<'_>> = Vec::new();
    for (turn, role) in said {
        for (number, text) in pieces(&turn.words).into_iter().enumerate() {
            let key = if number == 0 { turn.key.clone() } else { format!("{}:{number}", turn.key) };
            if recorded_at(engine, &exchange.user, &key)?.is_some() {
                metrics.turn("known");
            } else {
                fresh.push(Words { key, text, role });
            }
        }
    }
    for words in &fresh {
        let is_reply = words.role == Role::Assistant;
        let partial = exchange.partial.filter(|_| is_reply);
        let said = Utterance {
            text: words.text.replace('\0', "\u{fffd}"),
            role: words.role,
            author: exchange.agent.clone().filter(|_| is_reply),
            session: Some(exchange.session.clone()),
            topic: None,
            said_at: (!is_reply).then_some(exchange.said_at),
            artifacts: Vec::new(),
        };
        let options = RememberOptions {
            idempotency_key: Some(words.key.clone()),
            rationale: Some(match partial {
                Some(why) => format!("{}; partial: {why}", exchange.note),
                None => exchange.note.clone(),
            }),
            // What comes of the words is worked out beside the line: `study`.
            durable_only: true,
            ..RememberOptions::default()
        };
        remember(engine, &exchange.user, &said, &options)?;
        metrics.turn(if partial.is_some() { "partial" } else { "recorded" });
    }
    Ok(fresh.len())
}

/// A text in pieces that may be recorded.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > limit::SOURCE_BYTES_MAX {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(limit::SOURCE_BYTES_MAX));
        pieces.push(piece);
        rest = after;
    }
    if !rest.trim().is_empty() {
        pieces.push(rest);
    }
    pieces
}
