//! Entries: what was recorded on one day about one topic and one day.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::name::Slug;
use super::rows::{EpisodeRow, FactRow, NoteRow, QuestionRow, TaskRow, TenetRow};
use crate::id::{ItemId, Seq};
use crate::source::Source;

/// An entry before it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactEntry {
    /// The topic's folder.
    pub topic: Slug,
    /// Its `meta.json`.
    pub meta: Meta,
    /// Its `summary.json`.
    pub summary: Summary,
    /// The sources, in the order of recording.
    pub words: Vec<Source>,
}

/// `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// `entry_meta.v1`.
    pub schema: String,
    /// The entry's folder: the day, with a number from the second entry of that day on.
    pub entry_id: String,
    /// The topic's folder.
    pub topic: String,
    /// The display name of the topic.
    pub topic_name: String,
    /// The day the sources are about.
    pub day: Date,
    /// The day they were recorded.
    pub recorded_on: Date,
    /// Start of the entry: the earliest `said_at`, or else the first moment of recording.
    pub entry_ts: Timestamp,
    /// The first event of the day of recording.
    pub seq_first: Seq,
    /// The last event that contributed to it.
    pub seq_last: Seq,
    /// The sources in it.
    pub sources: Vec<SourceLine>,
}

/// A source in an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceLine {
    /// Its id.
    pub id: ItemId,
    /// The conversation or file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Who spoke.
    pub speaker: String,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
    /// Hash of the text, speaker and time.
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

/// `summary.json`: the items the entry touched, as they were when it was closed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// `entry_summary.v1`.
    pub schema: String,
    /// The entry's folder.
    pub entry_id: String,
    /// The topic's folder.
    pub topic: String,
    /// The display name of the topic.
    pub topic_name: String,
    /// The day the sources are about.
    pub day: Date,
    /// The first event of the day of recording. Entries recorded later take precedence.
    pub seq_first: Seq,
    /// Start of the entry.
    pub entry_ts: Timestamp,
    /// Number of sources.
    pub sources: usize,
    /// Facts recorded or changed.
    pub facts: Vec<FactRow>,
    /// Episodes recorded.
    pub episodes: Vec<EpisodeRow>,
    /// Tasks created or changed.
    pub tasks: Vec<TaskRow>,
    /// Reviews opened or decided.
    pub questions: Vec<QuestionRow>,
    /// Notes recorded, seconded or retracted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteRow>,
    /// Tenets recorded or decided on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenets: Vec<TenetRow>,
}
