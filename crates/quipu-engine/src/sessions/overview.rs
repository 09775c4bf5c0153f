//! Sessions: what conversations there are, and what each knows of itself.

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::Trust;
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::item::{Depth, Evidence, RefusedEntry, Truth, TruthKind};
use quipu_core::session::{self, BaseTruthSnapshot, Exchange, SessionArtifact, WindowTurn};
use quipu_core::source::Role;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::versions::{self, When};
use crate::sessions::base_truth::{in_force, must_have};

/// A session in figures.
#[derive(Debug, Clone, Serialize)]
pub struct SessionShown {
    /// Its name.
    pub session_id: String,
    /// Exchanges.
    pub turns: usize,
    /// Entries of the base truth, hard exceptions among them.
    pub base_truth: usize,
    /// Hard exceptions.
    pub exceptions: usize,
    /// Closed exchanges that are not told.
    pub unsummarized: usize,
    /// True if it was ended and did not go on.
    pub is_over: bool,
    /// When it began.
    pub first_said_at: Option<Timestamp>,
    /// When something was last said.
    pub last_said_at: Option<Timestamp>,
}

/// An entry of a base truth as it is shown.
#[derive(Debug, Clone, Serialize)]
pub struct TruthShown {
    /// Its name.
    pub id: ItemId,
    /// What it is.
    pub kind: TruthKind,
    /// What it says.
    pub text: String,
    /// The turn it was summarised from; none if it was written by hand or merged.
    pub turn: Option<u32>,
    /// True if a person wrote it.
    pub by_hand: bool,
    /// How far it may reach.
    pub trust: Trust,
    /// Where it stands.
    pub evidence: Vec<Evidence>,
    /// The event that made it.
    pub event_seq: Option<Seq>,
}

impl TruthShown {
    fn of(memory: &Memory, truth: &Truth) -> Self {
        let sessions = memory.items().sessions();
        let turn = truth.exchange.and_then(|opening| {
            let told = |summary: &&quipu_core::session::Logged| summary.summary.sources.contains(&opening);
            sessions.turns(&truth.session).into_iter().find(told).map(|logged| logged.summary.turn)
        });
        Self {
            id: truth.id,
            kind: truth.kind,
            text: truth.text.clone(),
            turn,
            by_hand: truth.evidence.is_empty(),
            trust: truth.trust,
            evidence: truth.evidence.clone(),
            event_seq: sessions.entry(truth.id).map(|entry| entry.seq),
        }
    }
}

/// A line of the turn log as it is shown.
#[derive(Debug, Clone, Serialize)]
pub struct TurnShown {
    /// Its number.
    pub turn: u32,
    /// What the user wanted; the words themselves if it is `raw` or `unsummarized`.
    pub user_summary: String,
    /// What was answered; the words themselves likewise.
    pub assistant_summary: String,
    /// How deeply it was, or will be, summarised.
    pub depth: Depth,
    /// True if the summariser failed for good.
    pub raw: bool,
    /// True if it is not told yet: a later turn tells it.
    pub unsummarized: bool,
    /// What was proposed and not done.
    pub refused: Vec<RefusedEntry>,
    /// Its sources.
    pub sources: Vec<ItemId>,
    /// When it began.
    pub said_at: Option<Timestamp>,
}

/// What a session knows of itself.
#[derive(Debug, Clone, Serialize)]
pub struct SessionState {
    /// Its name.
    pub session_id: String,
    /// The version this is.
    pub version: Seq,
    /// True if it was ended and did not go on.
    pub is_over: bool,
    /// What holds, hard exceptions first.
    pub base_truth: Vec<TruthShown>,
    /// One line a closed exchange.
    pub turn_log: Vec<TurnShown>,
    /// The last exchanges word for word.
    pub raw_window: Vec<WindowTurn>,
    /// Blocks of code, drafts and what came with messages, by turn.
    pub artifacts: Vec<SessionArtifact>,
    /// Turns that are not told yet.
    pub unsummarized: Vec<u32>,
    /// The turn at which the base truth was last consolidated.
    pub consolidated_turn: u32,
    /// Snapshots of the base truth that are kept.
    pub snapshots: usize,
}

/// Every session, in the order of its first source; then those that have only a base truth yet.
///
/// # Errors
/// `NotFound` without such a user or version.
pub fn sessions(engine: &Engine, user: &UserId, at: When) -> Result<Vec<SessionShown>> {
    on_version(engine, user, at, &mut |memory| {
        let begun = memory.sessions().iter().map(|session| session.id.to_string());
        let set = memory.items().sessions().names().filter(|name| memory.session(name).is_none());
        Ok(begun.chain(set.map(str::to_owned)).map(|name| shown(memory, &name)).collect())
    })
}

