//! Versions: parses references to versions and events, and reads the memory at a version.

use std::str::FromStr;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::calendar::{TIME_EXAMPLES, TimeExpression};
use quipu_core::event::Event;
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::limit;
use quipu_core::recall::{DerivedIndex, EmbeddingInput, Index};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::lock::before_slow_call;
use crate::memory::{OpenMemory, fold, index};
use crate::read::meaning;

/// A version of a memory, by position or by the time of recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    /// The current version.
    #[default]
    Now,
    /// After the event at this position.
    Seq(Seq),
    /// After the last event recorded at or before this time.
    Time(Timestamp),
}

/// A version as typed: `now`, a position (`12`), or a time (`2026-03-01 12:00`, `yesterday`), where a day means its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionExpression {
    /// The version after the event at this position.
    Seq(Seq),
    /// The version at this time.
    Time(TimeExpression),
}

impl VersionExpression {
    /// The version it means now; days and times are those of the engine's clock.
    ///
    /// # Errors
    /// `Invalid` if the time is outside of the years 1 to 9999.
    pub fn at(&self, engine: &Engine) -> Result<When> {
        match self {
            Self::Seq(seq) => Ok(When::Seq(*seq)),
            Self::Time(TimeExpression::Now) => Ok(When::Now),
            Self::Time(time) => {
                let last = time.last_moment(engine.now(), &|at| engine.utc_offset(at));
                last.map(When::Time).map_err(Error::Invalid)
            }
        }
    }
}

impl FromStr for VersionExpression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(seq) = text.parse() {
            return Ok(Self::Seq(seq));
        }
        text.parse().map(Self::Time).map_err(|_| {
            Error::Invalid(format!("{text:?} is not a version; give a position (12) or a time ({TIME_EXAMPLES})"))
        })
    }
}

/// A reference to an event, by position or id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventRef {
    /// By position.
    Seq(Seq),
    /// By id.
    Id(EventId),
}

impl EventRef {
    /// Parses one event by position or id, or a range of positions such as `3-7`, as
    /// [`ranges`](crate::history::log::ranges) formats them.
    ///
    /// # Errors
    /// `Invalid` for anything else, and for more than [`limit::EVENTS_PER_COMMAND_MAX`].
    pub fn several(word: &str) -> Result<Vec<Self>> {
        let ends = word.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
        let Some((first, last)): Option<(Seq, Seq)> = ends else {
            return Ok(vec![word.parse()?]);
        };
        if first > last {
            return Err(Error::Invalid(format!("{word:?} names no event: the first position comes first")));
        }
        if last - first >= limit::EVENTS_PER_COMMAND_MAX as u64 {
            let most = limit::EVENTS_PER_COMMAND_MAX;
            return Err(Error::Invalid(format!("{word:?} names more than {most} events, which is the most at once")));
        }
        Ok((first..=last).map(Self::Seq).collect())
    }
}

impl FromStr for EventRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(seq) = text.parse() {
            return Ok(Self::Seq(seq));
        }
        EventId::parse_str(text).map(Self::Id).map_err(|_| {
            Error::Invalid(format!("{text:?} is neither the position nor the id of an event; `quipu log` lists them"))
        })
    }
}

/// A memory and its indexes at one version, separate from the open memory.
pub(crate) struct View {
    pub(crate) memory: Memory,
    pub(crate) index: Index,
    pub(crate) derived: DerivedIndex,
}

/// The position of a version.
pub(crate) fn position(open: &OpenMemory, when: When) -> Result<Seq> {
    // Up to what this memory has read; another process may have appended more.
    let head = open.read().memory.seq();
    match when {
        When::Now => Ok(head),
        When::Seq(seq) if seq <= head => Ok(seq),
        When::Seq(seq) => Err(Error::NotFound(format!("there is no version {seq}; the newest is {head}"))),
        When::Time(time) => Ok(open.writer()?.ledger.position_at(time)?.min(head)),
    }
}

/// The position of an event.
pub(crate) fn event_position(open: &OpenMemory, event: EventRef) -> Result<Seq> {
    let head = open.read().memory.seq();
    match event {
        EventRef::Seq(seq) if (1..=head).contains(&seq) => Ok(seq),
        EventRef::Seq(seq) if head == 0 => {
            Err(Error::NotFound(format!("there is no event {seq}: nothing is recorded for this user yet")))
        }
        EventRef::Seq(seq) => {
            Err(Error::NotFound(format!("there is no event {seq}; the ledger has events 1 to {head}")))
        }
        EventRef::Id(id) => {
            let found = open.writer()?.ledger.position_of(id)?.filter(|seq| *seq <= head);
            found.ok_or_else(|| Error::NotFound(format!("there is no event {id}")))
        }
    }
}

/// The memory at a version, without erased payloads.
pub(crate) fn memory_at(open: &OpenMemory, when: When) -> Result<Memory> {
    let seq = position(open, when)?;
    let state = open.read();
    if seq == state.memory.seq() {
        return Ok(state.memory.clone());
    }
    let (user, history) = (state.memory.user().clone(), state.history.clone());
    drop(state);
    fold::fold_to(open.writer()?.ledger.as_mut(), &user, &history, seq)
}

/// Builds indexes over a past or hypothetical memory. Texts without a vector are embedded.
pub(crate) fn view(engine: &Engine, open: &OpenMemory, memory: Memory) -> Result<View> {
    let mut index = index::rebuilt(engine, &memory, &open.read().index);
    let absent: Vec<(u32, EmbeddingInput)> = index.missing(memory.sources(), 0).collect();
    for batch in absent.chunks(limit::EMBED_BATCH) {
        before_slow_call("the embedder");
        for ((passage, input), (vector, codes)) in
            batch.iter().zip(meaning::of_passages(engine.embedder.as_ref(), batch)?)
        {
            index.set_vector(*passage, &input.text, &vector, &codes);
        }
    }
    Ok(View { derived: DerivedIndex::of(memory.items()), memory, index })
}

/// The position of a version.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn position_of(engine: &Engine, user: &UserId, when: When) -> Result<Seq> {
    position(&engine.open(user)?, when)
}

/// The core document at a version, with `_meta`, whose version is that of the last event that changed the document.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn core_at(engine: &Engine, user: &UserId, when: When) -> Result<serde_json::Value> {
    let open = engine.open(user)?;
    Ok(memory_at(&open, when)?.core_with_meta())
}

/// The version of a memory: the position of its newest event. No page is read if the memory is open.
///
/// # Errors
/// `NotFound` if there is no such user.
pub fn version(engine: &Engine, user: &UserId) -> Result<Seq> {
    Ok(engine.open(user)?.read().memory.seq())
}

/// Returns one event as recorded.
///
/// # Errors
/// `NotFound` if there is no such user or event.
pub fn show(engine: &Engine, user: &UserId, event: EventRef) -> Result<Event> {
    let open = engine.open(user)?;
    let seq = event_position(&open, event)?;
    fold::event_at(open.writer()?.ledger.as_mut(), seq)
}
