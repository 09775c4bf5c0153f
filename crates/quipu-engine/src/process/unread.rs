//! Unread sources: recorded for extraction, but not read because the process ended or the extractor failed.
//!
//! A cursor beside the ledger stores up to where every source has been read or need not be; for later events, the
//! ledger shows what was read. A command calls [`begin`] before it records a source to be read, and what it does not
//! finish is owed. Sources of another process are owed until the ledger shows that they were read; if both processes
//! read them, the idempotency key records the result once. The cursor is also saved when an extraction leaves no event
//! as a trace. If it is lost, everything recorded so far counts as read; `reread` reads it regardless.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::event::{Actor, Change, Event, Header};
use quipu_core::id::{EventId, ItemId, Seq};
use quipu_core::limit;
use quipu_core::reconcile::Understanding;

use crate::engine::Engine;
use crate::error::Result;
use crate::history::erasure_cascade;
use crate::memory::OpenMemory;
use crate::memory::cursor::{self, Cursor, Position};
use crate::memory::entry_point;
use crate::memory::scan;
use crate::ports::{Checkpoint, Projection};
use crate::process::extract_with_model;
use crate::process::understand::{self, Cause, READ_BY};

/// Name of the position among a ledger's projections.
pub(crate) const READ: &str = "read";
/// Rationale of an import whose sources are not to be read.
pub(crate) const WORDS_ONLY: &str = "only the words were wanted";

/// Up to where one user's sources have been read.
pub(crate) type ReadCursorState = Cursor<ReadCursor>;

/// Up to where rules have read, and which commands are reading now.
#[derive(Clone, Default)]
pub(crate) struct ReadCursor {
    /// Every source up to here has been read or need not be.
    settled: Seq,
    /// The stored position.
    saved: Option<Seq>,
    /// Running commands, with the version at which each began.
    running: BTreeMap<u64, Seq>,
    begun: u64,
    /// Ranges (after the first, up to the second) with unread sources.
    owed: Vec<(Seq, Seq)>,
}

/// A running command that records and reads sources. What it does not finish is owed.
pub(crate) struct Running<'a> {
    open: &'a OpenMemory,
    number: u64,
    left: Option<Seq>,
}

impl Position for ReadCursor {
    const NAME: &'static str = READ;

    /// Without a stored position, everything recorded so far counts as read.
    fn load(saved: Option<Projection>, head: Seq) -> Self {
        let saved = saved.map(|position| position.seq);
        let settled = saved.unwrap_or(head);
        let mut cursor = Self { settled, saved, ..Self::default() };
        cursor.owe(settled, head);
        cursor
    }

    fn stored(&self, _: Seq) -> Option<Projection> {
        self.saved.map(|_| position(self.settled))
    }
}

impl Cursor<ReadCursor> {
    /// Marks a range recorded by another process as owed, in case that process ends before reading it.
    pub(crate) fn owe(&self, after: Seq, up_to: Seq) {
        self.get().owe(after, up_to);
    }

    /// Up to where everything is read, if the memory ends at `head`.
    pub(crate) fn read_up_to(&self, head: Seq) -> Seq {
        let standing = self.get();
        standing.open_from().unwrap_or(head)
    }
}

impl ReadCursor {
    fn owe(&mut self, after: Seq, up_to: Seq) {
        if after < up_to {
            self.owed.push((after, up_to));
        }
        if self.owed.len() > limit::UNREAD_PER_TURN_MAX {
            let up_to = self.owed.iter().map(|owed| owed.1).max();
            self.owed = self.first_owed().zip(up_to).into_iter().collect();
        }
    }

    fn first_owed(&self) -> Option<Seq> {
        self.owed.iter().map(|owed| owed.0).min()
    }

    /// The position after which something may be unread.
    fn open_from(&self) -> Option<Seq> {
        self.running.values().copied().chain(self.first_owed()).min()
    }

    /// Removes what is owed up to here, because it is being read now.
    fn pay(&mut self, up_to: Seq) {
        self.owed.iter_mut().for_each(|owed| owed.0 = owed.0.max(up_to));
        self.owed.retain(|owed| owed.0 < owed.1);
    }

