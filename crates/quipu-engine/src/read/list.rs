//! Lists derived items: facts, tasks, episodes, notes, tenets, conflicts; at the current or an earlier version.

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::item::{Episode, Evidence, Fact, FactStatus, Hits, Note, Task, Tenet};
use quipu_core::memory::Marks;
use quipu_core::pack;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::log::{self, LogEntry};
use crate::history::versions::{self, When};
use crate::memory::OpenMemory;
use crate::read::items;
use crate::review::queue::{self, quotes};

/// Filter of [`facts`].
#[derive(Debug, Clone, Default)]
pub struct FactOptions {
    /// The version to read. Defaults to the current one.
    pub at: Option<When>,
    /// Time of validity, as known at `at`. Defaults to now.
    pub valid_at: Option<Timestamp>,
    /// Includes facts that are superseded, corrected, pending or retracted.
    pub all: bool,
    /// Only facts about this subject.
    pub subject: Option<String>,
    /// Only facts with this predicate.
    pub predicate: Option<String>,
}

/// Number of words that may come before a quote in its message for it to be an answer: "yeah. Six months".
const ANSWER_LEAD_WORDS_MAX: usize = 3;

/// A fact with its evidence.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "FactView"))]
pub struct FactShown {
    /// The fact.
    #[serde(flatten)]
    pub fact: Fact,
    /// Its sources.
    pub source_ids: Vec<ItemId>,
    /// Quotes with their sources.
    pub quotes: Vec<(ItemId, String)>,
    /// The question of another speaker that the first quote answers, with its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<(ItemId, String)>,
    /// The event that made it.
    pub event_seq: Option<u64>,
    /// How often and when it was shown, as far as recorded.
    #[serde(flatten)]
    pub hits: Hits,
    /// True if it was promoted to the profile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub promoted: bool,
}

impl FactShown {
    fn of(memory: &Memory, fact: &Fact) -> Self {
        let mut source_ids: Vec<ItemId> = fact.evidence.iter().map(|at| at.source).collect();
        source_ids.dedup();
        let (quotes, event_seq) = (quotes(memory, &fact.evidence), memory.items().made_by(fact.id));
        let (hits, promoted) = (memory.items().hits(fact.id), memory.items().is_promoted(fact.id));
        let asked = fact.evidence.first().and_then(|at| asked(memory, at));
        Self { fact: fact.clone(), source_ids, quotes, asked, event_seq, hits, promoted }
    }
}

/// Calls `look` with the memory at a version.
fn seen<T>(open: &OpenMemory, at: Option<When>, look: impl FnOnce(&Memory) -> T) -> Result<T> {
    match at {
        None | Some(When::Now) => Ok(look(&open.read().memory)),
        Some(at) => Ok(look(&versions::memory_at(open, at)?)),
    }
}

/// Lists facts that hold now or held at a time, as known at a version. Most important first.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn facts(engine: &Engine, user: &UserId, options: &FactOptions) -> Result<Vec<FactShown>> {
    let open = engine.open(user)?;
    let now = engine.now();
    let wanted = |memory: &Memory, now: Timestamp, fact: &Fact| {
        let counts = match options.valid_at {
            Some(time) => fact.held_at(time),
            None => fact.holds_at_last(now),
        };
        let subject = options.subject.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(&fact.subject));
        let predicate = options.predicate.as_ref().is_none_or(|wanted| *wanted == fact.predicate);
        (options.all || (counts && !memory.items().is_hidden(fact.id))) && subject && predicate
    };
    seen(&open, options.at, |memory| {
        let present = engine.local(memory, now);
        let mut found: Vec<FactShown> = memory
            .items()
            .facts()
            .filter(|fact| wanted(memory, present, fact))
            .map(|fact| FactShown::of(memory, fact))
            .collect();
        let order = |shown: &FactShown| {
            let subject = (shown.fact.subject != quipu_core::extract::USER, shown.fact.subject.clone());
            (subject, std::cmp::Reverse((shown.fact.intrinsic_importance * 100.0) as i64), shown.fact.slot.clone())
        };
        found.sort_by_cached_key(|shown| (order(shown), shown.event_seq, shown.fact.id));
        found
    })
}

/// Lists tasks, goals and problems; only open ones unless `all` is set.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn tasks(engine: &Engine, user: &UserId, at: Option<When>, all: bool) -> Result<Vec<Task>> {
    let open = engine.open(user)?;
    seen(&open, at, |memory| {
        let items = memory.items();
        let wanted = |task: &&Task| all || (task.status.is_open() && !items.is_hidden(task.id));
        let mut found: Vec<Task> = items.tasks().filter(wanted).cloned().collect();
        found.sort_by_key(|task| (task.due.is_none(), task.due, items.made_by(task.id), task.id));
        found
    })
}

