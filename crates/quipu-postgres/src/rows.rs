//! Converts between events and rows of the ledger.

use quipu_core::event::Hash;
use quipu_core::id::{EventId, Seq};
use quipu_core::ledger::{SealedChange, SealedEvent};
use quipu_engine::ports::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::connection::{Answers, Step, Value};
use crate::fault::malformed;

/// Events of the first batch of a longer read. Later ones have about [`BATCH_BYTES`].
const BATCH_EVENTS_FIRST: i64 = 64;
const BATCH_EVENTS_MAX: i64 = 512;
const BATCH_BYTES: usize = 4 << 20;

/// A position as stored. Positions above 2^63 do not occur; as an upper bound they mean "all".
pub(crate) fn stored(seq: Seq) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// A column of a row.
pub(crate) fn column<'r, T: FromSql<'r>>(row: &'r Row, index: usize) -> Result<T, StoreError> {
    row.try_get(index).map_err(|error| malformed(&format!("a value ({error})")))
}

/// A position in a column.
pub(crate) fn position(row: &Row, index: usize) -> Result<Seq, StoreError> {
    Seq::try_from(column::<i64>(row, index)?).map_err(|_| malformed("a negative position"))
}

/// A hash in a column.
pub(crate) fn hash(row: &Row, index: usize) -> Result<Hash, StoreError> {
    Hash::from_slice(column(row, index)?).map_err(|_| malformed("a hash of a wrong length"))
}

/// Events as the arrays that `append.sql` and `erase.sql` insert.
#[derive(Default)]
pub(crate) struct EventColumns<'a> {
    seqs: Vec<i64>,
    ids: Vec<EventId>,
    formats: Vec<i32>,
    times: Vec<i64>,
    controls: Vec<bool>,
    headers: Vec<&'a [u8]>,
    hashes: Vec<&'a [u8]>,
    keys: Vec<&'a [u8]>,
    key_seqs: Vec<i64>,
    requests: Vec<&'a [u8]>,
    change_seqs: Vec<i64>,
    indexes: Vec<i32>,
    bytes: Vec<Option<&'a [u8]>>,
    salts: Vec<Option<&'a [u8]>>,
}

impl<'a> EventColumns<'a> {
    pub(crate) fn new(events: &'a [SealedEvent]) -> Self {
        let mut columns = Self::default();
        for event in events {
            columns.seqs.push(stored(event.seq));
            columns.ids.push(event.id);
            columns.formats.push(i32::from(event.format));
            columns.times.push(event.recorded_at_micros);
            columns.controls.push(event.control);
            columns.headers.push(&event.header);
            columns.hashes.push(event.hash.as_bytes());
            if let Some((key, request)) = &event.idempotency {
                columns.keys.push(key.as_bytes());
                columns.key_seqs.push(stored(event.seq));
                columns.requests.push(request.as_bytes());
            }
            for (index, change) in (0..).zip(&event.changes) {
                columns.change_seqs.push(stored(event.seq));
                columns.indexes.push(index);
                columns.bytes.push(change.bytes.as_deref());
                columns.salts.push(change.salt.as_ref().map(|salt| salt.as_slice()));
            }
        }
        columns
    }

    /// The position of the last control event, if there is one.
    pub(crate) fn last_control(&self) -> Option<i64> {
        let controls = self.seqs.iter().zip(&self.controls).rev();
        controls.filter(|(_, is_control)| **is_control).map(|(seq, _)| *seq).next()
    }

    /// Whether an event has an idempotency key.
    pub(crate) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The values of the events: the parameters 7 to 13.
    pub(crate) fn event_values(&self) -> [Value<'_>; 7] {
        [
            (&self.seqs, Type::INT8_ARRAY),
            (&self.ids, Type::UUID_ARRAY),
            (&self.formats, Type::INT4_ARRAY),
            (&self.times, Type::INT8_ARRAY),
            (&self.controls, Type::BOOL_ARRAY),
            (&self.headers, Type::BYTEA_ARRAY),
            (&self.hashes, Type::BYTEA_ARRAY),
        ]
    }

    /// The values of the keys, which come next in statements that insert keys.
    pub(crate) fn key_values(&self) -> [Value<'_>; 3] {
        [(&self.keys, Type::BYTEA_ARRAY), (&self.key_seqs, Type::INT8_ARRAY), (&self.requests, Type::BYTEA_ARRAY)]
    }