    fn start(&mut self, from: Seq) -> u64 {
        self.begun += 1;
        self.running.insert(self.begun, from);
        self.begun
    }
}

fn position(seq: Seq) -> Projection {
    Projection { seq, tag: "1".to_owned(), bytes: Vec::new() }
}

/// Must be called before recording a source that will be read.
///
/// # Errors
/// Any error of the store. The position must be durable before the source, or a crash between them would go unnoticed.
pub(crate) fn begin<'a>(engine: &Engine, open: &'a OpenMemory) -> Result<Running<'a>> {
    extract_with_model::begin(engine, open)?;
    let head = open.read().memory.seq();
    let (number, unsaved) = {
        let mut standing = open.unread.get();
        (standing.start(head), standing.saved.is_none().then_some(standing.settled))
    };
    let running = Running { open, number, left: Some(head) };
    if let Some(settled) = unsaved
        && engine.extractor.is_some()
    {
        save(open, settled)?;
    }
    Ok(running)
}

impl Running<'_> {
    /// Marks everything this command recorded as read. `traceless` means that some extraction left no event as a trace.
    ///
    /// # Errors
    /// Any error of the store; the sources are then read again later, which changes nothing.
    pub(crate) fn finish(mut self, traceless: bool) -> Result<()> {
        self.left = None;
        self.end(traceless)
    }

    fn end(&mut self, traceless: bool) -> Result<()> {
        let head = self.open.read().memory.seq();
        let due = {
            let mut standing = self.open.unread.get();
            standing.running.remove(&self.number);
            if let Some(left) = self.left {
                standing.owe(left, self.open.level());
            }
            let settled = standing.open_from().unwrap_or(head);
            standing.settled = standing.settled.max(settled);
            let settled = standing.settled;
            // Without a stored position there is nothing to update.
            let behind = standing.saved.map_or(0, |saved| settled.saturating_sub(saved));
            (behind > 0 && (traceless || behind >= limit::UNSAVED_READINGS_MAX)).then_some(settled)
        };
        due.map_or(Ok(()), |settled| save(self.open, settled))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.open.unread.get().running.contains_key(&self.number) {
            // With an outdated position something is read again, which changes nothing.
            let _ = self.end(false);
        }
    }
}

/// The cursor for a copy of the first events of a memory, so that their unread sources are read there.
pub(crate) fn copied(source: &OpenMemory, at: Seq) -> Checkpoint {
    let read_up_to = source.unread.read_up_to(at).min(at);
    Checkpoint { projections: vec![(READ, position(read_up_to))], level: at + 1, ..Checkpoint::default() }
}

fn save(open: &OpenMemory, settled: Seq) -> Result<()> {
    cursor::store(open, READ, position(settled))?;
    let mut standing = open.unread.get();
    standing.saved = standing.saved.max(Some(settled));
    Ok(())
}

/// Reads owed sources, oldest first, at most `most`, and passes the results to `each`. Returns the number read.
///
/// # Errors
/// Any error of the extractor or the store; the rest is still owed.
pub(crate) fn catch_up(
    engine: &Engine,
    open: &OpenMemory,
    most: usize,
    each: &mut dyn FnMut(ItemId, Understanding),
) -> Result<usize> {
    if engine.extractor.is_none() {
        return Ok(0);
    }
    let (mut running, from, to) = {
        let mut standing = open.unread.get();
        let Some(from) = standing.first_owed() else { return Ok(0) };
        // Sources of running commands are read by those commands.
        let to = standing.running.values().copied().min().unwrap_or(open.level());
        if to <= from {
            return Ok(0);
        }
        standing.pay(to);
        let number = standing.start(from);
        (Running { open, number, left: Some(from) }, from, to)
    };
    let due = due(open, from, to)?;
    let mut traceless = false;
    let (mut read, mut last) = (0, from);
    for (source, seq, cause) in &due {
        // A position lies between events, so each event is read completely.
        if read >= most && *seq != last {
            running.left = Some(seq - 1);
            running.end(traceless)?;
            return Ok(read);
        }
        running.left = Some(seq - 1);
        let understood = understand::understand(engine, open, *source, cause)?;
        traceless |= understood.is_empty();
        each(*source, understood);
        (read, last) = (read + 1, *seq);
    }
    running.finish(traceless)?;
    Ok(read)
}

