//! Gathers entries: groups events and collects the items they touched.
//!
//! What is recorded on one day (UTC) stays open until something is recorded on another day; then its entries are
//! closed. An entry shows the items as they were at the end of its day of recording, so later events never change it;
//! only an erasure does.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;

use super::entry::{ArtifactEntry, Meta, SourceLine, Summary};
use super::name::{Slug, title_of, topic_slug};
use super::rows::{EpisodeRow, FactRow, NoteRow, QuestionRow, TaskRow, TenetRow};
use super::schema::{ENTRY_META, ENTRY_SUMMARY};
use crate::Memory;
use crate::event::{Change, Event};
use crate::id::{ItemId, ItemKind, Seq};
use crate::item::{DerivedChange, Fact, Note, ReviewKind, Tenet};
use crate::source::Source;

/// The events recorded on one day, and what they touched.
#[derive(Debug, Clone)]
pub struct Day {
    date: Date,
    first: Seq,
    last: Seq,
    began: Timestamp,
    words: Vec<ItemId>,
    /// Items, each with the source that touched it, if any.
    touched: BTreeMap<(ItemId, Option<ItemId>), Seq>,
    reverts: bool,
}

impl Day {
    /// An empty day with the date of an event.
    pub fn of(event: &Event) -> Self {
        let (seq, began) = (event.header.seq, event.header.recorded_at);
        Self {
            date: date_of(began),
            first: seq,
            last: seq,
            began,
            words: Vec::new(),
            touched: BTreeMap::new(),
            reverts: false,
        }
    }

    /// True if the event is recorded on this day.
    pub fn holds(&self, event: &Event) -> bool {
        date_of(event.header.recorded_at) == self.date
    }

    /// Its first event.
    pub fn first(&self) -> Seq {
        self.first
    }

    /// Its last event so far.
    pub fn last(&self) -> Seq {
        self.last
    }

    /// True if the day contains a revert. Anything may have changed then, so the memories are compared.
    pub fn reverts(&self) -> bool {
        self.reverts
    }

    /// Records what an event touches.
    pub fn note(&mut self, event: &Event) {
        self.last = event.header.seq;
        for change in event.changes.iter().flatten() {
            match change {
                Change::SourceRecorded(source) if source.is_item() => self.words.push(source.id),
                Change::ItemMarked(mark) => self.touch(mark.item, None),
                Change::Drawn(drawn) => self.draw(drawn),
                Change::Reverted { .. } => self.reverts = true,
                Change::SourceRecorded(_) | Change::CorePatched(_) | Change::Erased { .. } | Change::Forked { .. } => {}
            }
        }
    }

    fn touch(&mut self, item: ItemId, by: Option<ItemId>) {
        self.touched.insert((item, by), self.last);
    }

    fn draw(&mut self, drawn: &DerivedChange) {
        let by = match drawn {
            DerivedChange::EpisodeRecorded(episode) => episode.sources.first().copied(),
            // A note belongs to the day it was recorded on, not to the day of its evidence.
            DerivedChange::NoteRecorded(_) | DerivedChange::NoteSeconded { .. } => None,
            other => other.places().first().map(|place| place.source),
        };
        if let Some(made) = drawn.makes() {
            self.touch(made, by);
        }
        match drawn {
            DerivedChange::FactAsserted { ends, .. } => ends.iter().for_each(|ended| self.touch(*ended, by)),
            DerivedChange::FactSeen { fact, .. }
            | DerivedChange::FactPromoted { fact, .. }
            | DerivedChange::FactRestored { fact } => {
                self.touch(*fact, by);
            }
            DerivedChange::FactChanged(change) => self.touch(change.fact, by),
            DerivedChange::TaskChanged(change) => self.touch(change.task, by),
            DerivedChange::NoteSeconded { note, .. } => self.touch(*note, by),
            DerivedChange::TenetChanged(change) => self.touch(change.tenet, by),
            DerivedChange::ReviewDecided { review, .. } => self.touch(*review, None),
            DerivedChange::ItemRetracted { item, .. } => self.touch(*item, None),
            DerivedChange::ItemsMerged { from, into } => {
                from.iter().chain([into]).for_each(|item| self.touch(*item, None));
            }
            _ => {}
        }
    }
}

