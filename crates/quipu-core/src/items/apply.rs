//! Folds changes into the items. Total: every change leaves the items consistent.

use std::collections::btree_map::Entry;

use super::{Items, quotes};
use crate::evolve::GrownSchema;
use crate::id::{ItemId, ItemKind, Seq};
use crate::item::{DerivedChange, Evidence, Fact, FactChange, FactStatus, TaskChange, TenetChange, TimeSpan};
use crate::limit;

impl Items {
    /// Folds in a change. The caller has checked that the items it needs exist.
    pub(crate) fn apply(&mut self, change: DerivedChange, seq: Seq) {
        if let DerivedChange::EpisodeRecorded(episode) = &change
            && episode.sources.iter().any(|source| self.told_by.contains_key(source))
        {
            // A turn belongs to one episode. An episode restored by a revert of a revert takes precedence over later
            // ones.
            return;
        }
        if self.sessions.passes_over(&change, seq) {
            return;
        }
        if let Some(made) = change.makes() {
            self.made_by.entry(made).or_insert(seq);
        }
        self.growth.apply(&change);
        match change {
            DerivedChange::FactAsserted { fact, ends, corrects } => self.assert(*fact, &ends, corrects),
            DerivedChange::FactSeen { fact, evidence, at } => {
                let Some(fact) = self.facts.get_mut(&fact) else { return };
                fact.seen_count = fact.seen_count.saturating_add(1);
                fact.last_seen = fact.last_seen.max(at);
                add_evidence(&mut fact.evidence, evidence);
                self.quoting.extend(quotes(fact));
            }
            DerivedChange::FactChanged(change) => self.change_fact(&change),
            DerivedChange::FactRestored { fact } => self.reinstate(fact),
            DerivedChange::ValueRejected(value) => {
                self.rejected.insert(value.key(), seq);
            }
            DerivedChange::CandidatesRefused { refused } => self.refused_count += refused.len() as u64,
            DerivedChange::EpisodeRecorded(episode) => {
                self.told(&episode);
                self.episodes.insert(episode.id, *episode);
            }
            DerivedChange::TaskOpened(task) => {
                self.tasks.insert(task.id, *task);
            }
            DerivedChange::TaskChanged(change) => self.change_task(change),
            DerivedChange::NoteRecorded(note) => {
                self.notes.insert(note.id, *note);
            }
            DerivedChange::NoteSeconded { note, evidence } => {
                let Some(note) = self.notes.get_mut(&note) else { return };
                note.votes = note.votes.saturating_add(1);
                evidence.into_iter().for_each(|at| add_evidence(&mut note.evidence, at));
            }
            DerivedChange::TenetRecorded(tenet) => {
                self.tenets.insert(tenet.id, *tenet);
            }
            DerivedChange::TenetChanged(change) => self.change_tenet(change),
            DerivedChange::ReviewOpened(review) => {
                self.undecided.entry(review.about).or_default().insert(review.id);
                self.reviews.insert(review.id, *review);
            }
            DerivedChange::ReviewDecided { review, decision } => {
                if let Some(review) = self.reviews.get_mut(&review) {
                    review.decided = Some((decision, seq));
                    if let Entry::Occupied(mut open) = self.undecided.entry(review.about) {
                        open.get_mut().remove(&review.id);
                        if open.get().is_empty() {
                            open.remove();
                        }
                    }
                }
            }
            // The schema and the core document are stored beside the items.
            DerivedChange::SchemaPromoted(_)
            | DerivedChange::CoreFieldsChanged { .. }
            | DerivedChange::CoreEdited { .. } => {}
            DerivedChange::ItemRetracted { item, .. } => self.retract(item),
            DerivedChange::ItemsMerged { from, into } => self.merge(&from, into),
            DerivedChange::FactPromoted { fact, .. } => {
                if let Some(fact) = self.facts.get_mut(&fact) {
                    fact.time_span = TimeSpan::LongTerm;
                }
            }
            DerivedChange::HitsCounted { .. } | DerivedChange::ItemsDemoted { .. } => {}
            about_a_session @ (DerivedChange::TurnSummarized(_)
            | DerivedChange::BaseTruthAdded(_)
            | DerivedChange::BaseTruthRemoved { .. }
            | DerivedChange::BaseTruthMerged(_)
            | DerivedChange::BaseTruthKept { .. }
            | DerivedChange::SessionEnded { .. }) => self.sessions.apply(about_a_session, seq),
        }
    }

    /// Updates the paths of facts and episodes after a promotion.
    pub(crate) fn relocate(&mut self, schema: &GrownSchema) {
        for fact in self.facts.values_mut() {
            let moved = fact.core_path.as_deref().and_then(|path| schema.elsewhere(path));
            fact.core_path = moved.or(fact.core_path.take());
        }
        for episode in self.episodes.values_mut() {
            episode.related_paths.iter_mut().for_each(|path| *path = schema.place(path));
        }
    }

    fn assert(&mut self, fact: Fact, ends: &[ItemId], corrects: bool) {
        for other in ends {
            self.displace(*other, &fact, corrects);
        }
        self.displace_slot(&fact, corrects);
        self.slots.entry(fact.slot.clone()).or_default().insert(fact.id);
        self.note_ahead(&fact);
        let (id, quoted) = (fact.id, quotes(&fact).collect::<Vec<_>>());
        if let Some(replaced) = self.facts.insert(id, fact) {
            for pair in quotes(&replaced) {
                self.quoting.remove(&pair);
            }
        }
        self.quoting.extend(quoted);
    }

