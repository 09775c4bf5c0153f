//! Writing: from what was read in a source to the changes that are recorded. Pure and deterministic; the reader nominates,
//! these rules decide.
//!
//! `candidates → ground → gate → reconcile → map to core → one event`

mod by_hand;
mod case;
mod core_map;
mod ending;
mod excluding;
mod facts;
mod gate;
mod ground;
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

use crate::event::{Change, SourceKind, Trust};
use crate::extract::{Extraction, ReadyMadeDetails};
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Evidence, Refused};

pub use by_hand::decisions::{DecisionContext, NewItemId};
pub use by_hand::proposing::ProposedAction;
pub use by_hand::restoring::SkippedEvent;
pub use by_hand::rewording::Reworded;
pub use case::{Policy, ReconcileInput};
pub use facts::slot_of;

use view::View;

/// What came of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Understanding {
    /// Claims taken up, with how each stands.
    pub asserted: Vec<Outcome>,
    /// Claims heard again.
    pub seen: Vec<Outcome>,
    /// Claims that ended or were corrected.
    pub ended: Vec<Outcome>,
    /// Tasks, goals and problems opened or moved on.
    pub tasks: Vec<Outcome>,
    /// Notes taken or agreed with, and lines of the self-model.
    pub notes: Vec<Outcome>,
    /// What waits for a person now.
    pub reviews: Vec<Outcome>,
    /// What did not pass, and why.
    pub refused: Vec<Rejection>,
    /// Places of the core document that changed.
    pub core_paths: Vec<String>,
}

/// An item and what happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The item.
    pub id: ItemId,
    /// What it says.
    pub text: String,
    /// What happened, in a few words.
    pub what: String,
}

/// A candidate that did not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejection {
    /// What it said.
    pub item: String,
    /// Why it did not pass.
    pub reason: String,
}

impl Understanding {
    /// True if nothing is recorded because of it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what came of another source, or of another part of this one.
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

/// Decides what is recorded of one source's candidates: the changes of one event, and a report of them.
///
/// The same memory, candidates and case give the same changes, but for the ids, which `name` hands out.
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
        name,
        drawn: Vec::new(),
        refused: Vec::new(),
        report: Understanding::default(),
        core: core_map::Draft::of(case.memory.core(), case.memory.schema()),
    };
    for fact in &found.misread {
        work.misread(*fact, &found.claims);
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
    for candidate in &found.tasks {
        work.task(candidate);
    }
    for update in &found.updates {
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

/// A decision in the making.
pub(crate) struct DecisionDraft<'a> {
    view: View<'a>,
    case: &'a ReconcileInput<'a>,
    besides: &'a BTreeMap<usize, ReadyMadeDetails>,
    /// Titles of tasks that were not taken up.
    refused_tasks: BTreeSet<String>,
    name: &'a mut dyn FnMut(ItemKind) -> ItemId,
    drawn: Vec<DerivedChange>,
    refused: Vec<Refused>,
    report: Understanding,
    core: core_map::Draft<'a>,
}

impl DecisionDraft<'_> {
    /// What is said of the item at a place besides.
    fn besides(&self, span: &Range<usize>) -> ReadyMadeDetails {
        self.besides.get(&span.start).cloned().unwrap_or_default()
    }

    /// Why an item cannot have what is said of it besides.
    fn unfit(&self, span: &Range<usize>) -> Option<String> {
        let ReadyMadeDetails { domain, tags, links, description, .. } = self.besides.get(&span.start)?;
        if let Some(missing) = links.iter().find(|link| !self.case.memory.has(link.to)) {
            return Some(format!("it links to {}, and there is no such item", missing.to));
        }
        let texts = std::iter::once(description).chain(domain).chain(tags).chain(links.iter().map(|link| &link.rel));
        texts.filter_map(|text| gate::objection(self.case, text, text)).next().map(str::to_owned)
    }

    /// Records a change, here and for what is decided after it.
    fn draw(&mut self, change: DerivedChange) {
        self.view.apply(&change);
        self.drawn.push(change);
    }

    fn refuse(&mut self, item: String, predicate: &str, evidence: Evidence, reason: &str) {
        self.refused.push(Refused { evidence, predicate: predicate.to_owned(), reason: reason.to_owned() });
        self.report.refused.push(Rejection { item, reason: reason.to_owned() });
    }

    fn finish(mut self) -> (Vec<Change>, Understanding) {
        if !self.refused.is_empty() {
            self.drawn.push(DerivedChange::CandidatesRefused { refused: std::mem::take(&mut self.refused) });
        }
        let mut changes: Vec<Change> = self.drawn.into_iter().map(Change::Drawn).collect();
        if let Some((core, paths)) = self.core.finish(self.case.registry) {
            changes.extend(core);
            self.report.core_paths = paths;
        }
        (changes, self.report)
    }
}

/// Changes of the core document and the places they change.
pub(crate) type CoreChange = (Vec<Change>, Vec<String>);

/// Where a source stands, for a decision about it.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeKind {
    /// The class of the source.
    pub kind: SourceKind,
    /// How far it may reach.
    pub trust: Trust,
}