    /// The values of the changes, which come last.
    pub(crate) fn change_values(&self) -> [Value<'_>; 4] {
        [
            (&self.change_seqs, Type::INT8_ARRAY),
            (&self.indexes, Type::INT4_ARRAY),
            (&self.bytes, Type::BYTEA_ARRAY),
            (&self.salts, Type::BYTEA_ARRAY),
        ]
    }
}

/// Which events a read returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selected {
    All,
    Controls,
}

impl Selected {
    fn statements(self) -> [&'static str; 2] {
        match self {
            Self::All => [include_str!("sql/read_events.sql"), include_str!("sql/read_changes.sql")],
            Self::Controls => [include_str!("sql/read_controls.sql"), include_str!("sql/read_control_changes.sql")],
        }
    }
}

/// Reads a range in batches of bounded size. `run` runs two statements at the same state of the database; `each` receives
/// the events of a batch and returns false to stop.
pub(crate) fn batches<E: From<StoreError>>(
    key: &[Value<'_>; 2],
    selected: Selected,
    first: Seq,
    last: Seq,
    mut run: impl FnMut(&[Step<'_>]) -> Result<Answers, E>,
    mut each: impl FnMut(Vec<SealedEvent>) -> Result<bool, E>,
) -> Result<(), E> {
    let last = stored(last);
    let mut first = stored(first);
    let mut limit = BATCH_EVENTS_FIRST;
    while first <= last {
        let [user, fence] = key.clone();
        let values = vec![user, fence, (&first as _, Type::INT8), (&last as _, Type::INT8), (&limit as _, Type::INT8)];
        let steps = selected.statements().map(|sql| Step::new(sql, values.clone()));
        let answers = run(&steps)?;
        let events = events(&answers)?;
        let Some(end) = events.last().map(|event| stored(event.seq)) else { return Ok(()) };
        let is_last = (events.len() as i64) < limit;
        let bytes: usize = events.iter().map(event_bytes).sum();
        let average = (bytes / events.len()).max(1);
        limit = i64::try_from(BATCH_BYTES / average).unwrap_or(BATCH_EVENTS_MAX).clamp(1, BATCH_EVENTS_MAX);
        if !each(events)? || is_last || end == i64::MAX {
            return Ok(());
        }
        first = end + 1;
    }
    Ok(())
}

/// The bytes of an event that count for the size of a batch.
pub(crate) fn event_bytes(event: &SealedEvent) -> usize {
    let changes = event.changes.iter().map(|change| change.bytes.as_ref().map_or(0, Vec::len) + 32);
    event.header.len() + changes.sum::<usize>()
}

/// Joins rows of events with rows of changes, both in order.
fn events(answers: &Answers) -> Result<Vec<SealedEvent>, StoreError> {
    let [heads, changes] = answers.as_slice() else { return Err(malformed("an answer")) };
    let mut events = heads.iter().map(event).collect::<Result<Vec<_>, _>>()?;
    let mut place = 0;
    for row in changes {
        let seq = position(row, 0)?;
        while events.get(place).is_some_and(|event| event.seq < seq) {
            place += 1;
        }
        // A change without its event is reported by a check.
        let Some(event) = events.get_mut(place).filter(|event| event.seq == seq) else { continue };
        if column::<i32>(row, 1)? != event.changes.len() as i32 {
            return Err(StoreError::Corrupt(format!(
                "the ledger has lost change {} of event {seq}. Nothing was changed. Restore a backup",
                event.changes.len()
            )));
        }
        let salt: Option<&[u8]> = column(row, 3)?;
        let salt = salt.map(|salt| salt.try_into().map_err(|_| malformed("a salt of a wrong length"))).transpose()?;
        event.changes.push(SealedChange { bytes: column(row, 2)?, salt });
    }
    Ok(events)
}

fn event(row: &Row) -> Result<SealedEvent, StoreError> {
    let key: Option<Vec<u8>> = column(row, 5)?;
    let idempotency = match key {
        None => None,
        Some(key) => {
            let key = String::from_utf8(key).map_err(|_| malformed("an idempotency key"))?;
            Some((key, hash(row, 6)?))
        }
    };
    Ok(SealedEvent {
        seq: position(row, 0)?,
        id: column(row, 1)?,
        format: u16::try_from(column::<i32>(row, 2)?).map_err(|_| malformed("a format"))?,
        recorded_at_micros: column(row, 3)?,
        control: column(row, 4)?,
        idempotency,
        header: column(row, 7)?,
        hash: hash(row, 8)?,
        changes: Vec::new(),
    })
}