/// Lists episodes by time.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn episodes(engine: &Engine, user: &UserId, at: Option<When>) -> Result<Vec<Episode>> {
    let open = engine.open(user)?;
    seen(&open, at, |memory| {
        let items = memory.items();
        let mut found: Vec<Episode> =
            items.episodes().filter(|episode| !items.is_hidden(episode.id)).cloned().collect();
        found.sort_by_key(|episode| (episode.start, items.made_by(episode.id), episode.id));
        found
    })
}

/// Returns the `k` episodes most related to these topics and paths of the core document, each with its score: three for
/// a topic, four for a path, plus its importance. Ties are ordered by id.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn episodes_about(
    engine: &Engine,
    user: &UserId,
    at: Option<When>,
    topics: &[String],
    paths: &[String],
    k: usize,
) -> Result<Vec<(u32, Episode)>> {
    let open = engine.open(user)?;
    seen(&open, at, |memory| {
        let items = memory.items();
        let shown = items.episodes().filter(|episode| !items.is_hidden(episode.id));
        quipu_core::episode::score::rank(shown, topics, paths, k)
            .into_iter()
            .map(|(score, episode)| (score, episode.clone()))
            .collect()
    })
}

/// Lists notes in the order of recording.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn notes(engine: &Engine, user: &UserId, at: Option<When>) -> Result<Vec<Note>> {
    let open = engine.open(user)?;
    seen(&open, at, |memory| {
        let items = memory.items();
        let mut found: Vec<Note> = items.notes().filter(|note| !items.is_hidden(note.id)).cloned().collect();
        found.sort_by_key(|note| (items.made_by(note.id), note.id));
        found
    })
}

/// Lists tenets in the order of recording; outdated ones only with `all`.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn tenets(engine: &Engine, user: &UserId, at: Option<When>, all: bool) -> Result<Vec<Tenet>> {
    let open = engine.open(user)?;
    seen(&open, at, |memory| {
        let items = memory.items();
        let outdated = quipu_core::item::TenetStatus::Outdated;
        let wanted = |tenet: &&Tenet| all || (tenet.status != outdated && !items.is_hidden(tenet.id));
        let mut found: Vec<Tenet> = items.tenets().filter(wanted).cloned().collect();
        found.sort_by_key(|tenet| (items.made_by(tenet.id), tenet.id));
        found
    })
}

/// Contradicting facts.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conflict {
    /// The contested fact.
    pub contested: FactShown,
    /// The facts it contradicts: those that hold in the same slot.
    pub against: Vec<FactShown>,
    /// The review about the conflict, if any.
    pub review: Option<ItemId>,
    /// The question of the review.
    pub question: Option<String>,
}

/// Lists contested facts with both sides, and the question that would settle each.
///
/// # Errors
/// `NotFound` if there is no such user.
pub fn conflicts(engine: &Engine, user: &UserId) -> Result<Vec<Conflict>> {
    let open = engine.open(user)?;
    let state = open.read();
    let items = state.memory.items();
    let contested = items.facts().filter(|fact| fact.status == FactStatus::Contested && !items.is_hidden(fact.id));
    let conflict = |fact: &Fact| {
        let asking = items.waiting_about(fact.id).next();
        let named = asking.and_then(|review| items.rival(review));
        let held = items.in_slot(&fact.slot).filter(|held| held.is_active() && held.single);
        let mut against: Vec<&Fact> = named.into_iter().chain(held).collect();
        against.dedup_by_key(|fact| fact.id);
        Conflict {
            contested: FactShown::of(&state.memory, fact),
            against: against.into_iter().map(|fact| FactShown::of(&state.memory, fact)).collect(),
            review: asking.map(|review| review.id),
            question: asking.map(|review| queue::question(engine, items, review)),
        }
    };
    Ok(contested.map(conflict).collect())
}

/// An item of any kind with the events that concern it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ItemHistory {
    /// The item.
    pub id: ItemId,
    /// Its kind.
    pub kind: ItemKind,
    /// Its text.
    pub text: String,
    /// Its status.
    pub standing: String,
    /// The complete item as JSON.
    #[cfg_attr(feature = "schema", schemars(with = "ItemInFull"))]
    pub item: serde_json::Value,
    /// Quotes with their sources.
    pub quotes: Vec<(ItemId, String)>,
    /// How often and when it was shown, as far as recorded.
    #[serde(flatten)]
    pub hits: Hits,
    /// The events that concern it, oldest first.
    pub events: Vec<LogEntry>,
}

