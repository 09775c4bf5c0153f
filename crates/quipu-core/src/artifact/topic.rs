//! Topic memory: combines the entries of one topic, from their summaries alone.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::entry::Summary;
use super::markdown::day;
use super::name::Slug;
use super::page::capitalised;
use super::rows::{EpisodeRow, FactRow, NoteRow, QuestionRow, TaskRow, TenetRow};
use super::schema::TOPIC_MEMORY;
use super::{gather, sentences};
use crate::id::ItemId;
use crate::item::{FactStatus, TenetStatus};
use crate::limit;

/// `topic_memory.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopicMemory {
    /// `topic_memory.v1`.
    pub schema: String,
    /// The topic's folder.
    pub topic: String,
    /// Its display name.
    pub name: String,
    /// Number of entries.
    pub entries: usize,
    /// The day of the earliest.
    pub first_day: Date,
    /// The day of the latest.
    pub last_day: Date,
    /// Its state, for people; nothing is decided by it.
    pub state: State,
    /// Active facts, most important first.
    pub facts: Vec<FactRow>,
    /// Number of facts beyond the limit; only the entries contain them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub facts_left_out: usize,
    /// Superseded facts, latest first.
    pub earlier: Vec<FactRow>,
    /// Tenets the user confirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenets: Vec<TenetRow>,
    /// Notes, best supported first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteRow>,
    /// The newest episodes, without idle talk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stories: Vec<EpisodeRow>,
    /// The newest entries.
    pub latest: Vec<EntryLine>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// The state of a topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TopicState"))]
pub struct State {
    /// The topic in a few sentences.
    pub summary: String,
    /// The extent of its sources, and what is left out.
    pub bounds: Vec<String>,
    /// Questions of waiting reviews.
    pub open_questions: Vec<String>,
    /// Open tasks.
    pub next_actions: Vec<String>,
}

/// An entry in a topic's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryLine {
    /// Its folder.
    pub entry_id: String,
    /// Its day.
    pub day: Date,
    /// Number of sources.
    pub sources: usize,
    /// Number of facts recorded or changed.
    pub facts: usize,
    /// True if it is still open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

/// The latest row of every item in the entries of a topic.
struct TopicView {
    facts: BTreeMap<ItemId, FactRow>,
    episodes: BTreeMap<ItemId, EpisodeRow>,
    tasks: BTreeMap<ItemId, TaskRow>,
    questions: BTreeMap<ItemId, QuestionRow>,
    notes: BTreeMap<ItemId, NoteRow>,
    tenets: BTreeMap<ItemId, TenetRow>,
}

/// Least importance of an episode that is not idle talk.
const TELLING: u8 = 4;

impl TopicMemory {
    /// True for a default topic from which nothing was derived: it has entries, but is left out of the global page.
    pub fn is_idle(&self) -> bool {
        let state = &self.state;
        gather::HOMES.contains(&self.topic.as_str())
            && self.facts.is_empty()
            && self.stories.is_empty()
            && state.summary.is_empty()
            && state.open_questions.is_empty()
            && state.next_actions.is_empty()
    }

