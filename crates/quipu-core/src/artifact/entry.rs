//! An entry: what was said and read about one topic, of one day, recorded on one day.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::name::Slug;
use super::rows::{EpisodeRow, FactRow, NoteRow, QuestionRow, TaskRow, TenetRow};
use crate::id::{ItemId, Seq};
use crate::source::Source;

/// One entry before it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactEntry {
    /// The topic's folder.
    pub topic: Slug,
    /// What it is.
    pub meta: Meta,
    /// What it says.
    pub summary: Summary,
    /// The words, in the order they were recorded.
    pub words: Vec<Source>,
}

/// `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// `entry_meta.v1`.
    pub schema: String,
    /// The entry's folder: its day, and a number if there are more of that day.
    pub entry_id: String,
    /// The topic's folder.
    pub topic: String,
    /// What the topic is called.
    pub topic_name: String,
    /// The day the words are of.
    pub day: Date,
    /// The day they were recorded.
    pub recorded_on: Date,
    /// When it began: the earliest that was said, else the first moment something was recorded.
    pub entry_ts: Timestamp,
    /// The first event of the day of recording.
    pub seq_first: Seq,
    /// The last one that told something here.
    pub seq_last: Seq,
    /// Where the words come from.
    pub sources: Vec<SourceLine>,
}

/// A source an entry holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceLine {
    /// Its name.
    pub id: ItemId,
    /// The conversation or file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Who spoke.
    pub speaker: String,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
    /// Hash of everything that was said, by whom and when.
    pub content_hash: String,
}

impl SourceLine {
    pub(super) fn of(source: &Source) -> Self {
        Self {
            id: source.id,
            session_id: source.session.as_deref().map(str::to_owned),
            speaker: source.speaker().to_owned(),
            said_at: source.said_at,
            content_hash: source.content_hash().to_hex().to_string(),
        }
    }
}

/// `summary.json`: how everything the entry touched stood when it was closed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// `entry_summary.v1`.
    pub schema: String,
    /// The entry's folder.
    pub entry_id: String,
    /// The topic's folder.
    pub topic: String,
    /// What the topic is called.
    pub topic_name: String,
    /// The day the words are of.
    pub day: Date,
    /// The first event of the day of recording: what was recorded later goes over what was recorded earlier.
    pub seq_first: Seq,
    /// When it began.
    pub entry_ts: Timestamp,
    /// How many sources it holds.
    pub sources: usize,
    /// Facts told or changed.
    pub facts: Vec<FactRow>,
    /// Stories told.
    pub episodes: Vec<EpisodeRow>,
    /// Tasks that came up or moved on.
    pub tasks: Vec<TaskRow>,
    /// What was asked or decided.
    pub questions: Vec<QuestionRow>,
    /// What was learned, or agreed with, or taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteRow>,
    /// Lines of the self-model that came up or were decided on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenets: Vec<TenetRow>,
}