/// Returns the history of an item: every event that concerns it, oldest first.
///
/// # Errors
/// `NotFound` if there is no such item.
pub fn history(engine: &Engine, user: &UserId, name: &str) -> Result<ItemHistory> {
    let open = engine.open(user)?;
    let mut writer = open.writer()?;
    let state = open.read();
    let id = items::find_id(&state.memory, name)?;
    let first = match state.memory.get(id) {
        Some(held) => held.seq,
        None => state.memory.items().made_by(id).unwrap_or(1),
    };
    let mut events = Vec::new();
    writer.ledger.read(first..=state.memory.seq(), &mut |sealed| {
        if let Ok(event) = quipu_core::ledger::open(&sealed)
            && event.changes.iter().flatten().any(|change| change.is_about(id))
        {
            events.push(log::entry(&state, &event));
        }
        true
    })?;
    let ItemView { id, kind, text, standing, item, marks: _, quotes, hits } = look_at(&state.memory, id)?;
    Ok(ItemHistory { id, kind, text, standing, item, quotes, hits, events })
}

/// An item of any kind.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ItemView {
    /// The item.
    pub id: ItemId,
    /// Its kind.
    pub kind: ItemKind,
    /// Its text.
    pub text: String,
    /// Its status.
    pub standing: String,
    /// Pin and rating.
    pub marks: Marks,
    /// The complete item as JSON.
    #[cfg_attr(feature = "schema", schemars(with = "ItemInFull"))]
    pub item: serde_json::Value,
    /// Quotes with their sources.
    pub quotes: Vec<(ItemId, String)>,
    /// How often and when it was shown, as far as recorded.
    #[serde(flatten)]
    pub hits: Hits,
}

/// Returns an item of any kind at a version, by id, unique prefix or native id.
///
/// # Errors
/// `NotFound` if nothing matches; `Invalid` if several items do.
pub fn look(engine: &Engine, user: &UserId, name: &str, at: When) -> Result<ItemView> {
    let open = engine.open(user)?;
    seen(&open, Some(at), |memory| look_at(memory, items::find_id(memory, name)?))?
}

fn look_at(memory: &Memory, id: ItemId) -> Result<ItemView> {
    let (text, standing, item) = match memory.get(id) {
        Some(held) => (held.source.text.to_string(), "recorded".to_owned(), to_json(&items::Item::of(memory, held))?),
        None => {
            let found = memory.items();
            (found.text(id).unwrap_or_default().to_owned(), found.standing(id), whole(memory, id)?)
        }
    };
    let evidence = memory.items().fact(id).map(|fact| fact.evidence.clone());
    let evidence = evidence.or_else(|| memory.items().task(id).map(|task| task.evidence.clone()));
    let entry = || memory.items().sessions().entry(id).map(|entry| entry.truth.evidence.clone());
    let quotes = quotes(memory, &evidence.or_else(entry).unwrap_or_default());
    let hits = memory.items().hits(id);
    Ok(ItemView { id, kind: id.kind, text, standing, marks: memory.marks(id), item, quotes, hits })
}

/// The complete derived item as JSON.
fn whole(memory: &Memory, id: ItemId) -> Result<serde_json::Value> {
    let items = memory.items();
    match id.kind {
        ItemKind::Fact => to_json(&items.fact(id).map(|fact| FactShown::of(memory, fact))),
        ItemKind::Episode => to_json(&items.episode(id)),
        ItemKind::Task => to_json(&items.task(id)),
        ItemKind::Note => to_json(&items.note(id)),
        ItemKind::Tenet => to_json(&items.tenet(id)),
        ItemKind::Truth => to_json(&items.sessions().entry(id)),
        _ => to_json(&items.review(id)),
    }
}

/// An item in full: its fields depend on its kind.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "it describes what `look_at` writes")]
enum ItemInFull {
    Source(items::Item),
    Fact(Box<FactShown>),
    Episode(Episode),
    Task(Task),
    Note(Note),
    Tenet(Tenet),
    Review(quipu_core::item::Review),
    Truth(quipu_core::session::BaseTruthEntry),
}

fn to_json(value: &impl Serialize) -> Result<serde_json::Value> {
    serde_json::to_value(value).map_err(|error| Error::Bug(format!("an item cannot be written as JSON: {error}")))
}

/// The question that ends the message before a quote, if somebody else asked it and the quote is at the beginning of
/// its message.
fn asked(memory: &Memory, quoted: &Evidence) -> Option<(ItemId, String)> {
    let own = &memory.get(quoted.source)?.source;
    let lead = own.text.get(..quoted.start as usize)?;
    let before = &memory.neighbours(quoted.source).0?.source;
    let answers = lead.split_whitespace().nth(ANSWER_LEAD_WORDS_MAX).is_none() && before.speaker() != own.speaker();
    (answers && pack::is_question(&before.text)).then(|| (before.id, pack::question_in(&before.text).text))
}
