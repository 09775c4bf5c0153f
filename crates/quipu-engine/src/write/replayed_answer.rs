//! Reconstructs from the ledger the answer to a repeated request.

use std::collections::BTreeSet;

use quipu_core::Memory;
use quipu_core::event::{Change, Event};
use quipu_core::extract::Extraction;
use quipu_core::id::{ItemId, Seq};
use quipu_core::item::{DerivedChange, Episode, Evidence, FactStatus, Refused, Review, TenetStatus};
use quipu_core::reconcile::{Outcome, Rejection, Understanding};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::memory::OpenMemory;
use crate::memory::Receipt;
use crate::memory::scan;
use crate::review::queue::quotes;

/// Description of each outcome in the answer to a repeated request.
const BEFORE: &str = "recorded before";

/// An item that does not count until a review is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitingItem {
    /// The review.
    pub review_id: ItemId,
    /// The item; the review itself if there is no such item yet.
    pub item_id: ItemId,
    /// The question to the user.
    pub question: String,
    /// Why it waits.
    pub reason: String,
}

/// The events that followed from a request, in order.
pub(crate) struct Effects {
    pub(crate) events: Vec<Event>,
    /// The version after the last of them.
    pub(crate) version: Seq,
}

/// Finds the events that followed from the event of a receipt.
///
/// # Errors
/// `Refused` if a part was erased, because the answer can no longer be reconstructed.
pub(crate) fn effects(open: &OpenMemory, receipt: &Receipt) -> Result<Effects> {
    let head = open.read().memory.seq();
    let mut events = Vec::new();
    scan::events(open.writer()?.ledger.as_mut(), receipt.seq + 1..=head, &mut |event| {
        if event.header.caused_by.contains(&receipt.event_id) {
            events.push(event);
        }
    })?;
    if let Some(erased) = events.iter().find(|event| event.changes.iter().any(Option::is_none)) {
        let (seq, part) = (receipt.seq, erased.header.seq);
        return Err(Error::Refused(format!(
            "this was answered by event {seq}, and a part of it, event {part}, was erased since; choose a new key"
        )));
    }
    let version = events.last().map_or(receipt.seq, |event| event.header.seq);
    Ok(Effects { events, version })
}

impl Effects {
    pub(crate) fn drawn(&self) -> impl Iterator<Item = &DerivedChange> {
        self.events.iter().flat_map(|event| event.changes.iter().flatten()).filter_map(|change| match change {
            Change::Drawn(drawn) => Some(drawn),
            _ => None,
        })
    }

    /// Items that count, made or confirmed again, distinct, in the order of the ledger.
    pub(crate) fn accepted(&self, memory: &Memory) -> Vec<ItemId> {
        let mut all = Vec::new();
        for drawn in self.drawn() {
            let item = match drawn {
                DerivedChange::ReviewOpened(_) | DerivedChange::EpisodeRecorded(_) => None,
                DerivedChange::FactSeen { fact, .. } | DerivedChange::FactRestored { fact } => Some(*fact),
                DerivedChange::FactChanged(change) => {
                    let counts = change.status.is_none_or(|status| status == FactStatus::Active);
                    (counts && change.evidence.is_some()).then_some(change.fact)
                }
                DerivedChange::TaskChanged(change) => Some(change.task),
                DerivedChange::NoteSeconded { note, .. } => Some(*note),
                other => other.makes(),
            };
            all.extend(item.filter(|item| !all.contains(item)));
        }
        let counts = |item: &ItemId| match memory.items().fact(*item) {
            Some(fact) => matches!(fact.status, FactStatus::Active | FactStatus::Superseded),
            None => memory.items().tenet(*item).is_none_or(|tenet| tenet.status != TenetStatus::Proposed),
        };
        all.retain(counts);
        all
    }