    /// Ends the active facts in the slot of an active fact that holds one value, but for those that begin later.
    fn displace_slot(&mut self, fact: &Fact, corrects: bool) {
        if !fact.single || !fact.is_active() {
            return;
        }
        let gives_way = |held: &&Fact| held.is_active() && !held.begins_after(fact);
        let held: Vec<ItemId> = self.in_slot(&fact.slot).filter(gives_way).map(|held| held.id).collect();
        for other in held {
            self.displace(other, fact, corrects);
        }
    }

    fn displace(&mut self, other: ItemId, by: &Fact, corrects: bool) {
        let Some(held) = self.facts.get_mut(&other).filter(|held| held.is_active() && held.id != by.id) else { return };
        held.superseded_by = Some(by.id);
        if corrects {
            held.status = FactStatus::Corrected;
            return;
        }
        held.status = FactStatus::Superseded;
        if held.valid_to.is_none() {
            // It cannot end before it began.
            let end = by.began();
            held.valid_to = end.max(held.valid_from);
        }
    }

    fn change_fact(&mut self, change: &FactChange) {
        // True if the fact that ended it is gone.
        let ended_by = self.facts.get(&change.fact).and_then(|fact| fact.superseded_by);
        let is_free = ended_by.is_some_and(|by| !self.facts.contains_key(&by));
        let Some(fact) = self.facts.get_mut(&change.fact) else { return };
        fact.valid_from = change.valid_from.or(fact.valid_from);
        fact.valid_to = change.valid_to.or(fact.valid_to);
        fact.confidence_base = change.confidence_base.unwrap_or(fact.confidence_base);
        fact.trust = change.trust.unwrap_or(fact.trust);
        fact.user_fact_score = change.user_fact_score.or(fact.user_fact_score);
        change.evidence.into_iter().for_each(|at| add_evidence(&mut fact.evidence, at));
        self.quoting.extend(quotes(fact));
        if change.valid_from.is_some() {
            let changed = fact.clone();
            self.note_ahead(&changed);
        }
        let Some(status) = change.status else { return };
        let Some(fact) = self.facts.get_mut(&change.fact) else { return };
        fact.status = status;
        if status == FactStatus::Superseded && is_free {
            // This change ends it.
            fact.superseded_by = None;
        }
        if status == FactStatus::Active {
            fact.superseded_by = None;
            let fact = fact.clone();
            self.displace_slot(&fact, false);
        }
    }

    fn note_ahead(&mut self, fact: &Fact) {
        if fact.was_ahead() {
            self.ahead.insert(fact.id);
        } else {
            self.ahead.remove(&fact.id);
        }
    }

    /// Makes an ended fact active again.
    fn reinstate(&mut self, fact: ItemId) {
        let Some(fact) = self.facts.get_mut(&fact) else { return };
        fact.status = FactStatus::Active;
        fact.valid_to = None;
        fact.superseded_by = None;
        let fact = fact.clone();
        self.displace_slot(&fact, false);
    }

    fn change_task(&mut self, change: TaskChange) {
        let Some(task) = self.tasks.get_mut(&change.task) else { return };
        task.status = change.status.unwrap_or(task.status);
        task.due = change.due.or(task.due);
        task.priority = change.priority.unwrap_or(task.priority);
        task.updated_at = task.updated_at.max(change.at);
        change.evidence.into_iter().for_each(|at| add_evidence(&mut task.evidence, at));
        if let Some(attempt) = change.attempt
            && task.attempts.len() < limit::ATTEMPTS_PER_TASK_MAX
        {
            task.attempts.push(attempt);
        }
    }

    fn change_tenet(&mut self, change: TenetChange) {
        let Some(tenet) = self.tenets.get_mut(&change.tenet) else { return };
        tenet.status = change.status.unwrap_or(tenet.status);
        if let Some(text) = change.text {
            tenet.text = text;
        }
        tenet.version = tenet.version.saturating_add(1);
    }

    fn retract(&mut self, item: ItemId) {
        if let (ItemKind::Fact, Some(fact)) = (item.kind, self.facts.get_mut(&item)) {
            fact.status = FactStatus::Retracted;
            return;
        }
        self.retracted.insert(item);
    }

    fn merge(&mut self, from: &[ItemId], into: ItemId) {
        for &part in from {
            if part == into || self.merged.contains_key(&part) || self.merged.get(&into) == Some(&part) {
                continue;
            }
            self.merged.insert(part, into);
            let Some(fact) = self.facts.get_mut(&part) else { continue };
            let (status, seen, first, last) = (fact.status, fact.seen_count, fact.first_seen, fact.last_seen);
            let evidence = fact.evidence.clone();
            if status == FactStatus::Active {
                fact.status = FactStatus::Superseded;
                fact.superseded_by = Some(into);
            }
            let Some(kept) = self.facts.get_mut(&into) else { continue };
            kept.seen_count = kept.seen_count.saturating_add(seen);
            kept.last_seen = kept.last_seen.max(last);
            kept.first_seen = [kept.first_seen, first].into_iter().flatten().min();
            evidence.into_iter().for_each(|at| add_evidence(&mut kept.evidence, at));
            self.quoting.extend(quotes(kept));
            let kept = kept.clone();
            self.note_ahead(&kept);
        }
    }
}

/// Adds evidence once, up to the limit; the first entries show the origin of a claim.
fn add_evidence(all: &mut Vec<Evidence>, at: Evidence) {
    if all.len() < limit::EVIDENCE_PER_ITEM_MAX && !all.contains(&at) {
        all.push(at);
    }
}
