//! What evaluations ask, whatever the shape of the file: memories to make, and questions with the turns that answer them.

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
    /// The same for the same file, whatever is found.
    pub(super) id: String,
    /// Its place in its conversation's list.
    pub(super) number: usize,
    /// Its category, ability or kind.
    pub(super) group: String,
    pub(super) question: String,
    pub(super) answer: Option<String>,
    /// What a reply is scored by, line by line, where the benchmark has that.
    pub(super) rubric: Vec<String>,
    /// The turns that answer it. None for what cannot be answered, and where the file names none.
    pub(super) gold: Vec<String>,
    /// Turns with what held before, or after, what is asked about.
    pub(super) outdated: Vec<String>,
    /// Whether the conversations answer it.
    pub(super) answerable: bool,
}

/// An everyday request that asks memory nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EverydayRequest {
    pub(super) text: String,
    /// Turns that should be respected.
    pub(super) bears: Vec<String>,
}

/// One memory to be made, and what is asked of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EvalSample {
    pub(super) user: UserId,
    /// Chats as `quipu import openai` reads them; none for LoCoMo, whose own import reads the file.
    chats: Vec<Value>,
    pub(super) asked: Vec<EvalQuestion>,
    pub(super) requests: Vec<EverydayRequest>,
    /// How long after the last turn it is asked.
    later: SignedDuration,
}

/// What was left out, and why.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct SkippedQuestions {
    /// Questions of LoCoMo's category 5.
    pub(super) category_5: usize,
    /// Ids of evidence that name no turn.
    pub(super) gold_unknown: usize,
}

/// A file, read.
#[derive(Debug, Clone)]
pub(super) struct Corpus {
    pub(super) kind: CorpusKind,
    pub(super) told: Vec<EvalSample>,
    pub(super) skipped: SkippedQuestions,
    file: PathBuf,
}

/// A memory that was made, ready to be asked.
pub(super) struct PreparedMemory<'a> {
    pub(super) told: &'a EvalSample,
    pub(super) heard: MemoryTurns,
    /// When it is asked: "two years ago" is counted from there.
    pub(super) now: Option<Timestamp>,
}

impl PreparedMemory<'_> {
    /// The question as any caller asks it.
    pub(super) fn usual(&self, question: &str) -> RecallOptions {
        RecallOptions { now: self.now, ..RecallOptions::of(question) }
    }

    /// The same for all that is found, to count turns by depth.
    pub(super) fn deep(&self, question: &str) -> RecallOptions {
        RecallOptions { k: quipu_core::limit::RECALL_K_MAX, ..self.usual(question) }
    }
}

impl Corpus {
    /// Reads a file, or a folder of people. Without a kind it is found out. `only` names some of the conversations.
    ///
    /// # Errors
    /// `NotFound` for what cannot be read or is not in it, `Invalid` for what has none of the shapes.
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
            return Err(Error::Invalid(format!("{}: {} is there twice", file.display(), twice.user)));
        }
        told.retain(|one| only.is_empty() || only.iter().any(|name| one.user.as_str() == name));
        if told.is_empty() {
            return Err(Error::Invalid(format!("{} has no conversations", file.display())));
        }
        Ok(Self { kind, told, skipped, file: file.to_owned() })
    }

    /// The same with these questions only, and with the conversations they are asked of.
    pub(super) fn of_questions(&self, is_wanted: impl Fn(&EvalQuestion) -> bool) -> Self {
        let mut part = self.clone();
        part.told.iter_mut().for_each(|told| told.asked.retain(&is_wanted));
        part.told.retain(|told| !told.asked.is_empty());
        part
    }

    /// Makes the memories as `quipu import` does, each of a user of its own; facts are read unless it is words only.
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
    /// One that is asked so many questions of each group, for tests.
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

    /// Chats that are told before the others.
    pub(super) fn precede(&mut self, chats: Vec<Value>) {
        self.chats.splice(0..0, chats);
    }

    /// When the first turn was said.
    pub(super) fn begins(&self) -> Option<Timestamp> {
        self.chats.first()?["messages"][0]["created_at"].as_str()?.parse().ok()
    }
}

/// A chat as one line of a file of `quipu import openai`.
pub(super) fn chat(session: &str, messages: impl Iterator<Item = Value>) -> Value {
    json!({"session_id": session, "messages": messages.collect::<Vec<_>>()})
}

/// One message of it.
pub(super) fn message(id: &str, role: &str, said_at: Timestamp, content: &str) -> Value {
    json!({"id": id, "role": role, "created_at": said_at.to_string(), "content": content})
}

fn import(engine: &Engine, told: &EvalSample, words_only: bool, watch: quipu_engine::Watch<'_>) -> Result<()> {
    import_chats(engine, &told.user, &told.chats, words_only, watch)
}

/// All chats in one go, as the user's own.
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
        into: Some(user.clone()),
        default_user: user.clone(),
        read: ReadOptions::default(),
    };
    let lines: String = chats.iter().map(|chat| format!("{chat}\n")).collect();
    let given = ("chats.jsonl", lines.as_bytes());
    match quipu_engine::ingest_given(engine, ImportFormat::OpenAi, given, &options, watch) {
        (_, Some(fault)) => Err(fault),
        (report, None) => match report.notices.first() {
            // A turn that is not there would count as one that was not found.
            Some(notice) => Err(Error::Invalid(format!("{}, {}: {}", user, notice.place, notice.reason))),
            None => Ok(()),
        },
    }
}

/// Reads a file of JSON.
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
        Err(Error::Invalid(format!("{}: it has none of the known shapes: {known}", file.display())))
    }
}

#[cfg(test)]
mod tests;
