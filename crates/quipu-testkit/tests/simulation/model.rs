//! The plain model: for each user the list of events, with what was said, and what later events do to it.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::event::{Change, Hash};
use quipu_core::id::{ItemId, Seq};
use quipu_core::ledger::{self, SealedEvent};
use quipu_engine::Receipt;

/// Something that was said, with a word that occurs in it alone.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) word: String,
    pub(crate) item: ItemId,
    pub(crate) key: Option<String>,
    /// The change that records it.
    change: usize,
    /// The words of an edit by hand, which the engine recorded, and which another edit may put away.
    pub(crate) is_by_hand: bool,
}

/// What an event is to the model.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Said(Said),
    Reverted(Vec<Seq>),
    Erased,
    Derived,
}

#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) hash: Hash,
    pub(crate) content: Content,
    /// True once what was said in it was erased.
    pub(crate) is_erased: bool,
}

/// What was asked to be recorded in the current step.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    /// The text; empty if the engine words it, with the word in it.
    pub(crate) text: String,
    pub(crate) word: String,
    pub(crate) key: Option<String>,
}

/// What the operations of one step may append to one ledger.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    pub(crate) sent: Vec<Sent>,
    pub(crate) reverts: bool,
    pub(crate) erases: bool,
    /// Events that follow from others.
    pub(crate) derives: bool,
}

/// One user's ledger.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    pub(crate) events: Vec<Recorded>,
    /// Words whose erasure was recorded, or that were deleted with the user.
    pub(crate) erased: BTreeSet<String>,
    /// Requests by key: text, and the event, as far as it was recorded.
    pub(crate) requests: BTreeMap<String, Sent>,
    /// True once something was reverted, erased or edited.
    pub(crate) is_edited: bool,
}

impl Ledger {
    pub(crate) fn head(&self) -> Seq {
        self.events.len() as Seq
    }

    pub(crate) fn event(&self, seq: Seq) -> Option<&Recorded> {
        self.events.get(usize::try_from(seq).ok()?.checked_sub(1)?)
    }

    /// An event is in effect unless a later event in effect reverts it.
    fn counts(&self, seq: Seq, version: Seq) -> bool {
        !(seq + 1..=version).any(|later| {
            matches!(self.event(later).map(|event| &event.content), Some(Content::Reverted(events)) if events.contains(&seq))
                && self.counts(later, version)
        })
    }

    /// What was said, at a version: position and message. Words of edits by hand are left out.
    pub(crate) fn live(&self, version: Seq) -> Vec<(Seq, &Said)> {
        let said = (1..).zip(&self.events).take_while(|(seq, _)| *seq <= version);
        let said = said.filter_map(|(seq, event)| match &event.content {
            Content::Said(said) if !event.is_erased && !said.is_by_hand => Some((seq, said)),
            _ => None,
        });
        said.filter(|(seq, _)| self.counts(*seq, version)).collect()
    }

    /// Position and content of the request with a key.
    pub(crate) fn of_key(&self, key: &str) -> Option<(Seq, &Said, bool)> {
        (1..).zip(&self.events).find_map(|(seq, event)| match &event.content {
            Content::Said(said) if said.key.as_deref() == Some(key) => Some((seq, said, event.is_erased)),
            _ => None,
        })
    }

    /// Takes the ledger as it is stored. Everything in it must follow from what was asked.
    pub(crate) fn take(&mut self, stored: &[SealedEvent], mut allowed: Allowed) {
        assert!(
            stored.len() >= self.events.len(),
            "{} events were recorded, and {} are stored",
            self.events.len(),
            stored.len()
        );
        for (at, sealed) in stored.iter().enumerate() {
            assert_eq!(sealed.seq, at as Seq + 1, "positions have gaps");
            match self.events.get(at) {
                Some(known) => assert_eq!(known.hash, sealed.hash, "event {} is another one now", sealed.seq),
                None => self.add(sealed, &mut allowed),
            }
        }
        self.erasures(stored);
    }

