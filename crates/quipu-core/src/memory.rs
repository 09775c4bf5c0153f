//! The fold: one user's memory at one version, a pure function of the ledger's events.
//!
//! An event that no longer applies (it patches something that was reverted, or marks a missing item) is skipped whole
//! and listed as an orphan: replay never fails and never applies an event partly.

mod clock;
mod held;
mod snapshot;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::core_document::{self, Patch};
use crate::event::{Change, Event, Hash, ItemMark, NO_HASH, SourceKind, Trust};
use crate::evolve::{self, GrownSchema};
use crate::id::{ItemId, Seq, UserId};
use crate::item::{DerivedChange, Truth, TruthKind};
use crate::items::Items;
use crate::refusal::Refusal;

pub use held::HeldSource;
pub use snapshot::{SNAPSHOT_BYTES_MAX, SNAPSHOT_TAG};

/// A person's marks on an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ItemMarks"))]
pub struct Marks {
    /// True if it is pinned.
    pub pinned: bool,
    /// Rating from −2 to 2; 0 without one.
    pub rating: i8,
}

/// An event that no longer applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Orphan {
    /// Its position.
    pub seq: Seq,
    /// Index of its first change that did not apply.
    pub change: u32,
    /// The reason.
    pub reason: String,
}

/// The sources of one session, in ledger order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSources {
    /// Its id.
    pub id: Arc<str>,
    /// Indices into [`Memory::sources`].
    pub sources: Vec<u32>,
}

/// The computed effect of one event's changes.
struct Staged {
    /// The new core document, if it changes.
    core: Option<Value>,
    /// Paths that a promotion moved, old and new.
    moved: Vec<(String, String)>,
}

/// One user's memory at one version.
#[derive(Debug, Clone)]
pub struct Memory {
    user: UserId,
    seq: Seq,
    head: Hash,
    skipped: BTreeSet<Seq>,
    sources: Vec<HeldSource>,
    core: Value,
    core_seq: Seq,
    core_updated_at: Option<Timestamp>,
    marks: BTreeMap<ItemId, Marks>,
    items: Items,
    schema: GrownSchema,
    orphans: Vec<Orphan>,
    by_id: FxHashMap<ItemId, u32>,
    sessions: Vec<SessionSources>,
    session_numbers: HashMap<Arc<str>, u32>,
    authors: HashMap<Arc<str>, ()>,
    signed: Option<Arc<str>>,
}

impl Memory {
    /// The empty memory. `skipped` are the events that do not count, from the [`History`](crate::history).
    pub fn new(user: UserId, skipped: BTreeSet<Seq>) -> Self {
        Self {
            user,
            seq: 0,
            head: NO_HASH,
            skipped,
            sources: Vec::new(),
            core: Value::Object(serde_json::Map::new()),
            core_seq: 0,
            core_updated_at: None,
            marks: BTreeMap::new(),
            items: Items::default(),
            schema: GrownSchema::default(),
            orphans: Vec::new(),
            by_id: FxHashMap::default(),
            sessions: Vec::new(),
            session_numbers: HashMap::new(),
            authors: HashMap::new(),
            signed: None,
        }
    }

    /// The user.
    pub fn user(&self) -> &UserId {
        &self.user
    }

    /// Its version: the newest event folded in.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The hash of the newest event.
    pub fn head(&self) -> Hash {
        self.head
    }

    /// Events that do not count.
    pub fn skipped(&self) -> &BTreeSet<Seq> {
        &self.skipped
    }

    /// Every source, in ledger order.
    pub fn sources(&self) -> &[HeldSource] {
        &self.sources
    }

