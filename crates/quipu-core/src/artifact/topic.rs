//! Topic memory: what the entries of one topic add up to. Made from their summaries alone.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::entry::Summary;
use super::markdown::day;
use super::name::Slug;
use super::rows::{EpisodeRow, FactRow, QuestionRow, TaskRow};
use super::schema::TOPIC_MEMORY;
use crate::id::ItemId;
use crate::item::FactStatus;
use crate::limit;

/// `topic_memory.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicMemory {
    /// `topic_memory.v1`.
    pub schema: String,
    /// The topic's folder.
    pub topic: String,
    /// What it is called.
    pub name: String,
    /// How many entries it has.
    pub entries: usize,
    /// The day of the earliest.
    pub first_day: Date,
    /// The day of the latest.
    pub last_day: Date,
    /// Where it stands, for people; never what anything is decided by.
    pub state: State,
    /// What holds, first what matters most.
    pub facts: Vec<FactRow>,
    /// Facts beyond the bound, which only the entries tell.
    #[serde(default, skip_serializing_if = "is_none")]
    pub facts_left_out: usize,
    /// What held once, latest first.
    pub earlier: Vec<FactRow>,
    /// The newest entries.
    pub latest: Vec<EntryLine>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Where a topic stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The topic in a few sentences.
    pub summary: String,
    /// What this rests on, and how far it goes.
    pub bounds: Vec<String>,
    /// What is not known yet.
    pub open_questions: Vec<String>,
    /// What is to be done.
    pub next_actions: Vec<String>,
}

/// An entry, as a topic lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryLine {
    /// Its folder.
    pub entry_id: String,
    /// The day it is of.
    pub day: Date,
    /// How many sources it holds.
    pub sources: usize,
    /// How many facts it told or changed.
    pub facts: usize,
    /// True if more may come to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

/// Everything the entries of a topic say, the latest word on each.
struct Told {
    facts: BTreeMap<ItemId, FactRow>,
    episodes: BTreeMap<ItemId, EpisodeRow>,
    tasks: BTreeMap<ItemId, TaskRow>,
    questions: BTreeMap<ItemId, QuestionRow>,
}

impl TopicMemory {
    /// Adds up the summaries of a topic's entries, in whatever order they come; the flag says which are still open. None
    /// without any.
    pub fn build(topic: &Slug, mut entries: Vec<(Summary, bool)>) -> Option<Self> {
        entries.sort_by(|(one, _), (other, _)| {
            (one.seq_first, one.day, &one.entry_id).cmp(&(other.seq_first, other.day, &other.entry_id))
        });
        let name = entries.first()?.0.topic_name.clone();
        let days = || entries.iter().map(|(entry, _)| entry.day);
        let (first_day, last_day) = (days().min()?, days().max()?);
        let latest = latest(&entries);
        let count = entries.len();
        let told = Told::by(entries.into_iter().map(|(entry, _)| entry));
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
            latest,
        })
    }
}

fn is_unsettled(row: &FactRow) -> bool {
    matches!(row.status, FactStatus::Contested | FactStatus::Uncertain)
}

fn latest(entries: &[(Summary, bool)]) -> Vec<EntryLine> {
    let mut lines: Vec<EntryLine> = entries
        .iter()
        .map(|(entry, open)| EntryLine {
            entry_id: entry.entry_id.clone(),
            day: entry.day,
            sources: entry.sources,
            facts: entry.facts.len(),
            open: *open,
        })
        .collect();
    // The lines came in the order of recording, which numbers the entries of one day.
    lines.sort_by_key(|line| line.day);
    lines.reverse();
    lines.truncate(limit::TOPIC_ENTRIES_LISTED);
    lines
}

/// What matters more comes first: the user's own score, what is pinned, then worth.
pub(super) fn rank(row: &FactRow) -> (u8, bool, u32, u32) {
    // Without a score a fact stands in the middle.
    (row.user_fact_score.unwrap_or(5), row.pinned, (worth(row) * 10_000.0).round() as u32, row.seen_count)
}

/// How much a fact matters, 0 to 1.
pub(super) fn worth(row: &FactRow) -> f64 {
    row.importance.clamp(0.0, 1.0) * row.confidence.clamp(0.0, 1.0)
}

impl Told {
    fn by(entries: impl Iterator<Item = Summary>) -> Self {
        let mut told = Self {
            facts: BTreeMap::new(),
            episodes: BTreeMap::new(),
            tasks: BTreeMap::new(),
            questions: BTreeMap::new(),
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
        let mut tasks: Vec<&TaskRow> = self.tasks.values().filter(|row| row.is_open()).collect();
        tasks.sort_by_key(|row| (row.due.is_none(), row.due, std::cmp::Reverse(row.priority), row.id));
        let clipped = |text: &str| clip(text, limit::ARTIFACT_LINE_BYTES_MAX);
        State {
            summary: self.summary(facts),
            bounds,
            open_questions: questions
                .iter()
                .take(limit::TOPIC_QUESTIONS_MAX)
                .map(|row| clipped(&row.question))
                .collect(),
            next_actions: tasks.iter().take(limit::TOPIC_ACTIONS_MAX).map(|row| clipped(&action(row))).collect(),
        }
    }

    /// What matters most, in the words of the facts; else the titles of the latest stories.
    fn summary(&self, facts: &[FactRow]) -> String {
        let sentence = |text: &str| {
            let text = text.trim().trim_end_matches('.');
            format!("{}.", clip(text, limit::ARTIFACT_LINE_BYTES_MAX))
        };
        if !facts.is_empty() {
            return facts.iter().take(3).map(|row| sentence(&row.text)).collect::<Vec<_>>().join(" ");
        }
        let mut stories: Vec<&EpisodeRow> = self.episodes.values().filter(|row| !row.gone).collect();
        stories.sort_by_key(|row| (row.start, row.id));
        let titles: Vec<&str> = stories.iter().rev().take(3).map(|row| row.title.trim_end_matches('.')).collect();
        if titles.is_empty() {
            return "Words only; nothing was read out of them.".to_owned();
        }
        format!("Lately: {}.", clip(&titles.join("; "), 2 * limit::ARTIFACT_LINE_BYTES_MAX))
    }
}

fn action(row: &TaskRow) -> String {
    let title = row.title.trim().trim_end_matches('.');
    let due = row.due.map(|due: Timestamp| format!(", due {}", super::markdown::day_of(due)));
    let tried = match row.attempts {
        0 => String::new(),
        1 => ", tried once".to_owned(),
        more => format!(", tried {more} times"),
    };
    format!("{title}{}{tried}", due.unwrap_or_default())
}

/// A text that fits, cut at a word.
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
