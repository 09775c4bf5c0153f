//! Judges notes proposed by a language model during reflection.
//!
//! A proposal is input, not truth. It must cite sources that were shown, its names and numbers must occur in them, and
//! it must not read like an instruction. An accepted note starts without votes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::reflection::{CONFIDENCE, Room};
use super::{GrowthContext, GrowthProposal, GrowthSubject, Name};
use crate::episode;
use crate::event::{Change, Trust};
use crate::guard;
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Evidence, Note, NoteOrigin};
use crate::limit;
use crate::memory::HeldSource;
use crate::reconcile::Rejection;

/// Share of a note's content words that must occur in its evidence.
const GROUNDED_MIN: f64 = 0.5;

/// A proposed note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteProposed {
    /// The note.
    pub text: String,
    /// The sources it rests on; each must have been shown.
    pub evidence: Vec<ItemId>,
}

impl GrowthContext<'_> {
    /// Turns proposed notes into events and refusals with reasons. `shown` holds the sources that the proposer was
    /// given.
    pub fn judged(
        &self,
        proposed: &[NoteProposed],
        shown: &BTreeSet<ItemId>,
        name: Name<'_>,
    ) -> (Vec<GrowthProposal>, Vec<Rejection>) {
        let mut room = Room::of(self.memory(), limit::NOTES_MAX);
        let (mut found, mut refused, mut taken) = (Vec::new(), Vec::new(), 0);
        for one in proposed {
            let text = one.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let outcome = match self.objection(&text, &one.evidence, shown) {
                Some(reason) => Err(reason),
                None if taken == self.knobs.notes_max => Err("the limit of notes per reflection is reached"),
                None => self.taken(&text, &one.evidence, &mut room, name),
            };
            match outcome {
                Ok(proposals) => {
                    taken += 1;
                    found.extend(proposals);
                }
                Err(reason) => refused.push(Rejection { item: text, reason: reason.to_owned() }),
            }
        }
        (found, refused)
    }

    fn objection(&self, text: &str, evidence: &[ItemId], shown: &BTreeSet<ItemId>) -> Option<&'static str> {
        let held: Vec<&HeldSource> = evidence.iter().filter_map(|id| self.memory().get(*id)).collect();
        if text.is_empty() || text.len() > limit::NOTE_TEXT_BYTES_MAX {
            return Some("a note is a sentence");
        }
        if evidence.is_empty() || held.len() < evidence.len() || evidence.iter().any(|id| !shown.contains(id)) {
            return Some("it names sources that were not shown");
        }
        if held.iter().all(|held| held.trust < Trust::User) {
            return Some("it does not rest on what you said");
        }
        if guard::looks_like_instructions(text) {
            return Some("it reads like an instruction");
        }
        if guard::sensitivity(text).is_some() || !guard::redact(text).found.is_empty() {
            return Some("it is sensitive, or has a secret in it");
        }
        let said: String = held.iter().map(|held| format!("{} ", held.source.text)).collect();
        (!is_grounded(text, &said)).then_some("its words do not occur in its evidence")
    }

    fn taken(
        &self,
        text: &str,
        evidence: &[ItemId],
        room: &mut Room,
        name: Name<'_>,
    ) -> Result<Vec<GrowthProposal>, &'static str> {
        let places: Vec<Evidence> =
            evidence.iter().filter_map(|id| self.whole(*id)).take(limit::EVIDENCE_PER_ITEM_MAX).collect();
        if let Some(known) = self.known(text) {
            let fresh = places.iter().find(|at| known.evidence.iter().all(|own| own.source != at.source));
            // A model cannot second its own note.
            let at = fresh.filter(|_| known.origin != NoteOrigin::ModelReflection).ok_or("it is noted already")?;
            let second = DerivedChange::NoteSeconded { note: known.id, evidence: Some(*at) };
            return Ok(vec![GrowthProposal {
                what: GrowthSubject::Seconded,
                items: vec![known.id],
                text: text.to_owned(),
                because: "another voice says the same".to_owned(),
                changes: vec![Change::Drawn(second)],
            }]);
        }
        if self.was_taken_back(text) {
            return Err("such a note was taken back");
        }
        let Some(made) = room.make() else { return Err("the limit of notes is reached") };
        let least = evidence.iter().filter_map(|id| self.memory().get(*id)).map(|held| held.trust).min();
        let note = Note {
            id: name(ItemKind::Note),
            text: text.to_owned(),
            origin: NoteOrigin::ModelReflection,
            confidence_base: CONFIDENCE,
            votes: 0,
            evidence: places,
            trust: least.unwrap_or(Trust::Web).min(Trust::Agent),
            tags: vec!["insight".to_owned()],
        };
        let noted = GrowthProposal {
            what: GrowthSubject::Noted,
            items: vec![note.id],
            text: text.to_owned(),
            because: "a model looked back".to_owned(),
            changes: vec![Change::Drawn(DerivedChange::NoteRecorded(Box::new(note)))],
        };
        Ok(made.into_iter().chain([noted]).collect())
    }
}

/// True if the sources contain the names and numbers of a note and at least half of its other content words.
fn is_grounded(text: &str, said: &str) -> bool {
    let lower = said.to_lowercase();
    let words: BTreeSet<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut exact = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).enumerate().filter(
        |(place, word)| {
            word.contains(|c: char| c.is_ascii_digit()) || (*place > 0 && word.starts_with(char::is_uppercase))
        },
    );
    let named = exact.all(|(_, word)| words.contains(word.to_lowercase().as_str()) || word == "I");
    let (own, there) = (episode::stems(text), episode::stems(said));
    let common = own.intersection(&there).count();
    named && common > 0 && common as f64 >= GROUNDED_MIN * own.len() as f64
}

#[cfg(test)]
mod tests {
    use super::is_grounded;

    #[test]
    fn names_and_numbers_must_stand_in_the_words() {
        let said = "Short walks before meetings calm me down. I told Marta twice in 2024.";
        for (text, grounded) in [
            ("Short walks before meetings calm the user", true),
            ("Walks calm the user before meetings with Marta", true),
            ("Walks calm the user before meetings with Rui", false),
            ("Told Marta in 2023 that walks calm", false),
            ("Prefers spicy food in the evening", false),
            ("", false),
        ] {
            assert_eq!(is_grounded(text, said), grounded, "{text}");
        }
    }
}
