//! The common form of all evaluation files: memories to make, and questions with the turns that answer them.

mod assistant;
mod beam;
mod locomo;

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use quipu_core::id::UserId;
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::{Engine, Error, IngestOptions, RecallOptions, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::heard::MemoryTurns;
use super::locomo as told_locomo;
pub(super) use crate::args::CorpusKind;
use crate::environment::Output;

/// One question.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct EvalQuestion {
    /// Its id: the same for the same file in every run.
    pub(super) id: String,
    /// Its index in its conversation.
    pub(super) number: usize,
    /// Its category, ability or kind.
    pub(super) group: String,
    pub(super) question: String,
    pub(super) answer: Option<String>,
    /// The criteria by which a reply is scored, where the benchmark has them.
    pub(super) rubric: Vec<String>,
    /// The turns that answer it. Empty for unanswerable questions, and where the file names none.
    pub(super) gold: Vec<String>,
    /// Turns that state an earlier or later value than the one asked about.
    pub(super) outdated: Vec<String>,
    /// Whether the conversations answer it.
    pub(super) answerable: bool,
}

/// An everyday request that does not query memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EverydayRequest {
    pub(super) text: String,
    /// Turns that should be respected.
    pub(super) bears: Vec<String>,
}

/// One memory to make, with its questions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EvalSample {
    pub(super) user: UserId,
    /// Chats as `quipu import openai` reads them; empty for LoCoMo, whose own import reads the file.
    chats: Vec<Value>,
    pub(super) asked: Vec<EvalQuestion>,
    pub(super) requests: Vec<EverydayRequest>,
    /// Time between the last turn and the questions.
    later: SignedDuration,
}

/// What was skipped.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct SkippedQuestions {
    /// Questions of LoCoMo's category 5.
    pub(super) category_5: usize,
    /// Ids of evidence that match no turn.
    pub(super) gold_unknown: usize,
}

/// A parsed file.
#[derive(Debug, Clone)]
pub(super) struct Corpus {
    pub(super) kind: CorpusKind,
    pub(super) told: Vec<EvalSample>,
    pub(super) skipped: SkippedQuestions,
    file: PathBuf,
}

/// A memory that is ready to be asked.
pub(super) struct PreparedMemory<'a> {
    pub(super) told: &'a EvalSample,
    pub(super) heard: MemoryTurns,
    /// The time of the questions, to which "two years ago" is relative.
    pub(super) now: Option<Timestamp>,
}

impl PreparedMemory<'_> {
    /// Default options for a question.
    pub(super) fn usual(&self, question: &str) -> RecallOptions {
        RecallOptions { now: self.now, ..RecallOptions::of(question) }
    }

    /// Options that return everything found, to count turns by depth.
    pub(super) fn deep(&self, question: &str) -> RecallOptions {
        RecallOptions { k: quipu_core::limit::RECALL_K_MAX, ..self.usual(question) }
    }
}

impl Corpus {
    /// Reads a file, or a folder of people. Without a kind, the format is detected. `only` selects conversations.
    ///
    /// # Errors
    /// `NotFound` for a missing file or conversation, `Invalid` for an unknown format.
    pub(super) fn open(file: &Path, kind: Option<CorpusKind>, only: &[String]) -> Result<Self> {
        let kind = match kind {
            Some(kind) => kind,
            None => found_out(file)?,
        };
        let mut skipped = SkippedQuestions::default();
        let mut told = match kind {
            CorpusKind::Locomo => locomo::read(file, &mut skipped)?,
            CorpusKind::Beam => beam::read(file, &mut skipped)?,
            CorpusKind::Assistant => assistant::read(file)?,
        };
        if let Some(name) = only.iter().find(|name| !told.iter().any(|one| one.user.as_str() == *name)) {
            return Err(Error::NotFound(format!("{} has no conversation {name:?}", file.display())));
        }
        let mut users = std::collections::BTreeSet::new();
        if let Some(twice) = told.iter().find(|one| !users.insert(&one.user)) {
            return Err(Error::Invalid(format!("{}: {} occurs twice", file.display(), twice.user)));
        }
        told.retain(|one| only.is_empty() || only.iter().any(|name| one.user.as_str() == name));
        if told.is_empty() {
            return Err(Error::Invalid(format!("{} has no conversations", file.display())));
        }
        Ok(Self { kind, told, skipped, file: file.to_owned() })
    }

    /// Keeps only these questions and their conversations.
    pub(super) fn of_questions(&self, is_wanted: impl Fn(&EvalQuestion) -> bool) -> Self {
        let mut part = self.clone();
        part.told.iter_mut().for_each(|told| told.asked.retain(&is_wanted));
        part.told.retain(|told| !told.asked.is_empty());
        part
    }