    /// Builds a topic memory from the summaries of its entries, in any order; the flag is true for open entries. None
    /// without entries.
    pub fn build(topic: &Slug, mut entries: Vec<(Summary, bool)>) -> Option<Self> {
        entries.sort_by(|(one, _), (other, _)| {
            (one.seq_first, one.day, &one.entry_id).cmp(&(other.seq_first, other.day, &other.entry_id))
        });
        let name = entries.first()?.0.topic_name.clone();
        let days = || entries.iter().map(|(entry, _)| entry.day);
        let (first_day, last_day) = (days().min()?, days().max()?);
        let latest = latest(&entries);
        let count = entries.len();
        let told = TopicView::by(entries.into_iter().map(|(entry, _)| entry));
        let mut facts: Vec<FactRow> =
            told.facts.values().filter(|row| row.status == FactStatus::Active).cloned().collect();
        facts.sort_by(|one, other| rank(other).cmp(&rank(one)).then(one.id.cmp(&other.id)));
        let unsettled = told.facts.values().filter(|row| is_unsettled(row)).count();
        let mut earlier: Vec<FactRow> =
            told.facts.values().filter(|row| row.status == FactStatus::Superseded).cloned().collect();
        earlier.sort_by_key(|row| (std::cmp::Reverse(row.valid_to), row.id));
        earlier.truncate(limit::TOPIC_EARLIER_MAX);
        let state = told.state(&facts, count, (first_day, last_day), unsettled);
        let facts_left_out = facts.len().saturating_sub(limit::TOPIC_FACTS_MAX);
        facts.truncate(limit::TOPIC_FACTS_MAX);
        let (tenets, notes, stories) = (told.lives_by(), told.learned(), told.stories());
        Some(Self {
            schema: TOPIC_MEMORY.id(),
            topic: topic.to_string(),
            name,
            entries: count,
            first_day,
            last_day,
            state,
            facts,
            facts_left_out,
            earlier,
            tenets,
            notes,
            stories,
            latest,
        })
    }
}

fn is_unsettled(row: &FactRow) -> bool {
    matches!(row.status, FactStatus::Contested | FactStatus::Uncertain)
}

fn latest(entries: &[(Summary, bool)]) -> Vec<EntryLine> {
    // Entries without sources or facts of their own are not listed.
    let mut lines: Vec<EntryLine> = entries
        .iter()
        .filter(|(entry, _)| entry.sources + entry.facts.len() > 0)
        .map(|(entry, open)| EntryLine {
            entry_id: entry.entry_id.clone(),
            day: entry.day,
            sources: entry.sources,
            facts: entry.facts.len(),
            open: *open,
        })
        .collect();
    // The sort is stable: entries of one day stay in the order of recording.
    lines.sort_by_key(|line| line.day);
    lines.reverse();
    lines.truncate(limit::TOPIC_ENTRIES_LISTED);
    lines
}

/// Sort key of facts: the user's score, then the pin, then worth, then how often it was said.
pub(super) fn rank(row: &FactRow) -> (u8, bool, u32, u32) {
    // Without a score a fact counts as average.
    (row.user_fact_score.unwrap_or(5), row.pinned, (worth(row) * 10_000.0).round() as u32, row.seen_count)
}

/// Worth of a fact, 0 to 1: importance × confidence.
pub(super) fn worth(row: &FactRow) -> f64 {
    row.importance.clamp(0.0, 1.0) * row.confidence.clamp(0.0, 1.0)
}

impl TopicView {
    fn by(entries: impl Iterator<Item = Summary>) -> Self {
        let mut told = Self {
            facts: BTreeMap::new(),
            episodes: BTreeMap::new(),
            tasks: BTreeMap::new(),
            questions: BTreeMap::new(),
            notes: BTreeMap::new(),
            tenets: BTreeMap::new(),
        };
        for entry in entries {
            for mut row in entry.facts {
                let first = told.facts.get(&row.id).map(|known| (known.entry_id.clone(), known.entry_ts));
                (row.entry_id, row.entry_ts) = first.unwrap_or((Some(entry.entry_id.clone()), Some(entry.entry_ts)));
                told.facts.insert(row.id, row);
            }
            told.episodes.extend(entry.episodes.into_iter().map(|row| (row.id, row)));
            told.tasks.extend(entry.tasks.into_iter().map(|row| (row.id, row)));
            told.questions.extend(entry.questions.into_iter().map(|row| (row.id, row)));
            told.notes.extend(entry.notes.into_iter().map(|row| (row.id, row)));
            told.tenets.extend(entry.tenets.into_iter().map(|row| (row.id, row)));
        }
        told
    }

