//! Lists sessions, and returns the state of one: base truth, turn log, raw window and artifacts.

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

/// Figures of a session.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SessionOverview"))]
pub struct SessionShown {
    /// Its id.
    pub session_id: String,
    /// Number of exchanges.
    pub turns: usize,
    /// Entries of the base truth, including hard exceptions.
    pub base_truth: usize,
    /// Hard exceptions.
    pub exceptions: usize,
    /// Closed exchanges without a summary.
    pub unsummarized: usize,
    /// True if it was ended and not resumed.
    pub is_over: bool,
    /// Time of the first message.
    pub first_said_at: Option<Timestamp>,
    /// Time of the last message.
    pub last_said_at: Option<Timestamp>,
}

/// An entry of a base truth for display.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "BaseTruthLine"))]
pub struct TruthShown {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: TruthKind,
    /// Its text.
    pub text: String,
    /// The turn it was summarised from; `None` if it was set by hand or merged.
    pub turn: Option<u32>,
    /// True if a person set it.
    pub by_hand: bool,
    /// Trust of its source.
    pub trust: Trust,
    /// Its evidence.
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

/// A line of the turn log for display.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TurnLogLine"))]
pub struct TurnShown {
    /// Number of the turn.
    pub turn: u32,
    /// Summary of the user's messages; their own words if `raw` or `unsummarized`.
    pub user_summary: String,
    /// Summary of the replies; their own words likewise.
    pub assistant_summary: String,
    /// Depth of the existing or pending summary.
    pub depth: Depth,
    /// True if the summariser failed permanently.
    pub raw: bool,
    /// True if the summary is still due.
    pub unsummarized: bool,
    /// Rejected proposals.
    pub refused: Vec<RefusedEntry>,
    /// Its sources.
    pub sources: Vec<ItemId>,
    /// Time of its first message.
    pub said_at: Option<Timestamp>,
}

/// The state of a session.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionState {
    /// Its id.
    pub session_id: String,
    /// The version of the state.
    pub version: Seq,
    /// True if it was ended and not resumed.
    pub is_over: bool,
    /// Entries in force, hard exceptions first.
    pub base_truth: Vec<TruthShown>,
    /// One line per closed exchange.
    pub turn_log: Vec<TurnShown>,
    /// The last exchanges, word for word.
    pub raw_window: Vec<WindowTurn>,
    /// Code blocks, drafts and attachments, by turn.
    pub artifacts: Vec<SessionArtifact>,
    /// Turns without a summary.
    pub unsummarized: Vec<u32>,
    /// The turn at which the base truth was last consolidated.
    pub consolidated_turn: u32,
    /// Number of stored snapshots of the base truth.
    pub snapshots: usize,
}

/// Lists the sessions in the order of their first sources, then those that only have a base truth.
///
/// # Errors
/// `NotFound` if there is no such user or version.
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

/// Number of closed exchanges of all sessions without a summary.
pub(crate) fn unsummarized(memory: &Memory) -> usize {
    let of = |name: &str| {
        session::exchanges(memory, name).iter().filter(|one| one.is_closed && one.summary.is_none()).count()
    };
    memory.sessions().iter().map(|session| of(&session.id)).sum()
}

/// Returns the state of a session: base truth, turn log, raw window, artifacts, unsummarised turns.
///
/// # Errors
/// `NotFound` if there is no such session at that version.
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

/// Returns the artifacts of a turn, or one of them: `3` or `3.1`.
///
/// # Errors
/// `NotFound` if there is no such session or artifact; `Invalid` for a malformed key.
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

/// Returns the snapshots of a session's base truth, oldest first, one for each of the last consolidations.
///
/// # Errors
/// `NotFound` if there is no such session.
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
