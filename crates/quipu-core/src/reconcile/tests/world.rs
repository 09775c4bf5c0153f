//! A memory to which statements are recorded.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::super::{DecisionContext, OutcomeKind, Policy, ReconcileInput, Understanding, decide};
use crate::core_document::Registry;
use crate::event::{Actor, Change, SourceKind};
use crate::extract::{Extraction, FactCandidate, Reading, Stance, TaskCandidate, USER};
use crate::id::{ItemId, ItemKind, UserId};
use crate::item::{Fact, FactStatus, ReviewDecision};
use crate::memory::Memory;
use crate::predicate::Predicates;
use crate::recorded::next_event;
use crate::source::{Role, Source};

pub(super) struct World {
    pub(super) memory: Memory,
    pub(super) predicates: Predicates,
    pub(super) registry: Registry,
    pub(super) policy: Policy,
    /// The time of decisions.
    pub(super) now: Timestamp,
    next: u64,
}

/// Parses `2024-03-01` as a time.
pub(super) fn day(text: &str) -> Timestamp {
    format!("{text}T00:00:00Z").parse().unwrap()
}

/// A claim about the user with default values.
pub(super) fn claim(predicate: &str, object: &str, stance: Stance) -> FactCandidate {
    FactCandidate {
        subject: USER.to_owned(),
        predicate: predicate.to_owned(),
        object: object.to_owned(),
        span: 0..0,
        stance,
        valid_from: None,
        valid_to: None,
        confidence: 0.9,
        qualifiers: BTreeMap::new(),
    }
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            memory: Memory::new(UserId::parse("me").unwrap(), Default::default()),
            predicates: Predicates::default_registry(),
            registry: Registry::default_registry(),
            policy: Policy::default(),
            now: day("2026-01-01"),
            next: 1,
        }
    }

    fn id(&mut self, kind: ItemKind) -> ItemId {
        self.next += 1;
        ItemId { kind, bits: self.next }
    }

    pub(super) fn record(&mut self, kind: SourceKind, changes: Vec<Change>) {
        let event = next_event(&self.memory, day("2026-01-01"), Actor::System, kind, changes);
        self.memory.apply(event);
    }

    /// Records a statement whose text grounds the claims.
    pub(super) fn hears(&mut self, when: &str, kind: SourceKind, found: Extraction) -> Understanding {
        let text: String = found.facts.iter().map(|fact| format!("{} ", fact.object)).collect();
        self.hears_text(when, kind, &format!("{text}."), found)
    }

    pub(super) fn hears_text(
        &mut self,
        when: &str,
        kind: SourceKind,
        text: &str,
        mut found: Extraction,
    ) -> Understanding {
        let id = self.id(ItemKind::Turn);
        let said_at = (!when.is_empty()).then(|| day(when));
        let source = Source {
            id,
            session: Some("s".into()),
            topic: None,
            role: Role::User,
            author: None,
            said_at,
            text: text.into(),
            artifacts: Vec::new(),
            native_id: None,
        };
        self.record(kind, vec![Change::SourceRecorded(source)]);
        found.facts.iter_mut().for_each(|fact| fact.span = 0..text.len());
        found.tasks.iter_mut().for_each(|task| task.span = 0..text.len());
        let (changes, report) = {
            let mut next = self.next;
            let case = ReconcileInput {
                memory: &self.memory,
                predicates: &self.predicates,
                registry: &self.registry,
                policy: &self.policy,
                source: id,
                reading: Reading::of_user(text, said_at),
                standing: OutcomeKind { kind, trust: kind.trust() },
                now: self.now,
                shown: &|_| false,
                nearest: &|_| None,
            };
            let decided = decide(&case, &found, &mut |kind| {
                next += 1;
                ItemId { kind, bits: next }
            });
            self.next = next;
            decided
        };
        if !changes.is_empty() {
            self.record(kind, changes);
        }
        report
    }

    pub(super) fn says(&mut self, when: &str, candidate: FactCandidate) -> Understanding {
        self.hears(when, SourceKind::UserSaid, Extraction { facts: vec![candidate], ..Extraction::default() })
    }

    pub(super) fn tells(&mut self, when: &str, task: TaskCandidate) -> Understanding {
        let text = task.title.clone();
        let found = Extraction { tasks: vec![task], ..Extraction::default() };
        self.hears_text(when, SourceKind::UserSaid, &text, found)
    }

    pub(super) fn desk<T>(
        &mut self,
        act: impl FnOnce(&DecisionContext<'_>, &mut dyn FnMut(ItemKind) -> ItemId) -> T,
    ) -> T {
        let mut next = self.next;
        let desk = DecisionContext {
            memory: &self.memory,
            predicates: &self.predicates,
            registry: &self.registry,
            now: self.now,
        };
        let done = act(&desk, &mut |kind| {
            next += 1;
            ItemId { kind, bits: next }
        });
        self.next = next;
        done
    }

    pub(super) fn decides(&mut self, review: ItemId, decision: ReviewDecision) {
        let changes = self.desk(|desk, name| desk.review(review, &decision, name)).unwrap();
        self.record(SourceKind::UserEdited, changes);
    }

    /// Objects of the user's facts with this predicate and status.
    pub(super) fn objects(&self, predicate: &str, status: FactStatus) -> Vec<String> {
        let wanted = |fact: &&Fact| fact.predicate == predicate && fact.status == status;
        let mut found: Vec<&Fact> = self.memory.items().facts().filter(wanted).collect();
        found.sort_by_key(|fact| fact.id.bits);
        found.into_iter().map(|fact| fact.object.clone()).collect()
    }

    pub(super) fn active(&self, predicate: &str) -> Vec<String> {
        self.objects(predicate, FactStatus::Active)
    }

    pub(super) fn held_at(&self, predicate: &str, when: &str) -> Vec<String> {
        let held = |fact: &&Fact| fact.predicate == predicate && fact.held_at(day(when));
        self.memory.items().facts().filter(held).map(|fact| fact.object.clone()).collect()
    }

    pub(super) fn core(&self, pointer: &str) -> Option<Value> {
        self.memory.core().pointer(pointer).cloned()
    }

    pub(super) fn waiting(&self) -> Vec<ItemId> {
        self.memory.items().waiting().map(|review| review.id).collect()
    }
}