    fn state(&self, facts: &[FactRow], entries: usize, days: (Date, Date), unsettled: usize) -> State {
        let (first, last) = days;
        let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
        let span =
            if first == last { format!("of {}", day(first)) } else { format!("{} to {}", day(first), day(last)) };
        let mut bounds = vec![format!("Rests on {entries}, {span}.")];
        if unsettled > 0 {
            let are = if unsettled == 1 { "1 statement is" } else { &format!("{unsettled} statements are") };
            bounds.push(format!("{are} not settled and left out."));
        }
        let mut questions: Vec<&QuestionRow> = self.questions.values().filter(|row| row.waits).collect();
        questions.sort_by_key(|row| row.id);
        let mut tasks: Vec<&TaskRow> = self.tasks.values().filter(|row| row.is_to_do()).collect();
        tasks.sort_by_key(|row| (row.due.is_none(), row.due, std::cmp::Reverse(row.priority), row.id));
        let actions: Vec<String> = tasks.iter().map(|row| action(row)).collect();
        State {
            summary: self.summary(facts),
            bounds,
            open_questions: once(questions.iter().map(|row| row.question.as_str()), limit::TOPIC_QUESTIONS_MAX),
            next_actions: once(actions.iter().map(String::as_str), limit::TOPIC_ACTIONS_MAX),
        }
    }

    /// Sentences from the most important facts, or else the summary of the latest episode. Empty for idle talk.
    fn summary(&self, facts: &[FactRow]) -> String {
        if !facts.is_empty() {
            return sentences::told(facts, limit::ARTIFACT_LINE_BYTES_MAX);
        }
        let newest = self.stories().into_iter().next();
        newest.map_or_else(String::new, |row| sentences::whole(&row.summary, limit::ARTIFACT_LINE_BYTES_MAX).to_owned())
    }

    /// The latest episodes that are not idle talk.
    fn stories(&self) -> Vec<EpisodeRow> {
        let mut rows: Vec<&EpisodeRow> =
            self.episodes.values().filter(|row| !row.gone && row.importance >= TELLING).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.start, row.id)));
        // Episodes without one whole sentence are left to their entries.
        let told = rows.into_iter().filter(|row| !sentences::whole(&row.summary, usize::MAX).is_empty());
        told.take(limit::TOPIC_STORIES_MAX).cloned().collect()
    }

    /// The confirmed tenets.
    fn lives_by(&self) -> Vec<TenetRow> {
        let mut rows: Vec<&TenetRow> =
            self.tenets.values().filter(|row| row.status == TenetStatus::Confirmed).collect();
        rows.sort_by_key(|row| (!row.pinned, row.kind, row.id));
        rows.into_iter().take(limit::TOPIC_LEARNED_MAX).cloned().collect()
    }

    fn learned(&self) -> Vec<NoteRow> {
        let mut rows: Vec<&NoteRow> = self.notes.values().filter(|row| !row.gone).collect();
        rows.sort_by_key(|row| (!row.pinned, !row.agreed, std::cmp::Reverse(row.votes), row.id));
        rows.into_iter().take(limit::TOPIC_LEARNED_MAX).cloned().collect()
    }
}

/// Lines shortened to the limit, without duplicates.
fn once<'a>(lines: impl Iterator<Item = &'a str>, most: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in lines.map(|line| clip(line, limit::ARTIFACT_LINE_BYTES_MAX)) {
        if all.len() < most && !all.contains(&line) {
            all.push(line);
        }
    }
    all
}

fn action(row: &TaskRow) -> String {
    let title = capitalised(row.title.trim().trim_end_matches('.'));
    let due = row.due.map(|due: Timestamp| format!(", due {}", super::markdown::day_of(due)));
    let tried = match row.attempts {
        0 => String::new(),
        1 => ", tried once".to_owned(),
        2 => ", tried twice".to_owned(),
        more => format!(", tried {more} times"),
    };
    format!("{title}{}{tried}", due.unwrap_or_default())
}

/// Shortens a text to `most` bytes, at a word boundary if possible.
pub(super) fn clip(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = text[..end].rfind(char::is_whitespace).filter(|&at| at > end / 2).unwrap_or(end);
    format!("{}…", text[..cut].trim_end())
}
