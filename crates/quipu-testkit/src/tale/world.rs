//! The state of a running script.

use quipu_core::event::Change;
use quipu_core::id::{Seq, UserId};
use quipu_engine::fork::Picked;
use quipu_engine::log::{EventStatus, LogOptions, log};
use quipu_engine::ports::LedgerStore;
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{Engine, Item, ListOptions, Receipt, list, show};

use crate::test_engine::TestEngine;

/// An engine, its store, and the results of the last steps.
pub(super) struct World {
    rig: TestEngine,
    store: Box<dyn Fn() -> Box<dyn LedgerStore>>,
    pub(super) engine: Engine,
    pub(super) receipt: Option<Receipt>,
    pub(super) picked: Option<Picked>,
}

impl World {
    pub(super) fn new(store: Box<dyn Fn() -> Box<dyn LedgerStore>>) -> Self {
        let rig = TestEngine::new(1);
        let engine = rig.engine(store());
        Self { rig, store, engine, receipt: None, picked: None }
    }

    pub(super) fn reopen(&mut self) {
        self.engine = self.rig.engine((self.store)());
    }

    pub(super) fn items(&self, user: &UserId, at: When) -> Vec<Item> {
        let options = ListOptions { at, session: None, kind: None, offset: 0, limit: usize::MAX };
        list(&self.engine, user, &options).expect("the items can be listed").items
    }

    /// The id of the item that an event recorded, whether or not the event is in effect.
    pub(super) fn item_of(&self, user: &UserId, seq: Seq) -> String {
        let event = show(&self.engine, user, EventRef::Seq(seq)).expect("the event is there");
        let recorded = event.changes.iter().flatten().find_map(|change| match change {
            Change::SourceRecorded(source) => Some(source.id.to_string()),
            _ => None,
        });
        recorded.expect("the event recorded an item")
    }

    /// The events with this status, in order.
    pub(super) fn standing(&self, user: &UserId, standing: EventStatus) -> Vec<Seq> {
        let entries = self.entries(user);
        entries.iter().filter(|entry| entry.standing == standing).map(|entry| entry.seq).collect()
    }

    /// The events with an erased payload, in order.
    pub(super) fn erased(&self, user: &UserId) -> Vec<Seq> {
        self.entries(user).iter().filter(|entry| entry.erased > 0).map(|entry| entry.seq).collect()
    }

    fn entries(&self, user: &UserId) -> Vec<quipu_engine::log::LogEntry> {
        let options = LogOptions { before: None, limit: usize::MAX, reference: None };
        let mut entries = log(&self.engine, user, &options).expect("the log can be read");
        entries.reverse();
        entries
    }
}