    fn add(&mut self, sealed: &SealedEvent, allowed: &mut Allowed) {
        let seq = sealed.seq;
        let event = ledger::open(sealed).unwrap();
        let mut content = Content::Derived;
        for (index, change) in event.changes.iter().enumerate() {
            let Some(change) = change else { continue };
            match change {
                Change::SourceRecorded(source) => {
                    let text: &str = &source.text;
                    let at = allowed.sent.iter().position(|sent| {
                        sent.text == text || (sent.text.is_empty() && text.contains(sent.word.as_str()))
                    });
                    let at = at.unwrap_or_else(|| panic!("event {seq} records what nobody said, or again: {text}"));
                    let Sent { text: sent, word, key } = allowed.sent.swap_remove(at);
                    if let Some(key) = &key {
                        assert!(self.of_key(key).is_none(), "event {seq} records the key {key} again");
                    }
                    // A request that was sent again after its user was deleted is a new one.
                    self.erased.remove(&word);
                    let is_by_hand = sent.is_empty();
                    let text = text.to_owned();
                    content = Content::Said(Said { text, word, item: source.id, key, change: index, is_by_hand });
                }
                Change::Reverted { events } => {
                    assert!(allowed.reverts, "event {seq} reverts {events:?}, and nobody asked for it");
                    content = Content::Reverted(events.clone());
                    self.is_edited = true;
                }
                Change::Erased { targets, .. } => {
                    assert!(allowed.erases, "event {seq} erases {targets:?}, and nobody asked for it");
                    content = Content::Erased;
                    self.is_edited = true;
                }
                other => assert!(allowed.derives, "event {seq} is {}, and nothing was to be recorded", other.as_str()),
            }
        }
        self.events.push(Recorded { hash: sealed.hash, content, is_erased: false });
    }

    /// Payloads may be missing only if an erasure names them, and then they must be.
    fn erasures(&mut self, stored: &[SealedEvent]) {
        let mut named: BTreeMap<Seq, BTreeSet<u32>> = BTreeMap::new();
        for (sealed, known) in stored.iter().zip(&self.events) {
            if matches!(known.content, Content::Erased) {
                let event = ledger::open(sealed).unwrap();
                for change in event.changes.into_iter().flatten() {
                    if let Change::Erased { targets, .. } = change {
                        for target in targets {
                            named.entry(target.seq).or_default().insert(target.index);
                        }
                    }
                }
            }
        }
        for (sealed, known) in stored.iter().zip(&mut self.events) {
            let left = payloads(sealed);
            let gone = named.get(&sealed.seq).map_or(0, BTreeSet::len);
            assert_eq!(
                left + gone,
                sealed.changes.len(),
                "event {} has {left} of {} payloads, and {gone} were erased",
                sealed.seq,
                sealed.changes.len()
            );
            if let Content::Said(said) = &known.content
                && sealed.changes.get(said.change).is_none_or(|change| change.bytes.is_none())
            {
                known.is_erased = true;
                self.erased.insert(said.word.clone());
            }
        }
    }

    /// The ledger was deleted, or replaced by another one.
    pub(crate) fn deleted(&mut self) {
        let words = self.events.iter().filter_map(|event| match &event.content {
            Content::Said(said) => Some(said.word.clone()),
            _ => None,
        });
        self.erased.extend(words);
        self.events.clear();
        self.requests.clear();
        self.is_edited = false;
    }

    pub(crate) fn has(&self, receipt: &Receipt) -> bool {
        self.event(receipt.seq).is_some_and(|event| event.hash.to_hex().as_str() == receipt.hash)
    }

    /// A receipt names the event that records the text.
    pub(crate) fn acknowledged(&self, receipt: &Receipt, sent: &Sent) {
        let event = self
            .event(receipt.seq)
            .unwrap_or_else(|| panic!("{sent:?} was acknowledged as {receipt:?}, and is not stored"));
        let Content::Said(said) = &event.content else {
            panic!("{sent:?} was acknowledged as {receipt:?}, which is {event:?}")
        };
        assert_eq!((&said.text, &said.key), (&sent.text, &sent.key), "{receipt:?} is of another message");
        assert_eq!(event.hash.to_hex().as_str(), receipt.hash, "the hash of {receipt:?} is another one");
        assert_eq!(receipt.items, [said.item], "the item of {receipt:?} is another one");
    }
}

fn payloads(sealed: &SealedEvent) -> usize {
    sealed.changes.iter().filter(|change| change.bytes.is_some()).count()
}
