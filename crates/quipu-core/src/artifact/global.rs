//! Global memory: what all topics add up to, bounded. Made from the topic memories alone, by rules.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::rows::{FactRow, NoteRow, TenetRow};
use super::schema::{GLOBAL_MEMORY, to_page};
use super::topic::{State, TopicMemory, clip, rank, worth};
use crate::id::{ItemId, UserId};
use crate::item::{FactType, TenetKind};
use crate::limit;
use crate::predicate::normal;
use crate::refusal::Refusal;

/// `GLOBAL_MEMORY.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GlobalMemory {
    /// `global_memory.v1`.
    pub schema: String,
    /// Whose memory.
    pub user: UserId,
    /// How many topics there are in all.
    pub topics: usize,
    /// What is going on, the latest first.
    pub active_topics: Vec<Snapshot>,
    /// What must not be forgotten: by tier, then by type.
    pub do_not_forget: Vec<FactGroup>,
    /// What the user confirmed to live by, unless it stands among what must not be forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenets: Vec<TenetLine>,
    /// What was learned about the person, first what more stands behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteLine>,
}

/// A line of the self-model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TenetLine {
    /// Its name.
    pub id: ItemId,
    /// What it is.
    pub kind: TenetKind,
    /// The line.
    pub text: String,
    /// The topic's folder.
    pub topic: String,
    /// What the topic is called.
    pub topic_name: String,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoteLine {
    /// Its name.
    pub id: ItemId,
    /// The insight.
    pub text: String,
    /// True if more than its author stands behind it.
    pub agreed: bool,
    /// The topic's folder.
    pub topic: String,
    /// What the topic is called.
    pub topic_name: String,
}

/// A topic as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Its folder.
    pub topic: String,
    /// What it is called.
    pub name: String,
    /// The day of its latest entry.
    pub last_day: Date,
    /// How many facts hold in it.
    pub facts: usize,
    /// Where it stands, shortened.
    pub state: State,
}

/// How dear a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Always to be kept in mind.
    Core,
    /// Good to know.
    Secondary,
}

/// The facts of one tier and type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactGroup {
    /// How dear.
    pub tier: Tier,
    /// What they are about.
    #[serde(rename = "type")]
    pub fact_type: FactType,
    /// What matters most first.
    pub facts: Vec<PermanentFact>,
}

/// A fact that must not be forgotten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermanentFact {
    /// Its name.
    pub id: ItemId,
    /// The claim.
    pub text: String,
    /// The topic's folder.
    pub topic: String,
    /// What the topic is called.
    pub topic_name: String,
    /// What the user gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_fact_score: Option<u8>,
    /// How sure, 0 to 1.
    pub confidence: f64,
}

/// The types, in the order they are shown.
const TYPES: [FactType; 6] = [
    FactType::Identity,
    FactType::Commitment,
    FactType::Constraint,
    FactType::Preference,
    FactType::Trait,
    FactType::Event,
];

/// From this score of the user's on, a fact is dear whatever the rules say.
const SCORE_CORE: u8 = 8;
/// Up to this score it is left out, whatever they say.
const SCORE_OUT: u8 = 2;
/// Worth from which a fact is dear, and from which it is good to know.
const WORTH: [(Tier, f64); 2] = [(Tier::Core, 0.55), (Tier::Secondary, 0.25)];

/// Where one lives is part of who one is.
fn type_of(row: &FactRow) -> FactType {
    if row.fact_type == FactType::Location { FactType::Identity } else { row.fact_type }
}

/// The tier of a fact; none if it may be forgotten here.
fn tier(row: &FactRow) -> Option<Tier> {
    match row.user_fact_score {
        Some(score) if score >= SCORE_CORE => Some(Tier::Core),
        Some(score) if score <= SCORE_OUT => None,
        Some(_) => Some(Tier::Secondary),
        None if row.pinned => Some(Tier::Core),
        None => WORTH.iter().find(|(_, from)| worth(row) >= *from).map(|(tier, _)| *tier),
    }
}

impl GlobalMemory {
    /// Chooses from the topics, in whatever order they come.
    ///
    /// # Errors
    /// `Invalid` if it cannot be written as JSON.
    pub fn build(user: &UserId, topics: &[TopicMemory]) -> Result<Self, Refusal> {
        let do_not_forget = dear(topics);
        let mut global = Self {
            schema: GLOBAL_MEMORY.id(),
            user: user.clone(),
            topics: topics.len(),
            active_topics: active(topics),
            tenets: lives_by(topics, &do_not_forget),
            notes: learned(topics),
            do_not_forget,
        };
        // The pages are bounded as a whole: what matters least goes first.
        while to_page(&global)?.len() > limit::GLOBAL_MEMORY_BYTES_MAX
            || super::page::global_page(&global).len() > limit::GLOBAL_MEMORY_BYTES_MAX
        {
            if !global.shorten() {
                break;
            }
        }
        Ok(global)
    }

    /// Takes out what matters least; false if nothing is left.
    fn shorten(&mut self) -> bool {
        if self.active_topics.len() > limit::GLOBAL_TOPICS_KEPT {
            self.active_topics.pop();
            return true;
        }
        // Of what was learned, half stays as long as there are facts to leave out.
        for kept in [limit::GLOBAL_LEARNED_MAX / 2, 0] {
            if kept == 0 && !self.do_not_forget.is_empty() {
                break;
            }
            if self.notes.len() > kept {
                self.notes.pop();
                return true;
            }
            if self.tenets.len() > kept {
                self.tenets.pop();
                return true;
            }
        }
        let largest = self.do_not_forget.iter_mut().rev().max_by_key(|group| (group.tier, group.facts.len()));
        if let Some(group) = largest {
            group.facts.pop();
            self.do_not_forget.retain(|group| !group.facts.is_empty());
            return true;
        }
        self.active_topics.pop().is_some()
    }
}

