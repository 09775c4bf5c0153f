//! An exchange of the proxy, and how it is appended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use quipu_core::id::{EventId, UserId};
use quipu_core::limit;
use quipu_core::source::Role;
use quipu_engine::{Engine, Error, MemoryRef, RememberOptions, Utterance, erasure_epoch, recorded_at, remember};
use tokio::time::Instant;

use crate::metrics::Metrics;
use crate::proxy::{SaidTurn, reply_key};

/// An exchange to record. Clones share the progress of the append.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) user: UserId,
    pub(crate) session: String,
    /// The user's turns, oldest first; never empty.
    pub(crate) turns: Vec<SaidTurn>,
    pub(crate) said_at: Timestamp,
    /// The reply; empty if there is none, or none yet.
    pub(crate) reply: String,
    /// Why the reply is incomplete, if it is.
    pub(crate) partial: Option<&'static str>,
    pub(crate) agent: Option<String>,
    /// The rationale recorded with the events: through which interface the exchange came.
    pub(crate) note: String,
    pub(crate) appended: Appended,
}

/// Progress of the append of an exchange.
#[derive(Debug, Clone, Default)]
pub(crate) struct Appended(Arc<Mutex<AppendStatus>>);

#[derive(Debug, Clone, Copy, Default)]
struct AppendStatus {
    /// All turns of the user are durable.
    has_turns: bool,
    /// The first event of the ledger the exchange belongs to, once known.
    ledger: Option<EventId>,
}

impl Appended {
    /// Nothing is appended yet. `ledger` binds the exchange to a ledger by its first event: if the user is deleted
    /// before the append, the exchange is not recorded. `None` if the user has no ledger yet, or it is unknown.
    pub(crate) fn nothing(ledger: Option<EventId>) -> Self {
        Self(Arc::new(Mutex::new(AppendStatus { has_turns: false, ledger })))
    }

    fn standing(&self) -> MutexGuard<'_, AppendStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first event of the ledger the exchange belongs to, once known.
    pub(crate) fn ledger(&self) -> Option<EventId> {
        self.standing().ledger
    }
}

/// Outcome of one attempt to append an exchange.
#[derive(Debug)]
pub(super) enum Attempt {
    /// Everything is durable.
    Done,
    /// The store is unavailable.
    Unavailable,
    /// The exchange is not recorded and not retried.
    GivenUp,
}

/// Appends one exchange; counts and logs failures. With `is_last`, an unavailable store is final.
pub(super) fn attempt(engine: &Engine, metrics: &Metrics, exchange: &Exchange, is_last: bool) -> Attempt {
    let start = Instant::now();
    let span = tracing::info_span!(
        "create_memory",
        "gen_ai.operation.name" = "create_memory",
        "gen_ai.conversation.id" = exchange.session,
        "gen_ai.memory.record.count" = tracing::field::Empty,
        "error.type" = tracing::field::Empty,
    );
    let _in = span.enter();
    let outcome = append(engine, metrics, exchange);
    let done = match outcome {
        Ok(Some(count)) => {
            span.record("gen_ai.memory.record.count", count);
            Attempt::Done
        }
        Ok(None) => {
            metrics.turn("forgotten");
            tracing::info!("the memory was deleted while a turn waited: the turn is not recorded");
            Attempt::GivenUp
        }
        // The next attempt recognizes by its keys what was appended before the error.
        Err(Error::Unavailable(why) | Error::Conflict(why)) if !is_last => {
            tracing::warn!(why, "memory cannot be written; retrying");
            Attempt::Unavailable
        }
        Err(error) => {
            span.record("error.type", "remember");
            metrics.turn(if matches!(error, Error::Invalid(_) | Error::Refused(_)) { "refused" } else { "dropped" });
            tracing::error!(%error, "a turn was not recorded");
            Attempt::GivenUp
        }
    };
    let word = if matches!(done, Attempt::Done) { "ok" } else { "error" };
    metrics.took("create_memory", word, start.elapsed().as_secs_f64());
    done
}