fn date_of(time: Timestamp) -> Date {
    time.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// Topics for sources recorded without one.
pub(super) const HOMES: [&str; 3] = ["conversations", "documents", "journal"];

/// The topic of a source: its own, or else one of [`HOMES`].
fn home(source: &Source) -> &str {
    match (&source.topic, source.kind()) {
        (Some(topic), _) => topic,
        (None, ItemKind::Turn) => "conversations",
        (None, ItemKind::Document) => "documents",
        (None, _) => "journal",
    }
}

fn topic_of(fact: &Fact) -> &str {
    fact.topic.as_deref().unwrap_or(&fact.domain)
}

/// The topic of a note: that of its first evidence.
fn topic_of_note(memory: &Memory, note: &Note) -> String {
    let words = note.evidence.first().and_then(|at| memory.get(at.source));
    words.map_or("journal", |held| home(&held.source)).to_owned()
}

fn topic_of_tenet(tenet: &Tenet) -> &str {
    tenet.topic.as_deref().or(tenet.domain.as_deref()).unwrap_or("values")
}

/// The entries of a day, from the memory at the end of it.
///
/// `before` is the memory at the end of the day before; it is needed if the day contains a revert. `used` returns how
/// many entries a topic already has for a day.
pub fn entries(
    day: &Day,
    before: Option<&Memory>,
    memory: &Memory,
    used: &mut dyn FnMut(&Slug, Date) -> usize,
) -> Vec<ArtifactEntry> {
    let mut gathered = Gathered { day, memory, entries: BTreeMap::new(), questions: questions(memory) };
    for id in &day.words {
        if let Some(held) = memory.get(*id) {
            gathered.words(&held.source, home(&held.source));
        }
    }
    for ((item, by), seq) in &day.touched {
        gathered.item(*item, *by, *seq);
    }
    if let Some(before) = before {
        gathered.compare(before);
    }
    gathered.finish(used)
}

/// Reviews by the item they are about.
fn questions(memory: &Memory) -> BTreeMap<ItemId, Vec<ItemId>> {
    let mut about: BTreeMap<ItemId, Vec<ItemId>> = BTreeMap::new();
    for review in memory.items().reviews() {
        about.entry(review.about).or_default().push(review.id);
    }
    about
}

struct Gathered<'a> {
    day: &'a Day,
    memory: &'a Memory,
    entries: BTreeMap<(Slug, Date), Open>,
    questions: BTreeMap<ItemId, Vec<ItemId>>,
}

/// An entry under construction.
#[derive(Default)]
struct Open {
    name: String,
    words: BTreeSet<u32>,
    facts: BTreeMap<ItemId, FactRow>,
    episodes: BTreeMap<ItemId, EpisodeRow>,
    tasks: BTreeMap<ItemId, TaskRow>,
    questions: BTreeMap<ItemId, QuestionRow>,
    notes: BTreeMap<ItemId, NoteRow>,
    tenets: BTreeMap<ItemId, TenetRow>,
    last: Seq,
}

