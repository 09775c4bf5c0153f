//! Past values: inserts them into the history of a slot without changing the current value.

use jiff::{SignedDuration, Timestamp};

use super::claim::{Claim, outcome, waits};
use super::gate::Verdict;
use super::same::same_value;
use super::{DecisionDraft, ground};
use crate::extract::{FactCandidate, Stance};
use crate::item::{DerivedChange, Fact, FactChange, FactStatus, ReviewKind};

/// Greatest age of a change that still counts as news.
const FRESH_NEWS: SignedDuration = SignedDuration::from_hours(31 * 24);

impl DecisionDraft<'_> {
    /// Inserts a value among those of its time. `current` is the active fact in its place.
    pub(super) fn put_into_history(&mut self, claim: &Claim<'_>, mut fact: Fact, current: Option<&Fact>) {
        let own = fact.began();
        if let Some(same) = claim.known_then(own) {
            self.draw(DerivedChange::FactSeen {
                fact: same.id,
                evidence: claim.evidence,
                at: Some(self.case.told_at()),
            });
            return self.report.seen.push(outcome(&same, "known to have held"));
        }
        let known = claim.held.iter().filter(|held| matches!(held.status, FactStatus::Active | FactStatus::Superseded));
        let mut next: Option<Timestamp> = None;
        let mut before: Option<Fact> = None;
        let mut by: Option<&Fact> = None;
        for held in known {
            let (start, end) = (held.began(), held.valid_to);
            if start > own {
                next = [next, start].into_iter().flatten().min();
                by = by.filter(|by| by.began() <= start).or(Some(held));
            } else if start <= own && end > own && !held.is_active() {
                // The value before it had ended by then, so this one has too.
                next = [next, end].into_iter().flatten().min();
                before = Some(held.clone());
            }
        }
        fact.status = FactStatus::Superseded;
        let said_at = Some(self.case.said_at());
        // A past value had ended when it was said; a current one held until the next value.
        let over = match claim.candidate.stance {
            Stance::Held | Stance::Ended => [next, said_at].into_iter().flatten().min(),
            _ => next.or(said_at),
        };
        // Without the next value it would be active.
        let is_over = matches!(claim.candidate.stance, Stance::Held | Stance::Ended) || fact.valid_to.is_some();
        fact.superseded_by = by.or(current).filter(|_| !is_over).map(|by| by.id);
        fact.valid_to = fact.valid_to.or(over).max(own);
        if let Some(before) = before {
            let valid_to = own;
            self.draw(DerivedChange::FactChanged(FactChange { valid_to, ..FactChange::of(before.id) }));
        }
        self.assert(fact, Vec::new(), false, "held before");
    }

    /// Handles a claim about something that held once.
    pub(super) fn past(&mut self, claim: &Claim<'_>, verdict: &Verdict) {
        let candidate = claim.candidate;
        if let Some(same) = claim.same().filter(Fact::is_active) {
            return self.close(claim, &same, candidate.valid_to, verdict);
        }
        if claim
            .held
            .iter()
            .any(|held| held.status == FactStatus::Superseded && same_value(&held.object, &candidate.object))
        {
            return;
        }
        let again = |held: &&Fact| waits(held) && held.tells_of_past() && same_value(&held.object, &candidate.object);
        if let Some(same) = claim.held.iter().find(again).filter(|_| *verdict != Verdict::Pass) {
            let change = FactChange { evidence: Some(claim.evidence), ..FactChange::of(same.id) };
            self.draw(DerivedChange::FactChanged(change));
            return self.report.seen.push(outcome(same, "told again, and waits"));
        }
        let end = candidate.valid_to.or(candidate.valid_from).filter(|end| *end > self.case.said_at());
        if candidate.stance == Stance::Ended && end.is_some() && claim.is_single() && claim.current().is_none() {
            // "My last day at Boots is 18 December": until then it holds.
            let present = FactCandidate { stance: Stance::Holds, valid_from: None, valid_to: end, ..candidate.clone() };
            return self.claim(&claim.with(&present), verdict);
        }
        let mut fact = self.new_fact(claim);
        let ended = fact.valid_from.is_some_and(|from| from <= self.case.said_at());
        if candidate.stance == Stance::Ended && fact.valid_to.is_none() && ended {
            // The date is that of an end: "moved over from Katowice in 2005".
            fact.valid_to = fact.valid_from.take();
        }
        if claim.told.is_none()
            && let Some(doubt) = ground::doubt(candidate, self.case.quote(&candidate.span))
        {
            fact.status = FactStatus::Uncertain;
            return self.assert(fact, Vec::new(), false, &format!("kept aside: {doubt}"));
        }
        if let Verdict::Wait(reason) = verdict {
            fact.status = FactStatus::Uncertain;
            // An approval includes that it has ended.
            fact.valid_to = fact.valid_to.or(Some(self.case.said_at())).max(fact.began());
            return self.wait(fact, ReviewKind::Fact, None, reason);
        }
        self.put_into_history(claim, fact, None);
    }

    /// True if the claim is older than the current value.
    pub(super) fn is_older_news(&self, claim: &Claim<'_>, current: &Fact) -> bool {
        let candidate = claim.candidate;
        if self.case.moment().is_some_and(|said| current.last_seen.is_some_and(|last| said < last)) {
            return true;
        }
        let Some(moved) = matches!(candidate.stance, Stance::Changed).then_some(candidate.valid_from).flatten() else {
            return false;
        };
        // The start of the current value is unknown: a recent change counts as news, whatever was said in between.
        let fresh = self.case.said_at().duration_since(moved) <= FRESH_NEWS;
        let start = if current.valid_from.is_none() && fresh { None } else { current.began() };
        start.is_some_and(|start| moved < start)
    }

    /// True if nothing is active and the claim is older than a value that has ended.
    pub(super) fn is_over(&self, claim: &Claim<'_>) -> bool {
        let superseded = claim.held.iter().filter(|held| held.status == FactStatus::Superseded);
        let Some(ended) = superseded.filter_map(|held| held.valid_to).max() else { return false };
        if self.case.reading.said_at.is_some_and(|said| said < ended) {
            return true;
        }
        let moved = claim.candidate.valid_from.filter(|_| claim.candidate.stance == Stance::Changed);
        moved.is_some_and(|moved| moved < ended && self.case.said_at().duration_since(moved) > FRESH_NEWS)
    }
}

impl Claim<'_> {
    /// The superseded fact with the same value at that time.
    fn known_then(&self, time: Option<Timestamp>) -> Option<Fact> {
        let time = time?;
        let same = |held: &&Fact| {
            held.status == FactStatus::Superseded
                && same_value(&held.object, &self.candidate.object)
                && (held.held_at(time) || held.began() == Some(time))
        };
        self.held.iter().find(same).cloned()
    }
}
