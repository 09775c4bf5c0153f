//! Global memory: a bounded summary of all topics, built by rules from the topic memories alone.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::rows::{FactRow, NoteRow, TenetRow};
use super::schema::{GLOBAL_MEMORY, to_page};
use super::topic::{State, TopicMemory, clip, rank, worth};
use crate::extract::REMARK;
use crate::id::{ItemId, UserId};
use crate::item::{FactType, TenetKind, stretch};
use crate::limit;
use crate::predicate::normal;
use crate::refusal::Refusal;

/// `GLOBAL_MEMORY.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GlobalMemory {
    /// `global_memory.v1`.
    pub schema: String,
    /// The user whose memory it is.
    pub user: UserId,
    /// Number of topics.
    pub topics: usize,
    /// Recently active topics, latest first.
    pub active_topics: Vec<Snapshot>,
    /// Facts that must not be forgotten, by tier, then by type.
    pub do_not_forget: Vec<FactGroup>,
    /// Tenets the user confirmed, without those already listed in `do_not_forget`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenets: Vec<TenetLine>,
    /// Notes, best supported first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteLine>,
}

/// A tenet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TenetLine {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: TenetKind,
    /// Its text.
    pub text: String,
    /// The topic's folder.
    pub topic: String,
    /// The display name of the topic.
    pub topic_name: String,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteLine {
    /// Its id.
    pub id: ItemId,
    /// The insight.
    pub text: String,
    /// True if somebody besides its author agreed.
    pub agreed: bool,
    /// The topic's folder.
    pub topic: String,
    /// The display name of the topic.
    pub topic_name: String,
}

/// The current state of a topic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TopicSnapshot"))]
pub struct Snapshot {
    /// Its folder.
    pub topic: String,
    /// Its display name.
    pub name: String,
    /// The day of its latest entry.
    pub last_day: Date,
    /// Number of active facts.
    pub facts: usize,
    /// Its state, shortened.
    pub state: State,
}

/// How important a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "FactTier"))]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Always shown.
    Core,
    /// Shown if there is room.
    Secondary,
}

/// The facts of one tier and type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactGroup {
    /// The tier.
    pub tier: Tier,
    /// The type.
    #[serde(rename = "type")]
    pub fact_type: FactType,
    /// Most important first.
    pub facts: Vec<PermanentFact>,
}

/// A fact that must not be forgotten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermanentFact {
    /// Its id.
    pub id: ItemId,
    /// The claim.
    pub text: String,
    /// The topic's folder.
    pub topic: String,
    /// The display name of the topic.
    pub topic_name: String,
    /// The score set by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_fact_score: Option<u8>,
    /// Confidence, 0 to 1.
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

/// From this user score on, a fact is in the core tier regardless of its worth.
const SCORE_CORE: u8 = 8;
/// Up to this user score, a fact is left out regardless of its worth.
const SCORE_OUT: u8 = 2;
/// The lowest worth of each tier.
const WORTH: [(Tier, f64); 2] = [(Tier::Core, 0.55), (Tier::Secondary, 0.25)];

/// Locations are listed as identity.
fn type_of(row: &FactRow) -> FactType {
    if row.fact_type == FactType::Location { FactType::Identity } else { row.fact_type }
}

/// The tier of a fact; none if it is left out.
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
    /// Builds the global memory from the topics, in any order.
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
        // Both renderings are bounded: the least important lines are removed first.
        while to_page(&global)?.len() > limit::GLOBAL_MEMORY_BYTES_MAX
            || super::page::global_page(&global).len() > limit::GLOBAL_MEMORY_BYTES_MAX
        {
            if !global.shorten() {
                break;
            }
        }
        Ok(global)
    }

    /// Removes the least important line; false if nothing is left.
    fn shorten(&mut self) -> bool {
        if self.active_topics.len() > limit::GLOBAL_TOPICS_KEPT {
            self.active_topics.pop();
            return true;
        }
        // Keeps half of the notes and tenets as long as there are facts to remove.
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

/// Recently active topics, measured from the newest entry of any topic because there is no clock.
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
    let newest = topics.iter().map(|topic| topic.last_day).max().map(|day| day.to_string()).unwrap_or_default();
    let lasts = |(row, _): &(&FactRow, &TopicMemory)| !is_over(row, &newest) && !is_remark(row);
    let mut rows: Vec<(&FactRow, &TopicMemory)> =
        topics.iter().flat_map(|topic| topic.facts.iter().map(move |row| (row, topic))).filter(lasts).collect();
    rows.sort_by(|(one, _), (other, _)| rank(other).cmp(&rank(one)).then(one.id.cmp(&other.id)));
    let mut groups: Vec<FactGroup> = Vec::new();
    // Each text is listed once.
    let mut said: BTreeSet<String> = BTreeSet::new();
    let caps = [(Tier::Core, limit::CORE_FACTS_PER_TYPE), (Tier::Secondary, limit::SECONDARY_FACTS_PER_TYPE)];
    for (place, cap) in caps {
        for fact_type in TYPES {
            // Facts that did not fit into the core tier come first in the secondary one.
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

/// True for an appointment or a plan whose day, month or year is before the newest day of any topic.
fn is_over(row: &FactRow, newest: &str) -> bool {
    let ends_before = |time: &Timestamp| {
        let stretch = stretch(*time);
        newest.get(..stretch.len()).is_some_and(|now| stretch.as_str() < now)
    };
    row.fact_type == FactType::Commitment && row.valid_from.as_ref().is_some_and(ends_before)
}

/// True for a remark that nobody pinned or scored: it tells of one day and nothing that lasts.
fn is_remark(row: &FactRow) -> bool {
    row.relation == REMARK && !row.pinned && row.user_fact_score.is_none()
}

fn kept(row: &FactRow, topic: &TopicMemory) -> PermanentFact {
    let day = row.valid_from.filter(|_| row.fact_type == FactType::Commitment).map(stretch);
    let text = day.map_or_else(|| row.text.clone(), |day| format!("{} ({day})", row.text));
    PermanentFact {
        id: row.id,
        text: clip(&text, limit::ARTIFACT_LINE_BYTES_MAX),
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