impl Gathered<'_> {
    fn open(&mut self, topic: &str, date: Date, seq: Seq) -> &mut Open {
        let open = self.entries.entry((topic_slug(topic), date)).or_default();
        if open.name.is_empty() {
            open.name = title_of(topic);
        }
        open.last = open.last.max(seq);
        open
    }

    /// The day of a source: when it was said, by the speaker's clock, or else when it was recorded.
    fn date(&self, words: Option<ItemId>) -> Date {
        let said = words.and_then(|id| self.memory.get(id)).and_then(|held| held.source.local_time());
        said.map_or(self.day.date, date_of)
    }

    fn words(&mut self, source: &Source, topic: &str) {
        let Some(ordinal) = self.memory.find(source.id) else { return };
        let seq = self.memory.get(source.id).map_or(0, |held| held.seq);
        let date = self.date(Some(source.id));
        self.open(topic, date, seq).words.insert(ordinal);
    }

    fn item(&mut self, item: ItemId, by: Option<ItemId>, seq: Seq) {
        let (memory, date) = (self.memory, self.date(by));
        let items = memory.items();
        match item.kind {
            ItemKind::Fact => {
                let Some(fact) = items.fact(item) else { return };
                self.fact(fact, by, date, seq);
                let ended = items.in_slot(&fact.slot).filter(|other| other.superseded_by == Some(item));
                ended.for_each(|other| self.fact(other, None, date, seq));
            }
            ItemKind::Episode => {
                let Some(episode) = items.episode(item) else { return };
                let Some(held) = by.and_then(|id| memory.get(id)) else { return };
                let row = EpisodeRow::of(memory, episode);
                self.open(home(&held.source), date, seq).episodes.insert(item, row);
            }
            ItemKind::Task => {
                let Some(task) = items.task(item) else { return };
                let words = task.evidence.first().and_then(|at| memory.get(at.source));
                let topic = words.map_or("conversations", |held| home(&held.source)).to_owned();
                self.open(&topic, date, seq).tasks.insert(item, TaskRow::of(memory, task));
            }
            ItemKind::Note => {
                let Some(note) = items.note(item) else { return };
                let topic = topic_of_note(memory, note);
                self.open(&topic, date, seq).notes.insert(item, NoteRow::of(memory, note));
            }
            ItemKind::Tenet => {
                let Some(tenet) = items.tenet(item) else { return };
                self.open(topic_of_tenet(tenet), date, seq).tenets.insert(item, TenetRow::of(memory, tenet));
            }
            ItemKind::Review => self.question(item, date, seq),
            _ => {}
        }
    }

    fn fact(&mut self, fact: &Fact, by: Option<ItemId>, date: Date, seq: Seq) {
        let row = FactRow::of(self.memory, fact);
        let ordinal = by.and_then(|id| self.memory.find(id));
        let open = self.open(topic_of(fact), date, seq);
        open.facts.insert(fact.id, row);
        open.words.extend(ordinal);
        for review in self.questions.get(&fact.id).cloned().unwrap_or_default() {
            self.question(review, date, seq);
        }
    }

    fn question(&mut self, review: ItemId, date: Date, seq: Seq) {
        let items = self.memory.items();
        let Some(review) = items.review(review) else { return };
        let about = review.about;
        let topic = match (items.fact(about), items.tenet(about), self.memory.get(about)) {
            (Some(fact), _, _) => topic_of(fact),
            (_, Some(tenet), _) => topic_of_tenet(tenet),
            (_, _, Some(held)) => home(&held.source),
            _ if review.kind == ReviewKind::Edit => "conversations",
            _ => return,
        };
        let row = QuestionRow::of(self.memory, review);
        self.open(topic, date, seq).questions.insert(review.id, row);
    }

    /// Adds what changed without an event that names it, because of reverts.
    fn compare(&mut self, before: &Memory) {
        let (date, seq, memory) = (self.day.date, self.day.last, self.memory);
        let (old, new) = (before.items(), memory.items());
        let named: BTreeSet<ItemId> = self.day.touched.keys().map(|(item, _)| *item).collect();
        for fact in old.facts() {
            let was = FactRow::of(before, fact);
            match new.fact(fact.id) {
                Some(now) if named.contains(&fact.id) || FactRow::of(memory, now) == was => {}
                Some(now) => self.fact(now, None, date, seq),
                None => {
                    self.open(topic_of(fact), date, seq).facts.insert(fact.id, was.gone());
                }
            }
        }
        let came = new.facts().filter(|fact| old.fact(fact.id).is_none() && !named.contains(&fact.id));
        came.for_each(|fact| self.fact(fact, None, date, seq));
        self.compare_stories(before, &named);
        self.compare_learned(before, &named);
        for task in old.tasks().filter(|task| new.task(task.id) != Some(*task)) {
            if new.has(task.id) {
                if !named.contains(&task.id) {
                    self.item(task.id, None, seq);
                }
            } else {
                let words = task.evidence.first().and_then(|at| before.get(at.source));
                let topic = words.map_or("conversations", |held| home(&held.source)).to_owned();
                let mut row = TaskRow::of(before, task);
                row.status = crate::item::TaskStatus::Dropped;
                self.open(&topic, date, seq).tasks.insert(task.id, row);
            }
        }
        let came = new.tasks().filter(|task| !old.has(task.id) && !named.contains(&task.id));
        came.for_each(|task| self.item(task.id, None, seq));
        for review in old.reviews().filter(|review| !new.has(review.id)) {
            let topic = old.fact(review.about).map_or("conversations", topic_of);
            let row = QuestionRow { waits: false, ..QuestionRow::of(before, review) };
            self.open(topic, date, seq).questions.insert(review.id, row);
        }
        for review in new.reviews().filter(|review| !named.contains(&review.id)) {
            let was = old.review(review.id).map(|review| QuestionRow::of(before, review));
            if was != Some(QuestionRow::of(memory, review)) {
                self.question(review.id, date, seq);
            }
        }
    }

    fn compare_stories(&mut self, before: &Memory, named: &BTreeSet<ItemId>) {
        let (date, seq, memory) = (self.day.date, self.day.last, self.memory);
        let at_home = |memory: &Memory, id: Option<&ItemId>| {
            let held = id.and_then(|id| memory.get(*id));
            held.map_or("conversations", |held| home(&held.source)).to_owned()
        };
        for episode in before.items().episodes().filter(|one| memory.items().episode(one.id).is_none()) {
            let topic = at_home(before, episode.sources.first());
            let row = EpisodeRow { gone: true, ..EpisodeRow::of(before, episode) };
            self.open(&topic, date, seq).episodes.insert(episode.id, row);
        }
        for episode in memory.items().episodes().filter(|episode| !named.contains(&episode.id)) {
            let row = EpisodeRow::of(memory, episode);
            let was = before.items().episode(episode.id).map(|one| EpisodeRow::of(before, one));
            if was.as_ref() != Some(&row) {
                let topic = at_home(memory, episode.sources.first());
                self.open(&topic, date, seq).episodes.insert(episode.id, row);
            }
        }
    }

    fn compare_learned(&mut self, before: &Memory, named: &BTreeSet<ItemId>) {
        let (date, seq, memory) = (self.day.date, self.day.last, self.memory);
        let (old, new) = (before.items(), memory.items());
        for note in old.notes().filter(|note| new.note(note.id).is_none()) {
            let row = NoteRow { gone: true, ..NoteRow::of(before, note) };
            self.open(&topic_of_note(before, note), date, seq).notes.insert(note.id, row);
        }
        for note in new.notes().filter(|note| !named.contains(&note.id)) {
            let was = old.note(note.id).map(|one| NoteRow::of(before, one));
            if was != Some(NoteRow::of(memory, note)) {
                self.item(note.id, None, seq);
            }
        }
        for tenet in old.tenets().filter(|tenet| new.tenet(tenet.id).is_none()) {
            let row = TenetRow::of(before, tenet).gone();
            self.open(topic_of_tenet(tenet), date, seq).tenets.insert(tenet.id, row);
        }
        for tenet in new.tenets().filter(|tenet| !named.contains(&tenet.id)) {
            let was = old.tenet(tenet.id).map(|one| TenetRow::of(before, one));
            if was != Some(TenetRow::of(memory, tenet)) {
                self.item(tenet.id, None, seq);
            }
        }
    }

    fn finish(self, used: &mut dyn FnMut(&Slug, Date) -> usize) -> Vec<ArtifactEntry> {
        let Self { day, memory, entries, .. } = self;
        let finish = |((topic, date), open): ((Slug, Date), Open)| {
            let entry_id = match used(&topic, date) {
                0 => date.to_string(),
                earlier => format!("{date}-{}", earlier + 1),
            };
            close(day, memory, topic, date, entry_id, open)
        };
        entries.into_iter().map(finish).collect()
    }
}