    /// Index of a source in [`Memory::sources`].
    pub fn find(&self, id: ItemId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// A source by id.
    pub fn get(&self, id: ItemId) -> Option<&HeldSource> {
        self.find(id).and_then(|ordinal| self.sources.get(ordinal as usize))
    }

    /// Every session, in the order of its first source.
    pub fn sessions(&self) -> &[SessionSources] {
        &self.sessions
    }

    /// A session by id.
    pub fn session(&self, id: &str) -> Option<&SessionSources> {
        self.session_numbers.get(id).and_then(|&number| self.sessions.get(number as usize))
    }

    /// The core document as stored, without `_meta`.
    pub fn core(&self) -> &Value {
        &self.core
    }

    /// The core document with `_meta`: the version and time of its last change, and its promoted categories.
    pub fn core_with_meta(&self) -> Value {
        let mut shown = self.core.clone();
        if let Value::Object(members) = &mut shown {
            let updated = self.core_updated_at.map(|time| time.to_string());
            members.insert(
                "_meta".to_owned(),
                serde_json::json!({
                    "version": self.core_seq,
                    "lastUpdated": updated,
                    "schemaEvolution": self.schema.evolution(),
                }),
            );
        }
        shown
    }

    /// The marks on an item.
    pub fn marks(&self, id: ItemId) -> Marks {
        self.marks.get(&id).copied().unwrap_or_default()
    }

    /// The pinned sources, in ledger order.
    pub fn pinned_sources(&self) -> impl Iterator<Item = &HeldSource> {
        let pinned = self.marks.iter().filter(|(_, marks)| marks.pinned);
        let mut ordinals: Vec<u32> = pinned.filter_map(|(id, _)| self.find(*id)).collect();
        ordinals.sort_unstable();
        ordinals.into_iter().filter_map(|ordinal| self.sources.get(ordinal as usize))
    }

    /// The author of the user's first source with one: the user's name.
    pub fn signed(&self) -> Option<&str> {
        self.signed.as_deref()
    }

    /// The derived items.
    pub fn items(&self) -> &Items {
        &self.items
    }

    /// The promoted categories and the moved paths.
    pub fn schema(&self) -> &GrownSchema {
        &self.schema
    }

    /// True if the source or item exists.
    pub fn has(&self, id: ItemId) -> bool {
        self.by_id.contains_key(&id) || self.items.has(id)
    }

    /// The orphans, in order of position.
    pub fn orphans(&self) -> &[Orphan] {
        &self.orphans
    }

    /// Folds in the next event.
    ///
    /// Total: the memory always advances to the event's position. See [`Memory::orphans`] for events that did not
    /// apply.
    pub fn apply(&mut self, event: Event) {
        self.seq = event.header.seq;
        self.head = event.hash;
        if self.skipped.contains(&self.seq) {
            return;
        }
        match self.stage(event.changes.iter().map(Option::as_ref)) {
            Ok(staged) => self.commit(staged, event),
            Err((change, reason)) => {
                let reason = reason.to_string();
                self.orphans.push(Orphan { seq: self.seq, change, reason });
            }
        }
    }

    /// Checks whether changes would apply, without applying them.
    ///
    /// # Errors
    /// `Refused` or `NotFound` with the reason.
    pub fn check<'a>(&self, changes: impl Iterator<Item = &'a Change> + Clone) -> Result<(), Refusal> {
        self.stage(changes.map(Some)).map(drop).map_err(|(_, reason)| reason)
    }

