//! A memory with recorded sources and items that can be replayed without some of its events.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::super::{GrowthContext, GrowthOptions, GrowthProposal, GrowthSubject, TakenBack};
use crate::core_document::Registry;
use crate::event::{Actor, Change, Event, ItemMark, SourceKind};
use crate::extract::TaskKind;
use crate::id::{ItemId, ItemKind, Seq, UserId};
use crate::item::episode::{Affect, Sentiment};
use crate::item::{
    Attempt, DerivedChange, Episode, Evidence, Fact, FactStatus, FactType, ItemHits, Note, NoteOrigin, Task,
    TaskStatus, TimeSpan,
};
use crate::memory::Memory;
use crate::predicate::Predicates;
use crate::reconcile;
use crate::recorded::next_event;
use crate::source::{Role, Source};

pub(super) struct World {
    pub(super) memory: Memory,
    events: Vec<Event>,
    predicates: Predicates,
    registry: Registry,
    pub(super) knobs: GrowthOptions,
    pub(super) taken_back: TakenBack,
    next: u64,
}

/// Days after the start of 2025, at noon.
pub(super) fn day(number: i64) -> Timestamp {
    let start: Timestamp = "2025-01-01T12:00:00Z".parse().unwrap();
    start + jiff::SignedDuration::from_hours(24 * number)
}