fn close(day: &Day, memory: &Memory, topic: Slug, date: Date, entry_id: String, open: Open) -> ArtifactEntry {
    let held = open.words.iter().filter_map(|&ordinal| memory.sources().get(ordinal as usize));
    let words: Vec<Source> = held.map(|held| held.source.clone()).collect();
    let entry_ts = words.iter().filter_map(|source| source.said_at).min().unwrap_or(day.began);
    // In the order of recording; items that are gone come last.
    let made = |id: &ItemId| (memory.items().made_by(*id).unwrap_or(Seq::MAX), *id);
    let mut facts: Vec<FactRow> = open.facts.into_values().collect();
    facts.sort_by_key(|row| made(&row.id));
    let mut episodes: Vec<EpisodeRow> = open.episodes.into_values().collect();
    episodes.sort_by_key(|row| made(&row.id));
    let mut tasks: Vec<TaskRow> = open.tasks.into_values().collect();
    tasks.sort_by_key(|row| made(&row.id));
    let mut questions: Vec<QuestionRow> = open.questions.into_values().collect();
    questions.sort_by_key(|row| made(&row.id));
    let mut notes: Vec<NoteRow> = open.notes.into_values().collect();
    notes.sort_by_key(|row| made(&row.id));
    let mut tenets: Vec<TenetRow> = open.tenets.into_values().collect();
    tenets.sort_by_key(|row| made(&row.id));
    let summary = Summary {
        schema: ENTRY_SUMMARY.id(),
        entry_id: entry_id.clone(),
        topic: topic.to_string(),
        topic_name: open.name.clone(),
        day: date,
        seq_first: day.first,
        entry_ts,
        sources: words.len(),
        facts,
        episodes,
        tasks,
        questions,
        notes,
        tenets,
    };
    let meta = Meta {
        schema: ENTRY_META.id(),
        entry_id,
        topic: topic.to_string(),
        topic_name: open.name,
        day: date,
        recorded_on: day.date,
        entry_ts,
        seq_first: day.first,
        seq_last: open.last,
        sources: words.iter().map(SourceLine::of).collect(),
    };
    ArtifactEntry { topic, meta, summary, words }
}