fn shown(memory: &Memory, session: &str) -> SessionShown {
    let exchanges = session::exchanges(memory, session);
    let times = || exchanges.iter().flat_map(|one| &one.sources).filter_map(|held| held.source.said_at);
    SessionShown {
        session_id: session.to_owned(),
        turns: exchanges.len(),
        base_truth: in_force(memory, session).count(),
        exceptions: in_force(memory, session).filter(|truth| truth.is_hard()).count(),
        unsummarized: exchanges.iter().filter(|one| one.is_closed && one.summary.is_none()).count(),
        is_over: session::is_over(memory, session),
        first_said_at: times().min(),
        last_said_at: times().max(),
    }
}

/// Closed exchanges of all sessions that are not told.
pub(crate) fn unsummarized(memory: &Memory) -> usize {
    let of = |name: &str| {
        session::exchanges(memory, name).iter().filter(|one| one.is_closed && one.summary.is_none()).count()
    };
    memory.sessions().iter().map(|session| of(&session.id)).sum()
}

/// One session: base truth, turn log, raw window, artifacts, and what is not summarised.
///
/// # Errors
/// `NotFound` without such a session in that version.
pub fn session(engine: &Engine, user: &UserId, session: &str, at: When) -> Result<SessionState> {
    on_version(engine, user, at, &mut |memory| {
        must_have(memory, session)?;
        Ok(state_of(engine, memory, session))
    })
}

pub(crate) fn state_of(engine: &Engine, memory: &Memory, session: &str) -> SessionState {
    let exchanges = session::exchanges(memory, session);
    let sessions = memory.items().sessions();
    let mut base_truth: Vec<TruthShown> =
        in_force(memory, session).map(|truth| TruthShown::of(memory, truth)).collect();
    base_truth.sort_by_key(|truth| truth.kind);
    let closed = exchanges.iter().filter(|one| one.is_closed);
    let untold = exchanges.iter().filter(|one| one.is_closed && one.summary.is_none());
    SessionState {
        session_id: session.to_owned(),
        version: memory.seq(),
        is_over: session::is_over(memory, session),
        base_truth,
        turn_log: closed.map(|one| turn(engine, one)).collect(),
        raw_window: session::raw_window(&exchanges, &engine.sessions),
        artifacts: session::artifacts(&exchanges),
        unsummarized: untold.map(|one| one.turn).collect(),
        consolidated_turn: sessions.consolidated_turn(session),
        snapshots: sessions.kept(session).len(),
    }
}

fn turn(engine: &Engine, exchange: &Exchange<'_>) -> TurnShown {
    let summary = exchange.summary.filter(|summary| !summary.raw);
    let words = |role| exchange.text_of(role);
    TurnShown {
        turn: exchange.turn,
        user_summary: summary.map_or_else(|| words(Role::User), |summary| summary.user_summary.clone()),
        assistant_summary: summary.map_or_else(|| words(Role::Assistant), |summary| summary.assistant_summary.clone()),
        depth: exchange.summary.map_or_else(|| session::depth(exchange, &engine.sessions), |summary| summary.depth),
        raw: exchange.summary.is_some_and(|summary| summary.raw),
        unsummarized: exchange.summary.is_none(),
        refused: exchange.summary.map(|summary| summary.refused.clone()).unwrap_or_default(),
        sources: exchange.sources.iter().map(|held| held.source.id).collect(),
        said_at: exchange.sources.iter().find_map(|held| held.source.said_at),
    }
}

/// The artifacts of a turn, or one of them: `3` or `3.1`.
///
/// # Errors
/// `NotFound` without such a session, or if there is nothing of that key; `Invalid` for a key of another form.
pub fn session_artifacts(
    engine: &Engine,
    user: &UserId,
    session: &str,
    key: &str,
    at: When,
) -> Result<Vec<SessionArtifact>> {
    let turn = key.split_once('.').map_or(key, |(turn, _)| turn);
    let turn: u32 = turn.parse().map_err(|_| {
        Error::Invalid(format!(
            "{key:?} is no turn (3) and no artifact of a turn (3.1); `quipu session show` lists them"
        ))
    })?;
    on_version(engine, user, at, &mut |memory| {
        must_have(memory, session)?;
        let mut found = session::artifacts(&session::exchanges(memory, session));
        found.retain(|one| one.turn == turn && (!key.contains('.') || one.key == key));
        if found.is_empty() {
            return Err(Error::NotFound(format!("session {session:?} has no artifact {key:?}")));
        }
        Ok(found)
    })
}

/// The snapshots of a session's base truth, oldest first: one for each of the last consolidations.
///
/// # Errors
/// `NotFound` without such a session.
pub fn session_snapshots(engine: &Engine, user: &UserId, session: &str) -> Result<Vec<BaseTruthSnapshot>> {
    on_version(engine, user, When::Now, &mut |memory| {
        must_have(memory, session)?;
        Ok(memory.items().sessions().kept(session).to_vec())
    })
}

pub(crate) fn on_version<T>(
    engine: &Engine,
    user: &UserId,
    at: When,
    work: &mut dyn FnMut(&Memory) -> Result<T>,
) -> Result<T> {
    let open = engine.open(user)?;
    if at == When::Now {
        return work(&open.read().memory);
    }
    work(&versions::memory_at(&open, at)?)
}
