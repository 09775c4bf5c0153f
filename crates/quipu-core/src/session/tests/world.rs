//! A memory with one session.

use std::collections::BTreeSet;

use super::super::{
    Exchange, MergeProposed, SessionDecisionInput, SessionOptions, Summarized, SummaryProposal, consolidate, exchanges,
    summarize,
};
use crate::Memory;
use crate::event::{Actor, Change, Event, SourceKind};
use crate::id::{ItemId, ItemKind, Seq, UserId};
use crate::item::{DerivedChange, TruthKind};
use crate::recorded::next_event;
use crate::source::{Role, Source};

pub(super) const SESSION: &str = "s";

pub(super) struct World {
    pub(super) memory: Memory,
    pub(super) events: Vec<Event>,
    next: u64,
}

impl World {
    pub(super) fn new() -> Self {
        let memory = Memory::new(UserId::parse("me").unwrap(), BTreeSet::new());
        Self { memory, events: Vec::new(), next: 0 }
    }

    pub(super) fn record(&mut self, kind: SourceKind, changes: Vec<Change>) -> Seq {
        let event = next_event(&self.memory, "2026-01-01T00:00:00Z".parse().unwrap(), Actor::System, kind, changes);
        let seq = event.header.seq;
        self.events.push(event.clone());
        self.memory.apply(event);
        self.check_snapshot();
        seq
    }

    /// A snapshot followed by later events equals the live memory.
    fn check_snapshot(&self) {
        let bytes = self.memory.encode().unwrap();
        let read = Memory::decode(&bytes).unwrap();
        assert_eq!(read, self.memory);
        assert_eq!(read.encode().unwrap(), bytes);
    }

    /// The memory without some events.
    pub(super) fn without(&self, skipped: &[Seq]) -> Memory {
        let mut memory = Memory::new(self.memory.user().clone(), skipped.iter().copied().collect());
        self.events.iter().for_each(|event| memory.apply(event.clone()));
        memory
    }

    fn id(&mut self, kind: ItemKind) -> ItemId {
        self.next += 1;
        ItemId { kind, bits: self.next }
    }

    pub(super) fn says(&mut self, role: Role, text: &str) -> ItemId {
        let id = self.id(ItemKind::Turn);
        let source = Source {
            id,
            session: Some(SESSION.into()),
            topic: None,
            role,
            author: None,
            said_at: None,
            text: text.into(),
            artifacts: Vec::new(),
            native_id: None,
        };
        let kind = match role {
            Role::User => SourceKind::UserSaid,
            Role::Assistant => SourceKind::AssistantSaid,
            Role::System => SourceKind::Inferred,
            Role::Tool => SourceKind::ToolOutput,
        };
        self.record(kind, vec![Change::SourceRecorded(source)]);
        id
    }

    /// Summarises the first exchange without a summary.
    pub(super) fn tell(&mut self, proposal: Option<&SummaryProposal>) -> (Seq, Summarized) {
        let mut next = self.next;
        let (changes, told) = {
            let all = exchanges(&self.memory, SESSION);
            let exchange: &Exchange<'_> = all.iter().find(|one| one.summary.is_none() && one.is_closed).unwrap();
            let options = SessionOptions::default();
            let case = SessionDecisionInput { memory: &self.memory, session: SESSION, exchange, options: &options };
            summarize(&case, proposal, &mut |kind| {
                next += 1;
                ItemId { kind, bits: next }
            })
        };
        self.next = next;
        (self.record(SourceKind::Inferred, changes), told)
    }

    /// An exchange with enough words for a full summary, summarised as proposed.
    pub(super) fn exchange(&mut self, user: &str, reply: &str, diff: serde_json::Value) -> (Seq, Summarized) {
        self.says(Role::User, &format!("{user}\n{FILLER}"));
        self.says(Role::Assistant, reply);
        let proposal = serde_json::json!({"base_truth_diff": diff});
        self.tell(Some(&serde_json::from_value(proposal).unwrap()))
    }

    pub(super) fn by_hand(&mut self, kind: TruthKind, text: &str) -> (Seq, ItemId) {
        let id = self.id(ItemKind::Truth);
        let change = super::super::by_hand(&self.memory, SESSION, kind, text, id).unwrap();
        (self.record(SourceKind::UserEdited, vec![change]), id)
    }

    pub(super) fn consolidated(&mut self, merges: &[MergeProposed]) -> (Seq, Vec<String>) {
        let mut next = self.next;
        let (changes, refused) = consolidate(&self.memory, SESSION, 1, merges, &mut |kind| {
            next += 1;
            ItemId { kind, bits: next }
        });
        self.next = next;
        (self.record(SourceKind::Inferred, changes), refused.into_iter().map(|(_, reason)| reason).collect())
    }

    pub(super) fn end(&mut self) -> Seq {
        let change = Change::Drawn(DerivedChange::SessionEnded { session: SESSION.to_owned() });
        self.record(SourceKind::UserEdited, vec![change])
    }
}

/// Forty words without content.
pub(super) const FILLER: &str = "Well now here we are and there it is so that is that and this is this and then some of it \
and more of it and again and once more until it is all there as it was before and after.";

pub(super) fn truths(memory: &Memory) -> Vec<(TruthKind, String)> {
    memory.items().sessions().base_truth(SESSION).map(|truth| (truth.kind, truth.text.clone())).collect()
}

pub(super) fn texts(memory: &Memory) -> Vec<String> {
    truths(memory).into_iter().map(|(_, text)| text).collect()
}
