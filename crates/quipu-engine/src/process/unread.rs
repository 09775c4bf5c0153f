//! Unread: what was recorded to be read, and was not, because the process ended or the reader failed in between.
//!
//! A predicate over state, not a queue: beside the ledger stands a position up to which everything has been read or need
//! not be; of the events after it, the ledger itself says what they were read for. Whoever records something to be read
//! says so before ([`begin`]), and what is not finished is owed. What another process recorded is owed too, until the ledger shows that it
//! was read; should both read it, the key of the reading counts it once. The position is saved when a reading leaves no event to be found by. If it is lost with the other projections,
//! everything recorded until then counts as read; `reread` reads it all the same.

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
use crate::memory::scan;
use crate::ports::{Checkpoint, Projection};
use crate::process::extract_with_model;
use crate::process::understand::{self, Cause, READ_BY};
use crate::write::entry_point;

/// Name of the position among a ledger's projections.
pub(crate) const READ: &str = "read";
/// Why an import recorded words that are not to be read.
pub(crate) const WORDS_ONLY: &str = "only the words were wanted";

/// How far one user's words have been read.
pub(crate) type ReadCursorState = Cursor<ReadCursor>;

/// How far words have been read by rules, and by whom just now.
#[derive(Clone, Default)]
pub(crate) struct ReadCursor {
    /// Everything recorded up to here has been read or need not be.
    settled: Seq,
    /// Where the store says it stands.
    saved: Option<Seq>,
    /// Commands at work; each began at this version.
    running: BTreeMap<u64, Seq>,
    begun: u64,
    /// Something recorded after the first and up to the second of these was not read.
    owed: Vec<(Seq, Seq)>,
}

/// A command that records something and reads it. What it does not finish is owed.
pub(crate) struct Running<'a> {
    open: &'a OpenMemory,
    number: u64,
    left: Option<Seq>,
}

impl Position for ReadCursor {
    const NAME: &'static str = READ;

    /// Without a saved position nobody has read here, or what says so is lost: then everything recorded counts as read.
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
    /// Another process has recorded words between these versions; if it ends before it has read them, somebody else has to.
    pub(crate) fn owe(&self, after: Seq, up_to: Seq) {
        self.get().owe(after, up_to);
    }

    /// Up to where everything is read by now, if the memory ends at `head`.
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

    /// From where on something may be unread.
    fn open_from(&self) -> Option<Seq> {
        self.running.values().copied().chain(self.first_owed()).min()
    }

    /// What is owed up to here is being read now; what was recorded later stays owed.
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

/// To be called before something is recorded that will be read.
///
/// # Errors
/// What the store said: the position is durable before the words are, or a crash between them would go unnoticed.
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
    /// Everything this command recorded has been read. `traceless` if a reading of it left no event to be found by.
    ///
    /// # Errors
    /// What the store said: then it is read once more some day, which changes nothing.
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
            // Where nobody has ever read there is no position to keep up.
            let behind = standing.saved.map_or(0, |saved| settled.saturating_sub(saved));
            (behind > 0 && (traceless || behind >= limit::UNSAVED_READINGS_MAX)).then_some(settled)
        };
        due.map_or(Ok(()), |settled| save(self.open, settled))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.open.unread.get().running.contains_key(&self.number) {
            // An unsaved position only means that something is read once more.
            let _ = self.end(false);
        }
    }
}

/// Where a copy of the first events of a memory stands: what is not read of them here is read there.
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

/// Reads what is owed, oldest first, at most so many sources, and says of each what came of it. Returns how many.
///
/// # Errors
/// What the reader or the store said; what was not read is still owed.
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
        // What is being recorded just now is read by whoever records it.
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
        // A position lies between events, so an event is read to its end.
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

/// Sources that were to be read and were not. The events since the position are looked at, if there may be any.
pub(crate) fn waiting(open: &OpenMemory) -> Result<usize> {
    let (from, to) = {
        let standing = open.unread.get();
        let Some(from) = standing.first_owed() else { return Ok(0) };
        (from, standing.running.values().copied().min())
    };
    let to = to.unwrap_or_else(|| open.read().memory.seq());
    Ok(due(open, from, to)?.len())
}

/// A source to read, the event that recorded it, and what its reading goes back to.
pub(crate) type Due = (ItemId, Seq, Cause);

/// The sources recorded in `from + 1 ..= to` that were to be read, and of which the ledger knows no reading: not even one
/// that was taken back or erased.
fn due(open: &OpenMemory, from: Seq, to: Seq) -> Result<Vec<Due>> {
    let (recorded, told) = recorded(open, from, to)?;
    let asked = |(source, seq): (ItemId, Seq)| {
        let (cause, event) = told.asked.get(&seq)?;
        let read = told.read.contains(&source) || told.lost.contains(event);
        (!read).then(|| (source, seq, cause.clone()))
    };
    Ok(recorded.into_iter().filter_map(asked).collect())
}

/// The sources recorded in `from + 1 ..= to` that were to be read, whoever has read them.
pub(crate) fn to_be_read(open: &OpenMemory, from: Seq, to: Seq) -> Result<Vec<Due>> {
    let (recorded, told) = recorded(open, from, to)?;
    let asked = |(source, seq): (ItemId, Seq)| Some((source, seq, told.asked.get(&seq)?.0.clone()));
    Ok(recorded.into_iter().filter_map(asked).collect())
}

/// What people said in `from + 1 ..= to`, and what the events since then say about readings.
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

/// What events say about readings.
#[derive(Default)]
struct ReadingState {
    /// Events that recorded something to be read.
    asked: BTreeMap<Seq, (Cause, EventId)>,
    /// Sources that were read.
    read: BTreeSet<ItemId>,
    /// Events something of which was read and erased: nobody knows what, so all of it counts.
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

/// True if what an event recorded is to be read: not what was picked from elsewhere, and not an import of mere words.
fn asks(header: &Header) -> bool {
    let imported = header.origin.reference.is_some();
    header.caused_by.is_empty() && !(imported && header.rationale.as_deref() == Some(WORDS_ONLY))
}
