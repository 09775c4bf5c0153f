//! Recall, and the counting of hits.

use std::collections::BTreeMap;

use quipu_engine::{RecallOptions, flush_hits, keep_hits, recall};

use crate::model::{Event, Fact};
use crate::world::{World, id};

impl World<'_> {
    pub(crate) fn ask(&mut self, user: &'static str, text: u8) {
        let options = RecallOptions { k: 2, ..RecallOptions::of(&format!("text {}", text % 8)) };
        let head = self.ledger(user).head();
        let found = recall(&self.engine, &id(user), &options).unwrap();
        assert_eq!(found.version, head, "a question appends nothing");
        let shown = self.shown.entry(user).or_default();
        for hit in found.hits {
            *shown.entry(hit.id.to_string()).or_default() += 1;
        }
    }

    /// Stores the pending hits before a restart.
    pub(crate) fn keep_hits(&mut self) {
        for user in self.shown.keys() {
            keep_hits(&self.engine, &id(user)).unwrap();
        }
    }

    pub(crate) fn count_hits(&mut self, user: &'static str) {
        let state = self.ledger(user).now();
        let mut shown: BTreeMap<String, u64> = self.shown.remove(user).unwrap_or_default();
        shown.retain(|item, _| state.has(item));
        let receipt = flush_hits(&self.engine, &id(user)).unwrap();
        assert_eq!(receipt.is_some(), !shown.is_empty(), "{shown:?}");
        let again = flush_hits(&self.engine, &id(user)).unwrap();
        assert!(again.is_none(), "what was counted is counted once");
        if let Some(receipt) = receipt {
            let event = Event { fact: Some(Fact::HitsCounted(shown)), session: None, key: None, changes: 1 };
            self.append_event(user, &receipt, event);
        }
    }
}