    /// The reviews that these events opened, or that already wait for what they say again.
    pub(crate) fn waiting(&self, memory: &Memory) -> Vec<WaitingItem> {
        let items = memory.items();
        let waits = |review: &Review| WaitingItem {
            review_id: review.id,
            item_id: review.about,
            question: review.question.clone(),
            reason: review.reason.clone(),
        };
        let mut all: Vec<WaitingItem> = Vec::new();
        for drawn in self.drawn() {
            let found: Vec<WaitingItem> = match drawn {
                DerivedChange::ReviewOpened(review) => vec![waits(review)],
                DerivedChange::FactChanged(change) if change.evidence.is_some() && change.status.is_none() => {
                    items.waiting_about(change.fact).map(waits).collect()
                }
                DerivedChange::FactSeen { fact, .. } => items.waiting_about(*fact).map(waits).collect(),
                _ => Vec::new(),
            };
            all.extend(
                found
                    .into_iter()
                    .filter(|one| all.iter().all(|known| known.review_id != one.review_id))
                    .collect::<Vec<_>>(),
            );
        }
        all
    }

    /// Rejected candidates, quoted from the source.
    pub(crate) fn rejected(&self, memory: &Memory) -> Vec<Rejection> {
        let refused = self.drawn().flat_map(|drawn| match drawn {
            DerivedChange::CandidatesRefused { refused } => refused.as_slice(),
            _ => &[],
        });
        let words = |at: &Evidence| quotes(memory, std::slice::from_ref(at)).pop().map(|(_, words)| words);
        let rejection =
            |one: &Refused| Rejection { item: words(&one.evidence).unwrap_or_default(), reason: one.reason.clone() };
        refused.map(rejection).collect()
    }

    /// What was recorded, as far as the ledger shows, with texts from the memory at that version.
    pub(crate) fn understanding(&self, memory: &Memory) -> Understanding {
        let mut all = Understanding { refused: self.rejected(memory), ..Understanding::default() };
        let outcome = |id: ItemId| {
            let text = memory.items().text(id).unwrap_or_default().to_owned();
            Outcome { id, text, what: BEFORE.to_owned() }
        };
        for drawn in self.drawn() {
            match drawn {
                DerivedChange::FactAsserted { fact, ends, .. } => {
                    all.asserted.push(outcome(fact.id));
                    all.ended.extend(ends.iter().map(|&id| outcome(id)));
                }
                DerivedChange::FactSeen { fact, .. } => all.seen.push(outcome(*fact)),
                DerivedChange::FactRestored { fact } => all.asserted.push(outcome(*fact)),
                DerivedChange::FactChanged(change) => match change.status {
                    Some(FactStatus::Active) => all.asserted.push(outcome(change.fact)),
                    Some(_) => all.ended.push(outcome(change.fact)),
                    None if change.evidence.is_some() => all.seen.push(outcome(change.fact)),
                    None => {}
                },
                DerivedChange::TaskOpened(task) => all.tasks.push(outcome(task.id)),
                DerivedChange::TaskChanged(change) => all.tasks.push(outcome(change.task)),
                DerivedChange::NoteRecorded(note) => all.notes.push(outcome(note.id)),
                DerivedChange::NoteSeconded { note, .. } => all.notes.push(outcome(*note)),
                DerivedChange::TenetRecorded(tenet) => all.notes.push(outcome(tenet.id)),
                DerivedChange::ReviewOpened(review) => all.reviews.push(outcome(review.id)),
                _ => {}
            }
        }
        all
    }

    /// The episodes recorded, in order.
    pub(crate) fn episodes(&self) -> Vec<Episode> {
        let told = self.drawn().filter_map(|drawn| match drawn {
            DerivedChange::EpisodeRecorded(episode) => Some((**episode).clone()),
            _ => None,
        });
        told.collect()
    }

    /// Returns true if any of these candidates was recorded; then all of them were.
    pub(crate) fn has_any_of(&self, part: &Extraction) -> bool {
        let facts = part.facts.iter().map(|candidate| &candidate.span);
        let spans = facts
            .chain(part.tasks.iter().map(|candidate| &candidate.span))
            .chain(part.notes.iter().map(|candidate| &candidate.span));
        let starts: BTreeSet<u32> =
            spans.chain(part.tenets.iter().map(|one| &one.span)).map(|span| span.start as u32).collect();
        self.drawn().any(|drawn| match drawn {
            DerivedChange::TenetRecorded(tenet) => part.tenets.iter().any(|candidate| candidate.text == tenet.text),
            other => other.places().iter().any(|place| starts.contains(&place.start)),
        })
    }
}