    /// Makes the memories as `quipu import` does, one user each. Facts are extracted unless it is words only.
    pub(super) fn tell(
        &self,
        engine: &Engine,
        output: &dyn Output,
        words_only: bool,
    ) -> Result<Vec<PreparedMemory<'_>>> {
        if self.kind == CorpusKind::Locomo {
            let names: Vec<String> = self.told.iter().map(|one| one.user.as_str().to_owned()).collect();
            told_locomo::import(engine, output, &self.file, &names, !words_only)?;
        }
        let bar = output.progress();
        self.told
            .iter()
            .map(|told| {
                if !told.chats.is_empty() {
                    import(engine, told, words_only, &mut |progress| bar(progress))?;
                }
                let heard = MemoryTurns::of(engine, &told.user)?;
                let now = heard.end.and_then(|end| end.checked_add(told.later).ok());
                Ok(PreparedMemory { told, heard, now })
            })
            .collect()
    }
}

impl EvalSample {
    /// A sample with this many questions in each group, for tests.
    #[cfg(test)]
    pub(super) fn asking(name: &str, groups: &[&str], each: usize) -> Option<Self> {
        let question = |group: &&str, number: usize| EvalQuestion {
            id: format!("{name}:{group}{number}"),
            group: (*group).to_owned(),
            ..EvalQuestion::default()
        };
        let asked = groups.iter().flat_map(|group| (0..each).map(move |number| question(group, number))).collect();
        let (chats, requests, later) = (Vec::new(), Vec::new(), SignedDuration::ZERO);
        Some(Self { user: UserId::parse(name).ok()?, chats, asked, requests, later })
    }

    /// Inserts chats before the others.
    pub(super) fn precede(&mut self, chats: Vec<Value>) {
        self.chats.splice(0..0, chats);
    }

    /// Time of the first turn.
    pub(super) fn begins(&self) -> Option<Timestamp> {
        self.chats.first()?["messages"][0]["created_at"].as_str()?.parse().ok()
    }
}

/// A chat as one line of a file for `quipu import openai`.
pub(super) fn chat(session: &str, messages: impl Iterator<Item = Value>) -> Value {
    json!({"session_id": session, "messages": messages.collect::<Vec<_>>()})
}

/// One message of a chat.
pub(super) fn message(id: &str, role: &str, said_at: Timestamp, content: &str) -> Value {
    json!({"id": id, "role": role, "created_at": said_at.to_string(), "content": content})
}

fn import(engine: &Engine, told: &EvalSample, words_only: bool, watch: quipu_engine::Watch<'_>) -> Result<()> {
    import_chats(engine, &told.user, &told.chats, words_only, watch)
}

/// Imports all chats at once, as the user's own.
pub(super) fn import_chats(
    engine: &Engine,
    user: &UserId,
    chats: &[Value],
    words_only: bool,
    watch: quipu_engine::Watch<'_>,
) -> Result<()> {
    let options = IngestOptions {
        dry_run: false,
        conversation: None,
        extract: !words_only,
        own_words: true,
        me: None,
        into: Some(user.clone()),
        default_user: user.clone(),
        read: ReadOptions::default(),
    };
    let lines: String = chats.iter().map(|chat| format!("{chat}\n")).collect();
    let given = ("chats.jsonl", lines.as_bytes());
    match quipu_engine::ingest_given(engine, ImportFormat::OpenAi, given, &options, watch) {
        (_, Some(fault)) => Err(fault),
        (report, None) => match report.notices.first() {
            // A missing turn would count as not found.
            Some(notice) => Err(Error::Invalid(format!("{}, {}: {}", user, notice.place, notice.reason))),
            None => Ok(()),
        },
    }
}

/// Reads a JSON file.
fn json_of<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T> {
    let place = file.display();
    let bytes = std::fs::read(file).map_err(|error| Error::NotFound(format!("cannot read {place}: {error}")))?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Invalid(format!("{place}: {error}")))
}

fn found_out(file: &Path) -> Result<CorpusKind> {
    if file.is_dir() {
        return Ok(CorpusKind::Assistant);
    }
    let whole: Value = json_of(file)?;
    let first = whole.get(0).unwrap_or(&whole);
    let has = |member: &str| first.get(member).is_some();
    if has("conversation") {
        Ok(CorpusKind::Locomo)
    } else if has("turns") && has("questions") {
        Ok(CorpusKind::Beam)
    } else if has("sessions") && has("questions") {
        Ok(CorpusKind::Assistant)
    } else {
        let known =
            "LoCoMo's \"conversation\", BEAM's \"turns\" and \"questions\", a person's \"sessions\" and \"questions\"";
        Err(Error::Invalid(format!("{}: unknown format; expected {known}", file.display())))
    }
}

#[cfg(test)]
mod tests;
