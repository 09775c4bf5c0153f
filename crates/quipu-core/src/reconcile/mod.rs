//! Reconciliation: turns candidates extracted from a source into changes to record. Pure and deterministic; the
//! extractor nominates, these rules decide.
//!
//! `candidates → ground → gate → reconcile → map to core → one event`

mod ahead;
mod by_hand;
mod case;
mod claim;
mod core_map;
mod ending;
mod excluding;
mod facts;
mod gate;
mod ground;
mod last_told;
mod modelled;
mod namesake;
pub(crate) mod notes;
mod past;
mod same;
mod stood;
mod tasks;
mod updating;
mod view;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Serialize;

use crate::event::{Change, ItemMark, SourceKind, Trust};
use crate::extract::{Extraction, ReadyMadeDetails, UpdateCandidate, UpdateNews};
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Evidence, Fact, Refused};

pub use by_hand::decisions::{DecisionContext, NewItemId};
pub use by_hand::proposing::ProposedAction;
pub use by_hand::restoring::SkippedEvent;
pub use by_hand::rewording::Reworded;
pub use case::{Policy, ReconcileInput};
pub use claim::slot_of;

use view::View;

/// The outcome for one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Understanding {
    /// Facts asserted, with their status.
    pub asserted: Vec<Outcome>,
    /// Facts seen again.
    pub seen: Vec<Outcome>,
    /// Facts that ended or were corrected.
    pub ended: Vec<Outcome>,
    /// Tasks, goals and problems opened or changed.
    pub tasks: Vec<Outcome>,
    /// Notes recorded or seconded, and tenets.
    pub notes: Vec<Outcome>,
    /// Reviews opened.
    pub reviews: Vec<Outcome>,
    /// Refused candidates.
    pub refused: Vec<Rejection>,
    /// Paths of the core document that changed.
    pub core_paths: Vec<String>,
}

/// An item and what happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ItemOutcome"))]
pub struct Outcome {
    /// The item.
    pub id: ItemId,
    /// Its text.
    pub text: String,
    /// What happened, in a few words.
    pub what: String,
}

/// A refused candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rejection {
    /// Its text.
    pub item: String,
    /// The reason.
    pub reason: String,
}

impl Understanding {
    /// True if nothing happened.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Appends the outcome of another source or part.
    pub fn extend(&mut self, other: Self) {
        self.asserted.extend(other.asserted);
        self.seen.extend(other.seen);
        self.ended.extend(other.ended);
        self.tasks.extend(other.tasks);
        self.notes.extend(other.notes);
        self.reviews.extend(other.reviews);
        self.refused.extend(other.refused);
        self.core_paths.extend(other.core_paths);
    }
}

/// Decides what to record from one source's candidates: the changes of one event, and a report.
///
/// The same memory, candidates and case give the same changes apart from the ids, which `name` allocates.
pub fn decide(
    case: &ReconcileInput<'_>,
    found: &Extraction,
    name: &mut dyn FnMut(ItemKind) -> ItemId,
) -> (Vec<Change>, Understanding) {
    let mut work = DecisionDraft {
        view: View::of(case.memory.items()),
        case,
        besides: &found.besides,
        refused_tasks: BTreeSet::new(),
        done_here: Vec::new(),
        name,
        drawn: Vec::new(),
        refused: Vec::new(),
        report: Understanding::default(),
        core: core_map::Draft::of(case.memory.core(), case.memory.schema()),
    };
    work.begin_due();
    for fact in &found.misread {
        work.misread(*fact, found);
    }
    for candidate in &found.facts {
        work.fact(candidate);
    }
    for claim in &found.claims {
        work.claim_of_model(claim);
    }
    for task in &found.task_claims {
        work.task_of_model(task);
    }
    for refused in &found.refused {
        work.refused_operation(refused);
    }
    // A task that is done is known by its name first, so that the same words do not open another.
    let is_done = |update: &&UpdateCandidate| matches!(update.news, UpdateNews::Done { .. });
    for update in found.updates.iter().filter(is_done) {
        work.update(update);
    }
    for candidate in &found.tasks {
        work.task(candidate);
    }
    for update in found.updates.iter().filter(|update| !is_done(update)) {
        work.update(update);
    }
    for candidate in &found.notes {
        work.note(candidate);
    }
    for candidate in &found.tenets {
        work.tenet(candidate);
    }
    work.finish()
}

