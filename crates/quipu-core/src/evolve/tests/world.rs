//! A memory whose core document is edited day by day.

use jiff::{Timestamp, ToSpan};
use serde_json::Value;

use crate::core_document::{self, Categories, Registry};
use crate::event::{Actor, Change, Event, SourceKind};
use crate::evolve::{self, PromotionPlan, PromotionRequest, PromotionThresholds, Survey};
use crate::growth::TakenBack;
use crate::id::UserId;
use crate::memory::Memory;
use crate::recorded::next_event;

pub(super) struct World {
    pub(super) memory: Memory,
    pub(super) registry: Registry,
    pub(super) events: Vec<Event>,
}

/// The given number of days after the first.
pub(super) fn day(number: i64) -> Timestamp {
    "2026-03-01T09:00:00Z".parse::<Timestamp>().unwrap() + (24 * number).hours()
}

impl World {
    pub(super) fn new() -> Self {
        let user = UserId::parse("me").unwrap();
        Self {
            memory: Memory::new(user, Default::default()),
            registry: Registry::default_registry(),
            events: Vec::new(),
        }
    }

    /// The three notes on sleep of the seed, one a day.
    pub(super) fn of_sleep() -> Self {
        let mut world = Self::new();
        world.set(0, "/uncategorized/sleep_note_1", "Having trouble staying asleep");
        world.set(1, "/uncategorized/sleep_note_2", "Higher BG after poor sleep");
        world.set(2, "/uncategorized/sleep_note_3", "Started using sleep mask");
        world
    }

    pub(super) fn record(&mut self, at: i64, changes: Vec<Change>) {
        let event = next_event(&self.memory, day(at), Actor::User, SourceKind::UserEdited, changes);
        self.events.push(event.clone());
        self.memory.apply(event);
    }

    pub(super) fn set(&mut self, at: i64, pointer: &str, value: impl Into<Value>) {
        let patch = core_document::set(self.memory.core(), pointer, value.into()).unwrap();
        let categories = Categories::of(&self.registry, self.memory.schema());
        let (guarded, _) = core_document::check(categories, self.memory.core(), &patch).unwrap();
        self.record(at, vec![Change::CorePatched(guarded)]);
    }

    pub(super) fn plan(&self, candidate: &str, name: Option<&str>) -> Result<PromotionPlan, crate::Refusal> {
        let categories = Categories::of(&self.registry, self.memory.schema());
        evolve::plan(&self.memory, categories, candidate, PromotionRequest::named(name))
    }

    pub(super) fn promote(&mut self, at: i64, candidate: &str, name: Option<&str>) -> PromotionPlan {
        let plan = self.plan(candidate, name).unwrap();
        self.record(at, plan.clone().changes());
        plan
    }

    pub(super) fn survey(&self, at: i64) -> Vec<Survey> {
        let categories = Categories::of(&self.registry, self.memory.schema());
        evolve::survey(&self.memory, categories, &PromotionThresholds::default(), &TakenBack::default(), day(at))
    }

    /// The due patterns, as pattern and name.
    pub(super) fn due(&self, at: i64) -> Vec<(String, String)> {
        let due = self.survey(at).into_iter().filter(Survey::is_due);
        due.map(|one| (one.candidate.key, one.proposed.unwrap().name)).collect()
    }

    /// The memory replayed without these events and with these changes erased.
    pub(super) fn without(&self, skipped: &[u64], erased: &[(u64, usize)]) -> Memory {
        let mut memory = Memory::new(self.memory.user().clone(), skipped.iter().copied().collect());
        for event in &self.events {
            let mut event = event.clone();
            for (seq, index) in erased {
                if event.header.seq == *seq {
                    event.changes[*index] = None;
                }
            }
            memory.apply(event);
        }
        memory
    }
}
