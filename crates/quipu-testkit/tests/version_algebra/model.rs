//! The model: a list of facts for each user, folded again from the first one whenever someone looks.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{Edited, Tree};

pub(crate) type Seq = u64;

/// What an event says. `None` in its place means erased.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fact {
    Said {
        id: String,
        text: String,
    },
    Edited(Edited),
    Marked {
        id: String,
        pinned: Option<bool>,
        rating: Option<i8>,
    },
    Reverted(Vec<Seq>),
    /// An erasure or a fork: nothing undoes it, and it changes nothing itself.
    Permanent,
}

#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) fact: Option<Fact>,
    pub(crate) session: Option<String>,
    pub(crate) key: Option<(String, String)>,
}

/// A memory as it stands after some event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    /// Id, text, session, event.
    pub(crate) items: Vec<(String, String, Option<String>, Seq)>,
    pub(crate) marks: BTreeMap<String, (bool, i8)>,
    pub(crate) core: Tree,
    pub(crate) core_seq: Seq,
    pub(crate) orphans: Vec<Seq>,
    pub(crate) skipped: BTreeSet<Seq>,
}

/// One user's ledger.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(pub(crate) Vec<Event>);

impl Ledger {
    pub(crate) fn head(&self) -> Seq {
        self.0.len() as Seq
    }

    pub(crate) fn event(&self, seq: Seq) -> Option<&Event> {
        self.0.get(usize::try_from(seq).ok()?.checked_sub(1)?)
    }

    pub(crate) fn is_permanent(&self, seq: Seq) -> bool {
        self.event(seq).is_some_and(|event| event.fact == Some(Fact::Permanent))
    }

    /// An event counts unless a later one that counts reverts it.
    pub(crate) fn counts(&self, seq: Seq, version: Seq) -> bool {
        !(seq + 1..=version).any(|later| {
            matches!(self.event(later).map(|event| &event.fact), Some(Some(Fact::Reverted(events))) if events.contains(&seq))
                && self.counts(later, version)
        })
    }

    /// The memory at a version.
    pub(crate) fn at(&self, version: Seq) -> State {
        let mut state = State {
            items: Vec::new(),
            marks: BTreeMap::new(),
            core: Tree::empty(),
            core_seq: 0,
            orphans: Vec::new(),
            skipped: BTreeSet::new(),
        };
        for seq in 1..=version {
            let Some(event) = self.event(seq) else { break };
            if !self.counts(seq, version) {
                state.skipped.insert(seq);
            } else if let Some(fact) = &event.fact
                && !state.take(fact, event.session.as_ref(), seq)
            {
                state.orphans.push(seq);
            }
        }
        state
    }

    pub(crate) fn now(&self) -> State {
        self.at(self.head())
    }

    /// Where a key was used and for what; nobody knows for what once the event was erased.
    pub(crate) fn key(&self, key: &str) -> Option<(Seq, Option<&str>)> {
        let used = |event: &Event| event.key.as_ref().is_some_and(|(used, _)| used == key);
        let at = self.0.iter().position(used)?;
        let event = &self.0[at];
        let request = event.key.as_ref().map(|(_, request)| request.as_str()).filter(|_| event.fact.is_some());
        Some((at as Seq + 1, request))
    }
}

impl State {
    pub(crate) fn has(&self, item: &str) -> bool {
        self.items.iter().any(|(id, ..)| id == item)
    }

    /// Takes a fact in; false, and nothing is changed, if it does not apply.
    pub(crate) fn take(&mut self, fact: &Fact, session: Option<&String>, seq: Seq) -> bool {
        match fact {
            Fact::Said { id, text } => {
                let fresh = !self.has(id);
                if fresh {
                    self.items.push((id.clone(), text.clone(), session.cloned(), seq));
                }
                fresh
            }
            Fact::Edited(edited) => match self.core.again(edited) {
                Some(core) => {
                    (self.core, self.core_seq) = (core, seq);
                    true
                }
                None => false,
            },
            Fact::Marked { id, pinned, rating } => {
                let there = self.has(id);
                if there {
                    let marks = self.marks.entry(id.clone()).or_default();
                    *marks = (pinned.unwrap_or(marks.0), rating.unwrap_or(marks.1));
                }
                there
            }
            Fact::Reverted(_) | Fact::Permanent => true,
        }
    }
}
