//! What came of one request, and how it is appended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use quipu_core::id::{EventId, UserId};
use quipu_core::limit;
use quipu_core::source::Role;
use quipu_engine::{Engine, Error, RememberOptions, Utterance, erasure_epoch, recorded_at, remember};
use tokio::time::Instant;

use crate::metrics::Metrics;
use crate::proxy::{SaidTurn, reply_key};

/// What came of one request, to be kept. Clones share what is known of how far it was appended.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) user: UserId,
    pub(crate) session: String,
    /// What the user said, oldest first; never empty.
    pub(crate) turns: Vec<SaidTurn>,
    pub(crate) said_at: Timestamp,
    /// What was replied; empty if nothing was, or not yet.
    pub(crate) reply: String,
    /// Why the reply is not whole, if it is not.
    pub(crate) partial: Option<&'static str>,
    pub(crate) agent: Option<String>,
    /// What is recorded as the reason: through which door it came.
    pub(crate) note: String,
    pub(crate) appended: Appended,
}

/// How far an exchange was appended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Appended(Arc<Mutex<Standing>>);

#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    /// All turns of the user are durable.
    has_turns: bool,
    /// The ledger that this exchange belongs to, once it is known.
    ledger: Option<EventId>,
}

impl Appended {
    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first event of the ledger it was appended to, once it was.
    pub(crate) fn ledger(&self) -> Option<EventId> {
        self.standing().ledger
    }
}

/// What came of one attempt to append an exchange.
#[derive(Debug)]
pub(super) enum Attempt {
    /// All of it is durable.
    Done,
    /// The store cannot be written now.
    Unavailable,
    /// It is not recorded and is not tried again.
    GivenUp,
}

/// Appends one exchange; counts and logs what cannot be appended. With `is_last`, a store that is unavailable ends it too.
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
        // What was appended before the fault is known by its name at the next attempt.
        Err(Error::Unavailable(why)) if !is_last => {
            tracing::warn!(why, "memory cannot be written; it is tried again");
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

/// Something to be appended, with its name.
struct Words<'a> {
    key: String,
    text: &'a str,
    role: Role,
}

/// Appends what is not recorded yet; returns how much that was, and nothing if the user was deleted since the exchange began.
fn append(engine: &Engine, metrics: &Metrics, exchange: &Exchange) -> Result<Option<usize>, Error> {
    let known = *exchange.appended.standing();
    let ledger = erasure_epoch(engine, &exchange.user)?.map(|epoch| epoch.ledger);
    if known.ledger.is_some() && known.ledger != ledger {
        return Ok(None);
    }
    exchange.appended.standing().ledger = ledger;
    let mut count = 0;
    if !known.has_turns {
        for turn in &exchange.turns {
            count += append_words(engine, metrics, exchange, turn, Role::User)?;
        }
    }
    if ledger.is_none() {
        // The first words of a new user have just made the ledger.
        exchange.appended.standing().ledger = erasure_epoch(engine, &exchange.user)?.map(|epoch| epoch.ledger);
    }
    exchange.appended.standing().has_turns = true;
    if let Some(last) = exchange.turns.last().filter(|_| !exchange.reply.is_empty()) {
        let reply = SaidTurn { key: reply_key(&last.key, &exchange.reply), words: exchange.reply.clone() };
        count += append_words(engine, metrics, exchange, &reply, Role::Assistant)?;
    }
    Ok(Some(count))
}

/// Appends the words of one turn, in several pieces if they are long; returns how many pieces were new.
fn append_words(
    engine: &Engine,
    metrics: &Metrics,
    exchange: &Exchange,
    turn: &SaidTurn,
    role: Role,
) -> Result<usize, Error> {
    let mut count = 0;
    for (number, text) in pieces(&turn.words).into_iter().enumerate() {
        let key = if number == 0 { turn.key.clone() } else { format!("{}:{number}", turn.key) };
        if recorded_at(engine, &exchange.user, &key)?.is_some() {
            metrics.turn("known");
            continue;
        }
        append_piece(engine, exchange, Words { key, text, role })?;
        let is_partial = role == Role::Assistant && exchange.partial.is_some();
        metrics.turn(if is_partial { "partial" } else { "recorded" });
        count += 1;
    }
    Ok(count)
}

fn append_piece(engine: &Engine, exchange: &Exchange, words: Words<'_>) -> Result<(), Error> {
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
        // Reading, telling and embedding are background work: `Queue::process`.
        durable_only: true,
        ..RememberOptions::default()
    };
    remember(engine, &exchange.user, &said, &options).map(drop)
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
