//! Appends and erasures: transactions that must be made once, also if their answer is lost.

use quipu_core::event::ChangeRef;
use quipu_core::id::Seq;
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::StoreError;
use tokio_postgres::types::Type;

use crate::connection::{Access, Attempts, Value};
use crate::erase;
use crate::fault::Failure;
use crate::handle::PostgresLedger;
use crate::rows::{EventColumns, position, stored};

impl PostgresLedger {
    /// Appends events and, if there are targets, erases them. The outcome of an attempt whose answer was lost is looked up
    /// before another one.
    pub(crate) fn write(
        &self,
        expected: Seq,
        events: &[SealedEvent],
        targets: Option<&[ChangeRef]>,
    ) -> Result<(), StoreError> {
        let doing = if targets.is_some() { "erase from" } else { "append to" };
        if let Err(mismatch) = positions_match(expected, events) {
            let head = self.live_head()?.seq;
            return Err(if head == expected { mismatch } else { StoreError::Conflict { expected, head } });
        }
        let Some(last) = events.last() else {
            let head = self.live_head()?.seq;
            return if head == expected { Ok(()) } else { Err(StoreError::Conflict { expected, head }) };
        };
        let mut attempts = Attempts::default();
        loop {
            let failure = match self.attempt(expected, events, last, targets, attempts.was_lost()) {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(self.why_not(expected, targets)),
                Err(failure) => failure,
            };
            match attempts.after(&failure) {
                Some(pause) => self.database.pause(pause),
                None => {
                    // An id or a key that is used, by other events: `attempt` looked for these.
                    let told = taken(&failure, events);
                    return Err(told.unwrap_or_else(|| self.tell(doing, failure.after(attempts.was_lost()))));
                }
            }
        }
    }

    /// Writes unless an earlier attempt did it whose answer was lost. That attempt may still be carried out at any moment
    /// before this one; then it is found afterwards.
    fn attempt(
        &self,
        expected: Seq,
        events: &[SealedEvent],
        last: &SealedEvent,
        targets: Option<&[ChangeRef]>,
        was_lost: bool,
    ) -> Result<bool, Failure> {
        if was_lost && self.has(last)? {
            return Ok(true);
        }
        match self.write_once(expected, events, last, targets) {
            Ok(false) if was_lost => self.has(last),
            Err(failure) if was_lost && failure.taken().is_some() && self.has(last)? => Ok(true),
            outcome => outcome,
        }
    }

    /// One attempt: false if the ledger is not at `expected`, is gone, or lacks a target.
    fn write_once(
        &self,
        expected: Seq,
        events: &[SealedEvent],
        last: &SealedEvent,
        targets: Option<&[ChangeRef]>,
    ) -> Result<bool, Failure> {
        let columns = EventColumns::new(events);
        let (expected, seq, hash) = (stored(expected), stored(last.seq), last.hash.as_bytes().as_slice());
        let control = columns.last_control();
        let mut values: Vec<Value<'_>> =
            vec![(&expected, Type::INT8), (&seq, Type::INT8), (&hash, Type::BYTEA), (&control, Type::INT8)];
        let has_keys = columns.has_keys() || targets.is_some();
        values.extend(columns.event_values());
        values.extend(columns.key_values().into_iter().filter(|_| has_keys));
        values.extend(columns.change_values());
        let aimed = targets.map(erase::target_columns);
        let mut steps = Vec::new();
        // A control event waits for checkpoints in progress: what they store was derived before it.
        if control.is_some() || aimed.is_some() {
            steps.push(self.step(include_str!("sql/lock.sql"), []));
        }
        match &aimed {
            None if has_keys => steps.push(self.step(include_str!("sql/append.sql"), values)),
            None => steps.push(self.step(include_str!("sql/append_unkeyed.sql"), values)),
            Some((seqs, indexes)) => {
                values.extend([(seqs as _, Type::INT8_ARRAY), (indexes as _, Type::INT4_ARRAY)]);
                steps.push(self.step(include_str!("sql/erase.sql"), values));
            }
        }
        let moved = steps.len() - 1;
        if aimed.is_some() {
            steps.push(self.step(include_str!("sql/erase_copies.sql"), []));
        }
        let answers = self.database.transact(Access::Write, self.user.as_str(), &steps)?;
        Ok(answers.get(moved).is_some_and(|rows| !rows.is_empty()))
    }

    /// Whether an event is in the ledger, at its position.
    fn has(&self, event: &SealedEvent) -> Result<bool, Failure> {
        let step = self.step(include_str!("sql/position_of.sql"), [(&event.id as _, Type::UUID)]);
        let answers = self.database.transact(Access::Read, self.user.as_str(), &[step])?;
        let seq = answers.iter().flatten().next().map(|row| position(row, 0)).transpose()?;
        Ok(seq == Some(event.seq))
    }

    /// The reason why a write changed nothing.
    fn why_not(&self, expected: Seq, targets: Option<&[ChangeRef]>) -> StoreError {
        let head = match self.live_head() {
            Ok(head) => head.seq,
            Err(error) => return error,
        };
        if head == expected {
            return erase::missing(self, targets.unwrap_or_default());
        }
        StoreError::Conflict { expected, head }
    }
}

fn positions_match(expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError> {
    for (seq, event) in (expected + 1..).zip(events) {
        if event.seq != seq {
            return Err(StoreError::Corrupt(format!(
                "an event with position {} was given to be appended at {seq}. Nothing was changed. This is a bug in Quipu",
                event.seq
            )));
        }
    }
    Ok(())
}

/// The error for an id or an idempotency key that is used already.
fn taken(failure: &Failure, events: &[SealedEvent]) -> Option<StoreError> {
    let (table, constraint) = failure.taken()?;
    let text = if table.starts_with("keys") {
        match events {
            [SealedEvent { idempotency: Some((key, _)), .. }] => format!("the idempotency key {key:?} was used before"),
            _ => "an idempotency key of these events was used before, or is in them twice".to_owned(),
        }
    } else if constraint.contains("fence_id") {
        match events {
            [event] => format!("the event {} is in the ledger already", event.id),
            _ => "an event with the id of one of these is in the ledger already".to_owned(),
        }
    } else {
        return None;
    };
    Some(StoreError::Exists(text))
}