/// Number of owed sources. Reads the events since the position, if any may be owed.
pub(crate) fn waiting(open: &OpenMemory) -> Result<usize> {
    let (from, to) = {
        let standing = open.unread.get();
        let Some(from) = standing.first_owed() else { return Ok(0) };
        (from, standing.running.values().copied().min())
    };
    let to = to.unwrap_or_else(|| open.read().memory.seq());
    Ok(due(open, from, to)?.len())
}

/// A source to read, the event that recorded it, and the origin of its extraction.
pub(crate) type Due = (ItemId, Seq, Cause);

/// Sources recorded in `from + 1 ..= to` that are to be read and have no extraction in the ledger, not even a reverted
/// or erased one.
fn due(open: &OpenMemory, from: Seq, to: Seq) -> Result<Vec<Due>> {
    let (recorded, told) = recorded(open, from, to)?;
    let asked = |(source, seq): (ItemId, Seq)| {
        let (cause, event) = told.asked.get(&seq)?;
        let read = told.read.contains(&source) || told.lost.contains(event);
        (!read).then(|| (source, seq, cause.clone()))
    };
    Ok(recorded.into_iter().filter_map(asked).collect())
}

/// Sources recorded in `from + 1 ..= to` that are to be read, including those already read.
pub(crate) fn to_be_read(open: &OpenMemory, from: Seq, to: Seq) -> Result<Vec<Due>> {
    let (recorded, told) = recorded(open, from, to)?;
    let asked = |(source, seq): (ItemId, Seq)| Some((source, seq, told.asked.get(&seq)?.0.clone()));
    Ok(recorded.into_iter().filter_map(asked).collect())
}

/// Sources recorded in `from + 1 ..= to`, and what later events show about their extraction.
fn recorded(open: &OpenMemory, from: Seq, to: Seq) -> Result<(Vec<(ItemId, Seq)>, ReadingState)> {
    let recorded: Vec<(ItemId, Seq)> = {
        let state = open.read();
        let sources = state.memory.sources();
        let first = sources.partition_point(|held| held.seq <= from);
        let recorded = sources.iter().skip(first).take_while(|held| held.seq <= to);
        recorded.filter(|held| understand::is_read(held)).map(|held| (held.source.id, held.seq)).collect()
    };
    let mut told = ReadingState::default();
    if recorded.is_empty() {
        return Ok((recorded, told));
    }
    let head = open.read().memory.seq();
    let mut writer = open.writer()?;
    scan::events(writer.ledger.as_mut(), from + 1..=head, &mut |event| told.meet(&event))?;
    Ok((recorded, told))
}

/// What events show about extractions.
#[derive(Default)]
struct ReadingState {
    /// Events that recorded a source to be read.
    asked: BTreeMap<Seq, (Cause, EventId)>,
    /// Sources that were read.
    read: BTreeSet<ItemId>,
    /// Events of which an extraction was erased; it is unknown of which source, so all count as read.
    lost: BTreeSet<EventId>,
}

impl ReadingState {
    fn meet(&mut self, event: &Event) {
        let header = &event.header;
        if asks(header) && event.changes.iter().flatten().any(|change| matches!(change, Change::SourceRecorded(_))) {
            let reference = header.origin.reference.clone().filter(|name| !entry_point::is(name));
            let cause = Cause { event: Some(header.id), reference };
            self.asked.insert(header.seq, (cause, header.id));
        }
        let is_reading = header.rationale.as_ref().is_some_and(|why| why.starts_with(READ_BY));
        if header.actor == Actor::System && is_reading {
            self.read.extend(erasure_cascade::sources_of(event));
            self.read.extend(header.origin.reference.as_ref().and_then(|name| name.parse::<ItemId>().ok()));
            if event.changes.iter().any(Option::is_none) {
                self.lost.extend(&header.caused_by);
            }
        }
    }
}

/// Returns true if the sources of an event are to be read: not those of a pick or of an import without extraction.
fn asks(header: &Header) -> bool {
    let imported = header.origin.reference.is_some();
    header.caused_by.is_empty() && !(imported && header.rationale.as_deref() == Some(WORDS_ONLY))
}