/// A text to append, with its key.
struct PendingAppend<'a> {
    key: String,
    text: &'a str,
    role: Role,
}

/// Appends what is not recorded yet; returns the number of new pieces, or `None` if the user was deleted since the
/// exchange began.
fn append(engine: &Engine, metrics: &Metrics, exchange: &Exchange) -> Result<Option<usize>, Error> {
    let mut known = *exchange.appended.standing();
    if known.ledger.is_none() {
        // Stored even if the append fails, so that a user deleted before the next attempt is not created again.
        known.ledger = erasure_epoch(engine, &exchange.user)?.map(|epoch| epoch.ledger);
    }
    let mut appending = Appending { engine, metrics, exchange, ledger: known.ledger, count: 0 };
    let outcome = appending.all(known.has_turns);
    let (ledger, count) = (appending.ledger, appending.count);
    {
        let mut standing = exchange.appended.standing();
        standing.ledger = ledger;
        standing.has_turns |= outcome.is_ok();
    }
    match outcome {
        Ok(()) => Ok(Some(count)),
        Err(Error::Stale(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// An exchange being appended to one ledger.
struct Appending<'a> {
    engine: &'a Engine,
    metrics: &'a Metrics,
    exchange: &'a Exchange,
    /// The first event of the ledger, once known.
    ledger: Option<EventId>,
    /// Number of new pieces.
    count: usize,
}

impl Appending<'_> {
    /// Appends everything; fails with `Stale` if the user was deleted.
    fn all(&mut self, has_turns: bool) -> Result<(), Error> {
        let exchange = self.exchange;
        if !has_turns {
            for turn in &exchange.turns {
                self.words(turn, Role::User)?;
            }
        }
        if let Some(last) = exchange.turns.last().filter(|_| !exchange.reply.is_empty()) {
            let reply = SaidTurn { key: reply_key(&last.key, &exchange.reply), words: exchange.reply.clone() };
            self.words(&reply, Role::Assistant)?;
        }
        Ok(())
    }

    /// Appends the text of one turn, in several pieces if it is long.
    fn words(&mut self, turn: &SaidTurn, role: Role) -> Result<(), Error> {
        for (number, text) in pieces(&turn.words).into_iter().enumerate() {
            let key = if number == 0 { turn.key.clone() } else { format!("{}:{number}", turn.key) };
            if recorded_at(self.engine, &self.exchange.user, &key)?.is_some() {
                self.metrics.turn("known");
            } else {
                self.piece(PendingAppend { key, text, role })?;
                let is_partial = role == Role::Assistant && self.exchange.partial.is_some();
                self.metrics.turn(if is_partial { "partial" } else { "recorded" });
                self.count += 1;
            }
            if self.ledger.is_none() {
                // What follows belongs to the ledger that now contains this text. If that is gone, the user was
                // deleted.
                self.ledger = erasure_epoch(self.engine, &self.exchange.user)?.map(|epoch| epoch.ledger);
                if self.ledger.is_none() {
                    return Err(Error::Stale("the user was deleted just now".to_owned()));
                }
            }
        }
        Ok(())
    }

    fn piece(&mut self, words: PendingAppend<'_>) -> Result<(), Error> {
        let exchange = self.exchange;
        let is_reply = words.role == Role::Assistant;
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
            idempotency_key: Some(words.key),
            rationale: Some(match exchange.partial.filter(|_| is_reply) {
                Some(why) => format!("{}; partial: {why}", exchange.note),
                None => exchange.note.clone(),
            }),
            // Reading, summarising and embedding run in the background: `Queue::process`.
            durable_only: true,
            ..RememberOptions::default()
        };
        let receipt = remember(self.engine, MemoryRef::of(&exchange.user).in_ledger(self.ledger), &said, &options)?;
        if receipt.seq == 1 {
            self.ledger = Some(receipt.event_id);
        }
        Ok(())
    }
}

/// Splits a text into pieces of the permitted length.
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