/// Topics with something new, next to the newest of all: there is no clock here.
fn active(topics: &[TopicMemory]) -> Vec<Snapshot> {
    let Some(newest) = topics.iter().map(|topic| topic.last_day).max() else { return Vec::new() };
    let from = newest.checked_sub(jiff::Span::new().days(limit::GLOBAL_ACTIVE_DAYS)).unwrap_or(newest);
    let mut chosen: Vec<&TopicMemory> =
        topics.iter().filter(|topic| topic.last_day >= from && !topic.is_idle()).collect();
    chosen.sort_by(|one, other| {
        let key = |topic: &TopicMemory| (topic.last_day, topic.facts.len());
        key(other).cmp(&key(one)).then_with(|| one.topic.cmp(&other.topic))
    });
    chosen.truncate(limit::GLOBAL_TOPICS_MAX);
    chosen.into_iter().map(snapshot).collect()
}

fn snapshot(topic: &TopicMemory) -> Snapshot {
    let short = |lines: &[String]| lines.iter().take(3).cloned().collect::<Vec<String>>();
    let state = &topic.state;
    Snapshot {
        topic: topic.topic.clone(),
        name: clip(&topic.name, 60),
        last_day: topic.last_day,
        facts: topic.facts.len() + topic.facts_left_out,
        state: State {
            summary: state.summary.clone(),
            bounds: short(&state.bounds),
            open_questions: short(&state.open_questions),
            next_actions: short(&state.next_actions),
        },
    }
}

fn dear(topics: &[TopicMemory]) -> Vec<FactGroup> {
    let mut rows: Vec<(&FactRow, &TopicMemory)> =
        topics.iter().flat_map(|topic| topic.facts.iter().map(move |row| (row, topic))).collect();
    rows.sort_by(|(one, _), (other, _)| rank(other).cmp(&rank(one)).then(one.id.cmp(&other.id)));
    let mut groups: Vec<FactGroup> = Vec::new();
    // One line says a thing, whatever it was read from.
    let mut said: BTreeSet<String> = BTreeSet::new();
    let caps = [(Tier::Core, limit::CORE_FACTS_PER_TYPE), (Tier::Secondary, limit::SECONDARY_FACTS_PER_TYPE)];
    for (place, cap) in caps {
        for fact_type in TYPES {
            // What the first tier had no room for comes first in the second.
            let fits = |row: &FactRow| tier(row).is_some_and(|tier| tier <= place) && type_of(row) == fact_type;
            let fresh = rows.iter().filter(|(row, _)| fits(row) && said.insert(normal(&row.text)));
            let facts: Vec<PermanentFact> = fresh.take(cap).map(|(row, topic)| kept(row, topic)).collect();
            if !facts.is_empty() {
                groups.push(FactGroup { tier: place, fact_type, facts });
            }
        }
    }
    groups
}

fn kept(row: &FactRow, topic: &TopicMemory) -> PermanentFact {
    PermanentFact {
        id: row.id,
        text: clip(&row.text, limit::ARTIFACT_LINE_BYTES_MAX),
        topic: topic.topic.clone(),
        topic_name: clip(&topic.name, 60),
        user_fact_score: row.user_fact_score,
        confidence: row.confidence,
    }
}

fn lives_by(topics: &[TopicMemory], kept: &[FactGroup]) -> Vec<TenetLine> {
    let mut rows: Vec<(&TenetRow, &TopicMemory)> =
        topics.iter().flat_map(|topic| topic.tenets.iter().map(move |row| (row, topic))).collect();
    rows.sort_by_key(|(row, _)| (!row.pinned, row.kind, row.id));
    let above = kept.iter().flat_map(|group| &group.facts);
    let mut said: BTreeSet<String> = above.map(|fact| normal(&fact.text)).collect();
    let fresh = rows.into_iter().filter(|(row, _)| said.insert(normal(&row.text)));
    let shown = |(row, topic): (&TenetRow, &TopicMemory)| TenetLine {
        id: row.id,
        kind: row.kind,
        text: clip(&row.text, limit::ARTIFACT_LINE_BYTES_MAX),
        topic: topic.topic.clone(),
        topic_name: clip(&topic.name, 60),
    };
    fresh.take(limit::GLOBAL_LEARNED_MAX).map(shown).collect()
}

fn learned(topics: &[TopicMemory]) -> Vec<NoteLine> {
    let mut rows: Vec<(&NoteRow, &TopicMemory)> =
        topics.iter().flat_map(|topic| topic.notes.iter().map(move |row| (row, topic))).collect();
    rows.sort_by_key(|(row, _)| (!row.pinned, !row.agreed, std::cmp::Reverse(row.votes), row.id));
    let mut said: BTreeSet<String> = BTreeSet::new();
    let fresh = rows.into_iter().filter(|(row, _)| said.insert(normal(&row.text)));
    let shown = |(row, topic): (&NoteRow, &TopicMemory)| NoteLine {
        id: row.id,
        text: clip(&row.text, limit::ARTIFACT_LINE_BYTES_MAX),
        agreed: row.agreed,
        topic: topic.topic.clone(),
        topic_name: clip(&topic.name, 60),
    };
    fresh.take(limit::GLOBAL_LEARNED_MAX).map(shown).collect()
}
