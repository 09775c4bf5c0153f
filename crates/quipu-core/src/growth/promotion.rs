//! Fact promotion: facts that the user states on several days, with enough weight on each, become part of the profile.

use std::collections::BTreeMap;

use super::{GrowthContext, GrowthProposal, GrowthSubject, priority};
use crate::calendar::day_number;
use crate::event::{Change, Trust};
use crate::extract::USER;
use crate::item::{DerivedChange, Evidence, Fact, TimeSpan};
use crate::memory::Memory;

impl GrowthContext<'_> {
    /// Facts to promote.
    pub fn promotions(&self) -> Vec<GrowthProposal> {
        let items = self.memory().items();
        let eligible = |fact: &&Fact| {
            fact.is_active()
                && fact.subject == USER
                && fact.trust == Trust::User
                && matches!(fact.time_span, TimeSpan::Current | TimeSpan::MediumTerm)
                && !items.is_hidden(fact.id)
                && !items.is_promoted(fact.id)
                && self.memory().marks(fact.id).rating >= 0
        };
        let promoted = |fact: &Fact| {
            let days = self.days_of_weight(fact);
            (days >= self.knobs.promote_days_min).then(|| GrowthProposal {
                what: GrowthSubject::Promoted,
                items: vec![fact.id],
                text: fact.text.clone(),
                because: format!("you said so on {days} days"),
                changes: vec![Change::Drawn(DerivedChange::FactPromoted { fact: fact.id, days })],
            })
        };
        items.facts().filter(eligible).filter_map(promoted).collect()
    }

    /// Number of days on which the user said it with enough priority, given how often it had been said by then.
    fn days_of_weight(&self, fact: &Fact) -> u32 {
        let hits = self.memory().items().hits(fact.id).hits;
        let importance = priority::importance(self.memory(), fact.id);
        let mut said_before: u64 = 0;
        let mut days = 0;
        for times in days_said(self.memory(), &fact.evidence).into_values() {
            let uses = said_before.saturating_add(hits);
            days += u32::from(priority::of_parts(1.0, importance, uses) >= self.knobs.promote_priority_min);
            said_before += times;
        }
        days
    }
}

/// The days on which the user said it, with the count of each. Repetitions by others do not count.
pub(super) fn days_said(memory: &Memory, evidence: &[Evidence]) -> BTreeMap<i32, u64> {
    let mut days = BTreeMap::new();
    let own = evidence.iter().filter_map(|at| memory.get(at.source)).filter(|held| held.trust == Trust::User);
    for said_at in own.filter_map(|held| held.source.said_at) {
        *days.entry(day_number(said_at)).or_default() += 1;
    }
    days
}
