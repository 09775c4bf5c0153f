//! The model: a list of facts for each user, which is folded from the beginning on every read.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{Edited, Promotion, Tree};

pub(crate) type Seq = u64;

/// The content of an event. `None` in its place means erased.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fact {
    Said {
        id: String,
        text: String,
    },
    Edited(Edited),
    Promoted(Promotion),
    Marked {
        id: String,
        pinned: Option<bool>,
        rating: Option<i8>,
    },
    /// An entry of the base truth, set by hand.
    TruthSet {
        id: String,
        truth: Truth,
        replaces: Option<String>,
    },
    TruthUnset {
        id: String,
    },
    SessionEnded(String),
    /// Items with the numbers of times they were shown.
    HitsCounted(BTreeMap<String, u64>),
    Reverted(Vec<Seq>),
    /// An erasure or a fork: irreversible, and without an effect on the state.
    Permanent,
}

#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) fact: Option<Fact>,
    pub(crate) session: Option<String>,
    pub(crate) key: Option<(String, String)>,
    /// Number of changes.
    pub(crate) changes: usize,
}

impl Fact {
    /// Number of changes that express it.
    pub(crate) fn changes(&self) -> usize {
        match self {
            Self::Promoted(promotion) => promotion.changes(),
            _ => 1,
        }
    }
}

/// An entry of the base truth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Truth {
    pub(crate) session: String,
    pub(crate) text: String,
    pub(crate) hard: bool,
}

/// A memory after some event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    /// Id, text, session, event.
    pub(crate) items: Vec<(String, String, Option<String>, Seq)>,
    pub(crate) marks: BTreeMap<String, (bool, i8)>,
    /// Entries ever made, and the active ones in order.
    pub(crate) made: BTreeMap<String, Truth>,
    pub(crate) in_force: Vec<String>,
    /// Sessions with recorded events, and the last end of each.
    pub(crate) ended: BTreeMap<String, Seq>,
    /// Hits of each item.
    pub(crate) hits: BTreeMap<String, u64>,
    pub(crate) core: Tree,
    pub(crate) core_seq: Seq,
    /// Categories that were promoted.
    pub(crate) grown: BTreeSet<String>,
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

    /// An event is in effect unless a later event in effect reverts it.
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
            made: BTreeMap::new(),
            in_force: Vec::new(),
            ended: BTreeMap::new(),
            hits: BTreeMap::new(),
            core: Tree::empty(),
            core_seq: 0,
            grown: BTreeSet::new(),
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

    /// Erases events, later changes of entries that they created, and promotions of members that only they named.
    pub(crate) fn erase(&mut self, seqs: &[Seq]) {
        let named = |gone: bool| -> BTreeSet<&'static str> {
            let events = (1..).zip(&self.0).filter(|(seq, _)| seqs.contains(seq) == gone);
            let edits = events.filter_map(|(_, event)| match &event.fact {
                Some(Fact::Edited(edited)) => Some(edited.members()),
                _ => None,
            });
            edits.flatten().collect()
        };
        let unnamed: BTreeSet<&str> = named(true).difference(&named(false)).copied().collect();
        for event in &mut self.0 {
            if matches!(&event.fact, Some(Fact::Promoted(promotion)) if unnamed.contains(promotion.from)) {
                event.fact = None;
            }
        }
        let mut gone = BTreeSet::new();
        for (place, event) in self.0.iter_mut().enumerate() {
            let direct = seqs.contains(&(place as Seq + 1));
            let follows =
                matches!(&event.fact, Some(Fact::TruthSet { id, .. } | Fact::TruthUnset { id }) if gone.contains(id));
            if !direct && !follows {
                continue;
            }
            if let Some(Fact::TruthSet { id, .. }) = event.fact.take() {
                gone.insert(id);
            }
        }
    }

    pub(crate) fn now(&self) -> State {
        self.at(self.head())
    }

    /// Event and request of a key. The request is unknown if the event was erased.
    pub(crate) fn key(&self, key: &str) -> Option<(Seq, Option<&str>)> {
        let used = |event: &Event| event.key.as_ref().is_some_and(|(used, _)| used == key);
        let at = self.0.iter().position(used)?;
        let event = &self.0[at];
        let request = event.key.as_ref().map(|(_, request)| request.as_str()).filter(|_| event.fact.is_some());
        Some((at as Seq + 1, request))
    }
}

impl State {
    /// Whether every category in use exists.
    pub(crate) fn is_valid(&self) -> bool {
        let core = self.core.json();
        let mut names = core.as_object().into_iter().flat_map(|members| members.keys());
        names.all(|name| ["location", "uncategorized"].contains(&name.as_str()) || self.grown.contains(name))
    }

    /// The base truth of a session, hard exceptions first.
    pub(crate) fn base_truth(&self, session: &str) -> Vec<(&str, &Truth)> {
        let held = self.in_force.iter().filter_map(|id| Some((id.as_str(), self.made.get(id)?)));
        let mut all: Vec<_> = held.filter(|(_, truth)| truth.session == session).collect();
        all.sort_by_key(|(_, truth)| !truth.hard);
        all
    }

    pub(crate) fn has_session(&self, session: &str) -> bool {
        self.ended.contains_key(session) || self.last_said(session).is_some()
    }

    /// Whether the session has ended without later messages.
    pub(crate) fn is_over(&self, session: &str) -> bool {
        let ended = self.ended.get(session).copied().unwrap_or(0);
        ended > 0 && self.last_said(session).is_none_or(|said| said <= ended)
    }

    fn last_said(&self, session: &str) -> Option<Seq> {
        let own = self.items.iter().filter(|(_, _, of, _)| of.as_deref() == Some(session));
        own.map(|(.., seq)| *seq).next_back()
    }

    pub(crate) fn has(&self, item: &str) -> bool {
        self.items.iter().any(|(id, ..)| id == item)
    }

    /// Applies a fact. Returns false, without a change, if it does not apply.
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
            Fact::Promoted(promotion) => match self.core.promoted(promotion) {
                Some(core) => {
                    (self.core, self.core_seq) = (core, seq);
                    self.grown.insert(promotion.to.to_owned());
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
            Fact::TruthSet { id, truth, replaces } => {
                if self.made.contains_key(id) {
                    return false;
                }
                self.made.insert(id.clone(), truth.clone());
                self.ended.entry(truth.session.clone()).or_insert(0);
                let place = replaces.as_ref().and_then(|old| self.in_force.iter().position(|held| held == old));
                match place {
                    Some(place) => self.in_force[place].clone_from(id),
                    None => self.in_force.push(id.clone()),
                }
                true
            }
            Fact::TruthUnset { id } => {
                self.in_force.retain(|held| held != id);
                self.made.contains_key(id)
            }
            Fact::SessionEnded(session) => {
                self.ended.insert(session.clone(), seq);
                true
            }
            Fact::HitsCounted(shown) => {
                for (id, count) in shown {
                    if self.has(id) {
                        *self.hits.entry(id.clone()).or_default() += count;
                    }
                }
                true
            }
            Fact::Reverted(_) | Fact::Permanent => true,
        }
    }
}