/// A decision under construction.
pub(crate) struct DecisionDraft<'a> {
    view: View<'a>,
    case: &'a ReconcileInput<'a>,
    besides: &'a BTreeMap<usize, ReadyMadeDetails>,
    /// Titles of refused tasks.
    refused_tasks: BTreeSet<String>,
    /// The words that ticked tasks off.
    done_here: Vec<std::ops::Range<usize>>,
    name: &'a mut dyn FnMut(ItemKind) -> ItemId,
    drawn: Vec<DerivedChange>,
    refused: Vec<Refused>,
    report: Understanding,
    core: core_map::Draft<'a>,
}

impl DecisionDraft<'_> {
    /// The ready-made details of the item at a span.
    fn besides(&self, span: &Range<usize>) -> ReadyMadeDetails {
        self.besides.get(&span.start).cloned().unwrap_or_default()
    }

    /// Why an item's ready-made details are not acceptable.
    fn unfit(&self, span: &Range<usize>) -> Option<String> {
        let ReadyMadeDetails { domain, tags, links, description, .. } = self.besides.get(&span.start)?;
        if let Some(missing) = links.iter().find(|link| !self.case.memory.has(link.to)) {
            return Some(format!("it links to {}, and there is no such item", missing.to));
        }
        let texts = std::iter::once(description).chain(domain).chain(tags).chain(links.iter().map(|link| &link.rel));
        texts.filter_map(|text| gate::objection(self.case, text, text)).next().map(str::to_owned)
    }

    /// Records a change and makes it visible to later decisions.
    fn draw(&mut self, change: DerivedChange) {
        self.view.apply(&change);
        self.drawn.push(change);
    }

    fn refuse(&mut self, item: String, predicate: &str, evidence: Evidence, reason: &str) {
        self.refused.push(Refused { evidence, predicate: predicate.to_owned(), reason: reason.to_owned() });
        self.report.refused.push(Rejection { item, reason: reason.to_owned() });
    }

    fn finish(mut self) -> (Vec<Change>, Understanding) {
        self.end_remarks();
        if !self.refused.is_empty() {
            self.drawn.push(DerivedChange::CandidatesRefused { refused: std::mem::take(&mut self.refused) });
        }
        let pins = self.pins();
        let mut changes: Vec<Change> = self.drawn.into_iter().map(Change::Drawn).chain(pins).collect();
        if let Some((core, paths)) = self.core.finish(self.case.registry) {
            changes.extend(core);
            self.report.core_paths = paths;
        }
        (changes, self.report)
    }

    /// Pins what takes the place of a pinned fact.
    fn pins(&self) -> Vec<Change> {
        let memory = self.case.memory;
        let replaces_a_pin = |fact: &Fact, ends: &[ItemId]| {
            let mut held = memory.items().in_slot(&fact.slot).filter(|held| held.is_active());
            held.any(|held| (fact.single || ends.contains(&held.id)) && memory.marks(held.id).pinned)
        };
        let pin = |drawn: &DerivedChange| match drawn {
            DerivedChange::FactAsserted { fact, ends, .. } if fact.is_active() && replaces_a_pin(fact, ends) => {
                Some(Change::ItemMarked(ItemMark { item: fact.id, pinned: Some(true), rating: None }))
            }
            _ => None,
        };
        self.drawn.iter().filter_map(pin).collect()
    }
}

/// Changes of the core document, and the paths they change.
pub(crate) type CoreChange = (Vec<Change>, Vec<String>);

/// Provenance of a source.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeKind {
    /// Kind of the source.
    pub kind: SourceKind,
    /// Its trust.
    pub trust: Trust,
}
