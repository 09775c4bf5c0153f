//! Base truth: changes by hand, consolidation, and the end of a session.

use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind};
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::item::{DerivedChange, Truth, TruthKind};
use quipu_core::session::{self, MergeProposed};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::OpenMemory;
use crate::memory::checkpoint;
use crate::memory::{Receipt, commit};
use crate::ports::Summarizer;
use crate::sessions::episodes;
use crate::sessions::summarize::{self, SummarizeReport};

/// Entries of the base truth of a session that are in force and not retracted.
pub(crate) fn in_force<'a>(memory: &'a Memory, session: &str) -> impl Iterator<Item = &'a Truth> {
    let items = memory.items();
    items.sessions().base_truth(session).filter(|truth| !items.is_hidden(truth.id))
}

/// Returns an error for an unknown session.
pub(crate) fn must_have(memory: &Memory, session: &str) -> Result<()> {
    let sessions = memory.items().sessions();
    if memory.session(session).is_some() || sessions.names().any(|name| name == session) {
        return Ok(());
    }
    Err(Error::NotFound(format!("there is no session {session:?}; `quipu sessions` lists them")))
}

/// Adds an entry to the base truth of a session by hand. The session need not have begun.
///
/// # Errors
/// `Refused` for a hard exception or a constraint set by anybody but a person, for an existing entry, and if the base
/// truth is full; `Invalid` for an empty or too long text.
pub fn set_base_truth(
    engine: &Engine,
    user: &UserId,
    session: &str,
    (kind, text): (TruthKind, &str),
    by: Actor,
) -> Result<Receipt> {
    if by != Actor::User {
        return Err(Error::Refused("only a person writes into a base truth by hand".to_owned()));
    }
    let id = engine.new_item_id(ItemKind::Truth);
    let mut draft = |state: &crate::memory::State| {
        let change = session::by_hand(&state.memory, session, kind, text, id)?;
        Ok(by_user(session, change))
    };
    let open = commit::open_or_create(engine, user.into(), &mut draft)?;
    let mut receipt = commit::commit_one(engine, &open, None, &mut draft)?;
    receipt.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    Ok(receipt)
}

/// Removes an entry from the base truth of a session by hand, given by id, prefix of the id, or text.
///
/// # Errors
/// `Refused` unless a person does it; `NotFound` if no entry matches; `Invalid` if several do.
pub fn unset_base_truth(engine: &Engine, user: &UserId, session: &str, name: &str, by: Actor) -> Result<Receipt> {
    if by != Actor::User {
        return Err(Error::Refused("only a person takes something out of a base truth by hand".to_owned()));
    }
    let open = engine.open(user)?;
    let mut receipt = commit::commit_one(engine, &open, None, &mut |state| {
        must_have(&state.memory, session)?;
        let truth = find(&state.memory, session, name)?;
        Ok(by_user(session, Change::Drawn(DerivedChange::BaseTruthRemoved { truth, exchange: None })))
    })?;
    receipt.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    Ok(receipt)
}

fn by_user(session: &str, change: Change) -> Draft {
    Draft {
        origin: Origin { session: Some(session.to_owned()), ..Origin::of(SourceKind::UserEdited) },
        ..Draft::new(Actor::User, SourceKind::UserEdited, vec![change])
    }
}

fn find(memory: &Memory, session: &str, name: &str) -> Result<ItemId> {
    let start = ItemKind::Truth.as_str().len() + 1;
    let meant = |truth: &&Truth| {
        let id = truth.id.to_string();
        truth.text == name || id == name || (name.len() > start && id.starts_with(name))
    };
    let mut found = in_force(memory, session).filter(meant);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.id),
        (None, _) => Err(Error::NotFound(format!("nothing in the base truth of session {session:?} is {name:?}"))),
        (Some(one), Some(other)) => {
            Err(Error::Invalid(format!("{name:?} fits {} and {} among others; give the whole id", one.id, other.id)))
        }
    }
}

/// Result of a consolidation.
#[derive(Debug, Clone, Serialize)]
pub struct Consolidated {
    /// The session.
    pub session_id: String,
    /// The last turn that was summarised.
    pub turn: u32,
    /// The event, which also contains a snapshot of the previous base truth.
    pub event_seq: u64,
    /// New entries: id, text, and the entries they replace.
    pub merged: Vec<(ItemId, String, Vec<ItemId>)>,
    /// Rejected proposals, with the reason.
    pub refused: Vec<(MergeProposed, String)>,
}