/// A fact of the user.
pub(super) fn claim(predicate: &str, object: &str) -> Fact {
    let predicates = Predicates::default_registry();
    let known = predicates.get(predicate);
    let single = known.cardinality == crate::predicate::Cardinality::One;
    Fact {
        id: ItemId { kind: ItemKind::Fact, bits: 0 },
        subject: "user".to_owned(),
        predicate: predicate.to_owned(),
        object: object.to_owned(),
        text: predicates.say("user", predicate, object, &BTreeMap::new()),
        fact_type: known.fact_type,
        time_span: if known.fact_type == FactType::Event { TimeSpan::ShortTerm } else { TimeSpan::Current },
        slot: format!("user|{predicate}"),
        single,
        valid_from: None,
        valid_to: None,
        first_seen: None,
        last_seen: None,
        seen_count: 1,
        evidence: Vec::new(),
        source: SourceKind::UserSaid,
        trust: SourceKind::UserSaid.trust(),
        confidence_base: 0.9,
        user_fact_score: None,
        intrinsic_importance: known.importance,
        domain: "other".to_owned(),
        topic: None,
        tags: Vec::new(),
        qualifiers: BTreeMap::new(),
        links: Vec::new(),
        core_path: None,
        status: FactStatus::Active,
        superseded_by: None,
    }
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            memory: Memory::new(UserId::parse("me").unwrap(), BTreeSet::new()),
            events: Vec::new(),
            predicates: Predicates::default_registry(),
            registry: Registry::default_registry(),
            knobs: GrowthOptions::default(),
            taken_back: TakenBack::default(),
            next: 1,
        }
    }

    pub(super) fn id(&mut self, kind: ItemKind) -> ItemId {
        self.next += 1;
        ItemId { kind, bits: self.next }
    }

    pub(super) fn record(&mut self, kind: SourceKind, changes: Vec<Change>) -> Seq {
        let event = next_event(&self.memory, day(0), Actor::System, kind, changes);
        let seq = event.header.seq;
        self.events.push(event.clone());
        self.memory.apply(event);
        seq
    }

    pub(super) fn draw(&mut self, change: DerivedChange) -> Seq {
        self.record(SourceKind::UserSaid, vec![Change::Drawn(change)])
    }

    /// Records a source on a day; returns evidence that spans it.
    pub(super) fn hears(&mut self, on: i64, kind: SourceKind, text: &str) -> Evidence {
        let id = self.id(ItemKind::Turn);
        let source = Source {
            id,
            session: Some(format!("day {on}").into()),
            topic: None,
            role: Role::User,
            author: None,
            said_at: Some(day(on)),
            text: text.into(),
            artifacts: Vec::new(),
            native_id: None,
        };
        self.record(kind, vec![Change::SourceRecorded(source)]);
        Evidence { source: id, start: 0, end: text.len() as u32 }
    }

    /// The user states a fact on some days.
    pub(super) fn claims(&mut self, on: &[i64], fact: Fact) -> ItemId {
        self.claimed_by(on, SourceKind::UserSaid, fact)
    }

    pub(super) fn claimed_by(&mut self, on: &[i64], kind: SourceKind, fact: Fact) -> ItemId {
        let id = self.id(ItemKind::Fact);
        let object = fact.object.clone();
        let first = self.hears(on[0], kind, &object);
        let seen = Some(day(on[0]));
        let fact = Fact { id, evidence: vec![first], first_seen: seen, last_seen: seen, source: kind, ..fact };
        let asserted = DerivedChange::FactAsserted { fact: Box::new(fact), ends: Vec::new(), corrects: false };
        self.record(kind, vec![Change::Drawn(asserted)]);
        for again in &on[1..] {
            let evidence = self.hears(*again, kind, &object);
            self.draw(DerivedChange::FactSeen { fact: id, evidence, at: Some(day(*again)) });
        }
        id
    }

    /// A problem with dated attempts.
    pub(super) fn problem(&mut self, title: &str, tried: &[(i64, &str, Option<bool>)]) -> ItemId {
        let id = self.id(ItemKind::Task);
        let first = self.hears(tried.first().map_or(0, |one| one.0), SourceKind::UserSaid, title);
        let attempts = tried
            .iter()
            .map(|(on, approach, successful)| Attempt {
                date: Some(day(*on)),
                approach: (*approach).to_owned(),
                outcome: String::new(),
                successful: *successful,
                evidence: vec![self.hears(*on, SourceKind::UserSaid, approach)],
            })
            .collect();
        let task = Task {
            id,
            kind: TaskKind::Problem,
            title: title.to_owned(),
            description: String::new(),
            status: TaskStatus::Active,
            priority: 5,
            due: None,
            attempts,
            created_at: Some(first).map(|_| day(0)),
            updated_at: Some(day(0)),
            evidence: vec![first],
            trust: SourceKind::UserSaid.trust(),
            tags: Vec::new(),
            links: Vec::new(),
        };
        self.draw(DerivedChange::TaskOpened(Box::new(task)));
        id
    }

    pub(super) fn note(&mut self, on: i64, text: &str, origin: NoteOrigin) -> ItemId {
        let (id, at) = (self.id(ItemKind::Note), self.hears(on, SourceKind::UserSaid, text));
        let note = Note {
            id,
            text: text.to_owned(),
            origin,
            confidence_base: 0.7,
            votes: 0,
            evidence: vec![at],
            trust: SourceKind::UserSaid.trust(),
            tags: Vec::new(),
        };
        self.draw(DerivedChange::NoteRecorded(Box::new(note)));
        id
    }

    /// An episode of these sources.
    pub(super) fn episode(&mut self, on: i64, sources: Vec<ItemId>, topics: &[&str], sentiment: Sentiment) -> ItemId {
        self.tells(on, sources, topics, (sentiment, 3))
    }

    /// An episode with this importance.
    pub(super) fn episode_of(&mut self, on: i64, sources: Vec<ItemId>, importance: u8) -> ItemId {
        self.tells(on, sources, &["words"], (Sentiment::Neutral, importance))
    }

    fn tells(
        &mut self,
        on: i64,
        sources: Vec<ItemId>,
        topics: &[&str],
        (sentiment, importance): (Sentiment, u8),
    ) -> ItemId {
        let id = self.id(ItemKind::Episode);
        let episode = Episode {
            id,
            session_id: Some(format!("day {on}")),
            turn_range: (0, sources.len() as u32 - 1),
            sources,
            title: topics.join(" "),
            summary: topics.join(" "),
            raw_excerpt: String::new(),
            start: Some(day(on)),
            end: Some(day(on)),
            participants: Vec::new(),
            topics: topics.iter().map(|&topic| topic.to_owned()).collect(),
            sentiment,
            affect: Affect::default(),
            importance,
            related_paths: Vec::new(),
            facts: Vec::new(),
            domain: None,
            tags: Vec::new(),
        };
        self.draw(DerivedChange::EpisodeRecorded(Box::new(episode)));
        id
    }

    pub(super) fn shown(&mut self, item: ItemId, count: u64, on: i64) {
        self.draw(DerivedChange::HitsCounted { hits: vec![ItemHits { item, count, last_at: day(on) }] });
    }

    pub(super) fn marked(&mut self, item: ItemId, pinned: Option<bool>, rating: Option<i8>) {
        self.record(SourceKind::UserEdited, vec![Change::ItemMarked(ItemMark { item, pinned, rating })]);
    }

    pub(super) fn desk<T>(&mut self, now: i64, act: impl FnOnce(&GrowthContext<'_>, super::super::Name<'_>) -> T) -> T {
        let mut next = self.next;
        let base = reconcile::DecisionContext {
            memory: &self.memory,
            predicates: &self.predicates,
            registry: &self.registry,
            now: day(now),
        };
        let done = act(&GrowthContext { base, knobs: &self.knobs, taken_back: &self.taken_back }, &mut |kind| {
            next += 1;
            ItemId { kind, bits: next }
        });
        self.next = next;
        done
    }

    /// Appends the proposals; returns the events.
    pub(super) fn take(&mut self, proposals: Vec<GrowthProposal>) -> Vec<Seq> {
        proposals.into_iter().map(|one| self.record(SourceKind::Inferred, one.changes)).collect()
    }

    /// The proposals by kind and text.
    pub(super) fn told(proposals: &[GrowthProposal]) -> Vec<(GrowthSubject, String)> {
        proposals.iter().map(|one| (one.what, one.text.clone())).collect()
    }

    /// The items and the core document as bytes, without some events.
    pub(super) fn bytes_without(&self, skipped: &[Seq]) -> String {
        let mut memory = Memory::new(self.memory.user().clone(), skipped.iter().copied().collect());
        self.events.iter().cloned().for_each(|event| memory.apply(event));
        bytes(&memory)
    }
}

/// The items and the core document as bytes.
pub(super) fn bytes(memory: &Memory) -> String {
    assert!(memory.orphans().is_empty(), "{:?}", memory.orphans());
    format!("{}\n{}", serde_json::to_string(memory.items()).unwrap(), memory.core())
}