    /// Checks every change and computes their combined effect.
    ///
    /// Each patch of a promotion applies or is skipped: a value that was reverted or erased cannot be moved.
    fn stage<'a>(&self, changes: impl Iterator<Item = Option<&'a Change>> + Clone) -> Result<Staged, (u32, Refusal)> {
        let promotes = |change: &Change| matches!(change, Change::Drawn(DerivedChange::SchemaPromoted(_)));
        let promotion = changes.clone().flatten().any(promotes);
        let mut core: Option<Value> = None;
        let mut fresh: Vec<ItemId> = Vec::new();
        for (index, change) in changes.clone().enumerate() {
            let Some(change) = change else { continue };
            let fault = |reason| (index as u32, reason);
            match change {
                Change::SourceRecorded(source) => {
                    if self.by_id.contains_key(&source.id) || fresh.contains(&source.id) {
                        return Err(fault(Refusal::refused(format!("{} is already recorded", source.id))));
                    }
                    fresh.push(source.id);
                }
                Change::CorePatched(patch) => match self.patched(core.as_ref(), patch) {
                    Ok(patched) => core = Some(patched),
                    Err(_) if promotion => {}
                    Err(reason) => return Err(fault(reason)),
                },
                Change::ItemMarked(mark) => {
                    self.must_have(mark.item, &fresh).map_err(fault)?;
                }
                Change::Drawn(DerivedChange::CoreEdited { within, patch }) => {
                    let document = core.as_ref().unwrap_or(&self.core);
                    core = Some(core_document::replay_within(document, within, patch).map_err(fault)?);
                }
                Change::Drawn(DerivedChange::CoreFieldsChanged { changes }) => {
                    let document = core.as_ref().unwrap_or(&self.core);
                    let place = |at: &str| self.schema.place(at);
                    let changed = core_document::change_fields(document, changes, &place).map_err(fault)?;
                    core = (changed != *document).then_some(changed).or(core);
                }
                Change::Drawn(drawn) => {
                    self.may_draw(drawn, &fresh).map_err(fault)?;
                    fresh.extend(drawn.makes());
                }
                Change::Reverted { .. } | Change::Erased { .. } | Change::Forked { .. } => {}
            }
        }
        let moved = if promotion { self.moved(core.as_ref(), changes)? } else { Vec::new() };
        Ok(Staged { core, moved })
    }

    /// The paths a promotion moved. Fails if none of the values to move exists.
    fn moved<'a>(
        &self,
        staged: Option<&Value>,
        changes: impl Iterator<Item = Option<&'a Change>> + Clone,
    ) -> Result<Vec<(String, String)>, (u32, Refusal)> {
        let after = staged.unwrap_or(&self.core);
        let patches = || {
            changes.clone().flatten().filter_map(|change| match change {
                Change::CorePatched(patch) => Some(patch),
                _ => None,
            })
        };
        let mut sought = patches().flat_map(evolve::moves).peekable();
        let gone = |from: &str| self.core.pointer(from).is_some() && after.pointer(from).is_none();
        if sought.peek().is_some() && !sought.any(|(from, _)| gone(&from)) {
            return Err((0, Refusal::refused("nothing is left of what the promotion moves")));
        }
        let promotion = changes.clone().flatten().find_map(|change| match change {
            Change::Drawn(DerivedChange::SchemaPromoted(promotion)) => Some(promotion),
            _ => None,
        });
        let Some(promotion) = promotion else { return Ok(Vec::new()) };
        // Only a container accepts later values.
        let holds = |to: &str| after.pointer(to).is_some_and(|value| value.is_object() || value.is_array());
        let mut all = evolve::relocations(promotion, patches());
        all.retain(|(from, to)| after.pointer(from).is_none() && holds(to));
        Ok(all)
    }

    fn must_have(&self, id: ItemId, fresh: &[ItemId]) -> Result<(), Refusal> {
        if self.has(id) || fresh.contains(&id) {
            return Ok(());
        }
        Err(Refusal::not_found(format!("there is no item {id}")))
    }

    fn may_draw(&self, drawn: &DerivedChange, fresh: &[ItemId]) -> Result<(), Refusal> {
        if let Some(made) = drawn.makes()
            && !matches!(drawn, DerivedChange::EpisodeRecorded(_))
            && (self.has(made) || fresh.contains(&made))
        {
            return Err(Refusal::refused(format!("{made} is already recorded")));
        }
        if let DerivedChange::FactAsserted { fact, .. } = drawn
            && fact.evidence.is_empty()
            && fact.source != SourceKind::UserEdited
        {
            return Err(Refusal::refused(format!("{} names no evidence", fact.id)));
        }
        if let DerivedChange::BaseTruthAdded(truth) | DerivedChange::BaseTruthMerged(truth) = drawn
            && truth.evidence.is_empty()
            && (truth.exchange.is_some() || !truth.rests_on.is_empty())
        {
            return Err(Refusal::refused(format!("{} names no evidence", truth.id)));
        }
        if let DerivedChange::SchemaPromoted(promotion) = drawn {
            self.schema.may_promote(&promotion.name)?;
        }
        if let DerivedChange::ReviewDecided { review, .. } = drawn
            && self.items.review(*review).is_some_and(|found| found.decided.is_some())
        {
            return Err(Refusal::refused(format!("{review} is decided already")));
        }
        drawn.needs().into_iter().try_for_each(|id| self.must_have(id, fresh))
    }

    fn patched(&self, staged: Option<&Value>, patch: &Patch) -> Result<Value, Refusal> {
        core_document::replay(staged.unwrap_or(&self.core), patch).map_err(|fault| Refusal::refused(fault.to_string()))
    }

    fn commit(&mut self, staged: Staged, event: Event) {
        let at = crate::calendar::to_micros(event.header.recorded_at);
        if let Some(core) = staged.core {
            self.schema.note_written(&self.core, &core, at);
            self.core = core;
            self.core_seq = self.seq;
            self.core_updated_at = Some(at);
        }
        let (trust, from) = (event.header.trust, event.header.origin.kind);
        for (index, change) in event.changes.into_iter().enumerate() {
            match change {
                Some(Change::SourceRecorded(source)) => {
                    let trust = trust.min(source.role.trust_max());
                    self.hold(HeldSource { source, seq: self.seq, change: index as u32, trust, from });
                }
                Some(Change::ItemMarked(mark)) => self.mark(&mark),
                Some(Change::Drawn(DerivedChange::SchemaPromoted(promotion))) => {
                    self.schema.promote(*promotion, staged.moved.clone(), self.seq, at);
                    self.items.relocate(&self.schema);
                }
                Some(Change::Drawn(mut drawn)) => {
                    // An item's trust is at most that of its event.
                    match &mut drawn {
                        DerivedChange::FactAsserted { fact, .. } => {
                            fact.trust = fact.trust.min(trust);
                            fact.core_path = fact.core_path.as_deref().map(|path| self.schema.place(path));
                        }
                        DerivedChange::BaseTruthAdded(truth) | DerivedChange::BaseTruthMerged(truth) => {
                            self.level(truth, trust)
                        }
                        DerivedChange::HitsCounted { hits } => hits.retain(|shown| self.has(shown.item)),
                        DerivedChange::ItemsDemoted { items, .. } => items.retain(|id| self.has(*id)),
                        _ => {}
                    }
                    self.items.apply(drawn, self.seq);
                }
                _ => {}
            }
        }
    }

    /// Limits the trust of a base truth entry to the least of its sources, or to its author's. Entries that do not come
    /// from the user are not binding.
    fn level(&self, truth: &mut Truth, by: Trust) {
        let places = truth.evidence.iter().map(|at| self.get(at.source).map_or(Trust::Web, |held| held.trust));
        truth.trust = places.min().unwrap_or(by);
        if truth.kind.binds() && truth.trust != Trust::User {
            truth.kind = TruthKind::Fact;
        }
    }

    fn mark(&mut self, mark: &ItemMark) {
        let marks = self.marks.entry(mark.item).or_default();
        marks.pinned = mark.pinned.unwrap_or(marks.pinned);
        marks.rating = mark.rating.unwrap_or(marks.rating);
        if *marks == Marks::default() {
            self.marks.remove(&mark.item);
        }
    }

    fn hold(&mut self, mut held: HeldSource) {
        // Truncated to microseconds, as in a snapshot, so that the two are equal.
        held.source.said_at = held.source.said_at.map(crate::calendar::to_micros);
        let ordinal = self.sources.len() as u32;
        self.by_id.insert(held.source.id, ordinal);
        if let Some(session) = &mut held.source.session {
            let number = match self.session_numbers.get(session) {
                Some(&number) => number,
                None => {
                    let number = self.sessions.len() as u32;
                    self.sessions.push(SessionSources { id: session.clone(), sources: Vec::new() });
                    self.session_numbers.insert(session.clone(), number);
                    number
                }
            };
            let entry = &mut self.sessions[number as usize];
            *session = entry.id.clone();
            entry.sources.push(ordinal);
        }
        // Shares one allocation per name.
        if let Some(author) = &mut held.source.author {
            match self.authors.get_key_value(author) {
                Some((shared, ())) => *author = shared.clone(),
                None => {
                    self.authors.insert(author.clone(), ());
                }
            }
        }
        if self.signed.is_none() && held.trust == Trust::User {
            self.signed = held.source.author.clone();
        }
        self.sources.push(held);
    }

    /// Replaces the skipped events. Only valid if no event folded in so far is affected.
    pub fn set_skipped(&mut self, skipped: BTreeSet<Seq>) {
        self.skipped = skipped;
    }

    /// Memory use in bytes, estimated from lengths.
    pub fn bytes(&self) -> usize {
        let source = |held: &HeldSource| {
            let artifacts: usize = held.source.artifacts.iter().map(|a| a.text.len() + a.kind.len() + 96).sum();
            held.source.text.len() + held.source.native_id.as_ref().map_or(0, |id| id.len()) + artifacts
        };
        let texts: usize = self.sources.iter().map(source).sum();
        texts
            + self.items.bytes()
            + self.schema.bytes()
            + self.sources.len() * (size_of::<HeldSource>() + 2 * size_of::<(ItemId, u32)>() + size_of::<u32>())
    }
}

impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        let until = |memory: &Self| memory.skipped.range(..=memory.seq).copied().collect::<Vec<_>>();
        self.user == other.user
            && self.seq == other.seq
            && self.head == other.head
            && until(self) == until(other)
            && self.sources == other.sources
            && self.core == other.core
            && (self.core_seq, self.core_updated_at) == (other.core_seq, other.core_updated_at)
            && self.marks == other.marks
            && self.items == other.items
            && self.schema == other.schema
            && self.orphans == other.orphans
    }
}
