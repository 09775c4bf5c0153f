//! Notes and tenets: recorded once, then seconded; only the user confirms tenets.

use std::collections::BTreeSet;

use super::same::{is_negation, negates, words};
use super::tasks::{contained, overlap};
use super::{DecisionDraft, Outcome, gate};
use crate::event::{Actor, Trust};
use crate::extract::{NoteCandidate, TenetCandidate};
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Note, Review, ReviewKind, Tenet, TenetStatus};
use crate::items::Items;
use crate::limit;

/// Least share of common stems of two equivalent notes.
const SAME_NOTE_MIN: f64 = 0.8;

/// Least share of common stems of a tenet that contains another and adds little.
const LITTLE_MORE_MIN: f64 = 0.5;

impl DecisionDraft<'_> {
    pub(super) fn note(&mut self, candidate: &NoteCandidate) {
        let evidence = self.case.evidence(&candidate.span);
        if let Some(reason) = gate::objection(self.case, self.case.quote(&candidate.span), &candidate.text) {
            return self.refuse(candidate.text.clone(), "note", evidence, reason);
        }
        if candidate.confidence < self.case.policy.confidence_min {
            return self.refuse(candidate.text.clone(), "note", evidence, "not sure enough");
        }
        let same = self.view.notes().into_iter().find(|note| says_the_same(&note.text, &candidate.text)).cloned();
        if let Some(same) = same {
            if same.evidence.iter().any(|place| place.source == evidence.source) {
                return;
            }
            if self.case.standing.trust < Trust::User && self.case.standing.trust <= same.trust {
                // The author of a note cannot second it.
                let reason = "it says the same as a note of the same origin";
                return self.refuse(candidate.text.clone(), "note", evidence, reason);
            }
            self.report.notes.push(Outcome { id: same.id, text: same.text.clone(), what: "agreed with".to_owned() });
            let note = same.id;
            return self.draw(DerivedChange::NoteSeconded { note, evidence: Some(evidence) });
        }
        let live = self.view.notes();
        if live.len() >= limit::NOTES_MAX {
            // The weakest note without agreement makes room.
            let weakest = live
                .into_iter()
                .filter(|note| !note.is_agreed())
                .min_by(|a, b| a.confidence_base.total_cmp(&b.confidence_base).then(a.id.cmp(&b.id)));
            let Some(weakest) = weakest.map(|note| note.id) else {
                let reason = "the limit of notes is reached, and all notes are seconded";
                return self.refuse(candidate.text.clone(), "note", evidence, reason);
            };
            self.draw(DerivedChange::ItemRetracted { item: weakest, reason: "made room for another note".to_owned() });
        }
        let note = Note {
            id: (self.name)(ItemKind::Note),
            text: candidate.text.clone(),
            origin: candidate.origin,
            confidence_base: candidate.confidence,
            votes: 0,
            evidence: vec![evidence],
            trust: self.case.standing.trust,
            tags: candidate.tags.clone(),
        };
        self.report.notes.push(Outcome { id: note.id, text: note.text.clone(), what: "noted".to_owned() });
        self.draw(DerivedChange::NoteRecorded(Box::new(note)));
    }

    pub(super) fn tenet(&mut self, candidate: &TenetCandidate) {
        let evidence = self.case.evidence(&candidate.span);
        if let Some(reason) = gate::objection(self.case, self.case.quote(&candidate.span), &candidate.text) {
            return self.refuse(candidate.text.clone(), "tenet", evidence, reason);
        }
        let items = self.view.items();
        let same = self
            .view
            .tenets()
            .find(|tenet| tenet.status != TenetStatus::Outdated && says_the_same(&tenet.text, &candidate.text))
            .map(|tenet| tenet.id);
        if let Some(same) = same {
            return self.refuse(candidate.text.clone(), "tenet", evidence, &format!("{same} says the same"));
        }
        let own = self.case.standing.trust == Trust::User;
        let mut rests_on = vec![self.case.source];
        rests_on.extend(candidate.evidence.iter().filter(|id| items.has(**id)));
        let mut seen = BTreeSet::new();
        rests_on.retain(|id| seen.insert(*id));
        if let Some((declined, again_at)) = declined(items, &candidate.text, rests_on.len()).filter(|_| !own) {
            let reason = format!("{declined} was declined; it is asked again once {again_at} items speak for it");
            return self.refuse(candidate.text.clone(), "tenet", evidence, &reason);
        }
        let tenet = Tenet {
            id: (self.name)(ItemKind::Tenet),
            kind: candidate.kind,
            text: candidate.text.clone(),
            status: if own { TenetStatus::Confirmed } else { TenetStatus::Proposed },
            evidence: rests_on,
            domain: candidate.domain.clone(),
            topic: candidate.topic.clone(),
            version: 1,
        };
        let (id, text) = (tenet.id, tenet.text.clone());
        let what = if own { "confirmed: you said it" } else { "proposed" };
        self.report.notes.push(Outcome { id, text: text.clone(), what: what.to_owned() });
        self.draw(DerivedChange::TenetRecorded(Box::new(tenet)));
        if own {
            return;
        }
        let review = Review {
            id: (self.name)(ItemKind::Review),
            kind: ReviewKind::Tenet,
            about: id,
            against: None,
            question: format!("Do you stand by this: {text}?"),
            reason: "only you can confirm what you live by".to_owned(),
            proposer: Actor::System,
            opened_at: Some(self.case.told_at()),
            promotion: None,
            decided: None,
            proposed: None,
        };
        let (question, reason) = (review.question.clone(), review.reason.clone());
        self.report.reviews.push(Outcome { id: review.id, text: question, what: reason });
        self.draw(DerivedChange::ReviewOpened(Box::new(review)));
    }
}

/// The equivalent tenet that the user declined or retracted, and the number of evidence items needed to propose it
/// again: twice as many as before. None if there are enough, or none was declined.
pub(crate) fn declined(items: &Items, text: &str, support: usize) -> Option<(ItemId, usize)> {
    let no = |tenet: &&Tenet| tenet.status == TenetStatus::Outdated || items.is_hidden(tenet.id);
    let same = items.tenets().filter(no).filter(|tenet| says_little_else(&tenet.text, text));
    let again_at = same.map(|tenet| (tenet.id, tenet.evidence.len().max(1).saturating_mul(2)));
    again_at.max_by_key(|(_, at)| *at).filter(|(_, at)| support < *at)
}

/// True if two texts are nearly the same and agree in negation.
pub(crate) fn says_the_same(one: &str, other: &str) -> bool {
    negates(one) == negates(other) && overlap(one, other) >= SAME_NOTE_MIN
}

/// True if one text contains the other, adds little, and agrees in negation. A declined tenet also suppresses such a
/// proposal.
fn says_little_else(one: &str, other: &str) -> bool {
    let (a, b) = (affirmed(one), affirmed(other));
    let common = overlap(&a, &b);
    negates(one) == negates(other) && (common >= SAME_NOTE_MIN || common >= LITTLE_MORE_MIN && contained(&a, &b))
}

/// A text without its negations.
fn affirmed(text: &str) -> String {
    let mut words = words(text);
    words.retain(|word| !is_negation(word));
    words.join(" ")
}
