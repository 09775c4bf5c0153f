//! The days of a ledger, each with the memory at its end.

use std::collections::BTreeSet;

use quipu_core::Memory;
use quipu_core::artifact::Day;
use quipu_core::history::History;
use quipu_core::id::{Seq, UserId};

use crate::error::Result;
use crate::memory::scan;
use crate::memory::{OpenMemory, fold};

/// Consecutive events recorded on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: Seq,
    last: Seq,
    reverts: bool,
}

/// Called for each day in order, with the day, the memory before it if the day has reverts, the memory at its end, and
/// whether the day is closed (another day follows).
pub(super) type EachDay<'a> = &'a mut dyn FnMut(&Day, Option<&Memory>, &Memory, bool) -> Result<()>;

/// Visits the days from event `from` on, which must be the first of a day.
pub(super) fn each(open: &OpenMemory, user: &UserId, from: Seq, head: Seq, each: EachDay<'_>) -> Result<()> {
    let history = open.read().history.clone();
    let runs = runs(open, &history, from, head)?;
    let mut memory: Option<Memory> = None;
    for (number, run) in runs.iter().enumerate() {
        let is_last = number + 1 == runs.len();
        let skipped = history.skipped_at(run.last);
        let before = match (&memory, run.reverts) {
            (_, false) => None,
            (Some(memory), true) => Some(memory.clone()),
            (None, true) => Some(fold(open, user, &history, run.first - 1)?),
        };
        let held = memory.take().filter(|held| held.skipped().iter().eq(skipped.range(..=held.seq())));
        let mut day: Option<Day> = None;
        let stood = match held {
            Some(mut held) => {
                held.set_skipped(skipped);
                events(open, *run, &mut |event| {
                    day.get_or_insert_with(|| Day::of(&event)).note(&event);
                    held.apply(event);
                })?;
                held
            }
            None => {
                events(open, *run, &mut |event| day.get_or_insert_with(|| Day::of(&event)).note(&event))?;
                at_end(open, user, skipped, run.last)?
            }
        };
        if let Some(day) = &day {
            each(day, before.as_ref(), &stood, !is_last)?;
        }
        memory = Some(stood);
    }
    Ok(())
}

/// The memory at a version. Copies the open memory if it is at that version.
fn at_end(open: &OpenMemory, user: &UserId, skipped: BTreeSet<Seq>, version: Seq) -> Result<Memory> {
    let now = {
        let state = open.read();
        let stands = state.memory.seq() == version && *state.memory.skipped() == skipped;
        stands.then(|| state.memory.clone())
    };
    match now {
        Some(memory) => Ok(memory),
        None => fold::fold_skipping(open.writer()?.ledger.as_mut(), user, skipped, version),
    }
}

fn fold(open: &OpenMemory, user: &UserId, history: &History, version: Seq) -> Result<Memory> {
    fold::fold_to(open.writer()?.ledger.as_mut(), user, history, version)
}

fn events(open: &OpenMemory, run: Run, each: &mut dyn FnMut(quipu_core::event::Event)) -> Result<()> {
    scan::events(open.writer()?.ledger.as_mut(), run.first..=run.last, each)
}

fn runs(open: &OpenMemory, history: &History, from: Seq, head: Seq) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut date = None;
    scan::headers(open.writer()?.ledger.as_mut(), from..=head, &mut |header| {
        let of = quipu_core::calendar::day_number(header.recorded_at);
        let reverts = history.is_revert(header.seq);
        match runs.last_mut() {
            Some(run) if date == Some(of) => {
                run.last = header.seq;
                run.reverts |= reverts;
            }
            _ => runs.push(Run { first: header.seq, last: header.seq, reverts }),
        }
        date = Some(of);
    })?;
    Ok(runs)
}