/// Merges equivalent entries of a base truth, after taking a snapshot of it. Hard exceptions and entries set by hand
/// are not changed.
///
/// # Errors
/// `NotFound` if there is no such session; `Invalid` without a summariser; `Unavailable` if it fails.
pub fn consolidate(engine: &Engine, user: &UserId, session: &str) -> Result<Consolidated> {
    let Some(summarizer) = &engine.summarizer else {
        return Err(Error::Invalid("this engine has no summariser: give it one when it is made".to_owned()));
    };
    let open = engine.open(user)?;
    must_have(&open.read().memory, session)?;
    let turn = open.sessions.turn(session);
    let _order = summarize::wait(&turn);
    let done = consolidate_now(engine, &open, summarizer.as_ref(), session)?;
    checkpoint::after_append(engine, &open, false, &mut |_| {});
    Ok(done)
}

/// Consolidates if enough turns were summarised since the last time.
pub(crate) fn consolidate_if_due(
    engine: &Engine,
    open: &OpenMemory,
    summarizer: &dyn Summarizer,
    session: &str,
) -> Result<Option<Consolidated>> {
    let due = {
        let state = open.read();
        let last = state.memory.items().sessions().consolidated_turn(session);
        newest_turn(&state.memory, session).saturating_sub(last) >= engine.sessions.consolidate_turns.max(1)
    };
    if due { consolidate_now(engine, open, summarizer, session).map(Some) } else { Ok(None) }
}

fn newest_turn(memory: &Memory, session: &str) -> u32 {
    memory.items().sessions().turns(session).last().map_or(0, |logged| logged.summary.turn)
}

fn consolidate_now(
    engine: &Engine,
    open: &OpenMemory,
    summarizer: &dyn Summarizer,
    session: &str,
) -> Result<Consolidated> {
    let known = session::consolidation(&open.read().memory, session);
    let proposed = if known.is_empty() {
        Vec::new()
    } else {
        // The memory is not locked while the model works.
        let user = open.read().memory.user().clone();
        let proposed = summarizer.consolidate(&user, &known);
        proposed.map_err(|error| Error::Unavailable(format!("session {session:?} was not consolidated: {error}")))?
    };
    let mut report = None;
    let receipt = commit::commit_one(engine, open, None, &mut |state| {
        let turn = newest_turn(&state.memory, session);
        let name = &mut |kind| engine.new_item_id(kind);
        let (changes, refused) = session::consolidate(&state.memory, session, turn, &proposed, name);
        let merged = changes.iter().filter_map(|change| match change {
            Change::Drawn(DerivedChange::BaseTruthMerged(truth)) => {
                Some((truth.id, truth.text.clone(), truth.rests_on.clone()))
            }
            _ => None,
        });
        report = Some((turn, merged.collect(), refused));
        Ok(Draft {
            origin: Origin { session: Some(session.to_owned()), ..Origin::of(SourceKind::Inferred) },
            rationale: Some(format!("consolidated by {}", summarizer.id())),
            ..Draft::new(Actor::System, SourceKind::Inferred, changes)
        })
    })?;
    let (turn, merged, refused) =
        report.ok_or_else(|| Error::Bug("a consolidation was recorded without being decided".to_owned()))?;
    Ok(Consolidated { session_id: session.to_owned(), turn, event_seq: receipt.seq, merged, refused })
}

/// Result of ending a session.
#[derive(Debug, Clone, Serialize)]
pub struct SessionEnd {
    /// The event that records it.
    pub receipt: Receipt,
    /// The last summaries.
    #[serde(flatten)]
    pub told: SummarizeReport,
    /// Number of episodes recorded.
    pub episodes: usize,
}

/// Ends a session: summarises its last exchange and records its episodes. A later message resumes it.
///
/// # Errors
/// `NotFound` if there is no such session; `Refused` if it has ended already.
pub fn end_session(engine: &Engine, user: &UserId, session: &str) -> Result<SessionEnd> {
    let open = engine.open(user)?;
    let mut receipt = commit::commit_one(engine, &open, None, &mut |state| {
        must_have(&state.memory, session)?;
        if session::is_over(&state.memory, session) {
            return Err(Error::Refused(format!("session {session:?} is over already")));
        }
        Ok(by_user(session, Change::Drawn(DerivedChange::SessionEnded { session: session.to_owned() })))
    })?;
    let told = summarize::run(engine, &open, session)?;
    // As after a turn: without an extractor no episodes are recorded.
    let episodes = match engine.extractor {
        Some(_) => episodes::tell(engine, &open, Some(session), Some(true))?.iter().map(|made| made.items.len()).sum(),
        None => 0,
    };
    receipt.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    Ok(SessionEnd { receipt, told, episodes })
}
