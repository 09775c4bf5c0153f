//! Reads files of labelled texts, and lists the memories to make from them.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use quipu_engine::{Error, Result};
use serde::Deserialize;
use serde_json::Value;

use super::super::corpus;

/// A file: people with labels, pairs of statement and update, or misleading situations.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum File {
    Pairs { pairs: Vec<Pair> },
    Traps { traps: Vec<Trap> },
    Person(Person),
}

#[derive(Debug, Deserialize)]
pub(super) struct Person {
    pub(super) person: String,
    pub(super) sessions: Vec<ReadingSession>,
    pub(super) keep: Vec<Label>,
    #[serde(default)]
    pub(super) may: Vec<Label>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReadingSession {
    pub(super) id: String,
    pub(super) date: String,
    pub(super) turns: Vec<ReadingTurn>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReadingTurn {
    #[serde(default)]
    pub(super) id: String,
    pub(super) role: String,
    #[serde(alias = "content")]
    pub(super) text: String,
}

/// A statement that should be, or may be, remembered.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Label {
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) about: String,
    #[serde(default, alias = "claim")]
    pub(super) sentence: String,
    pub(super) words: Vec<Vec<String>>,
    /// The message that ends it.
    #[serde(default)]
    pub(super) until: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LabelledMessage {
    pub(super) date: String,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Pair {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) said: Vec<LabelledMessage>,
    pub(super) then: Vec<LabelledMessage>,
    #[serde(default)]
    pub(super) holds: Vec<Label>,
    #[serde(default)]
    pub(super) gone: Vec<Label>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Trap {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) date: String,
    pub(super) turns: Vec<ReadingTurn>,
    #[serde(default)]
    pub(super) keep: Vec<Label>,
    #[serde(default)]
    pub(super) never: Vec<Label>,
}

/// One memory to make.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) chats: Vec<Value>,
    pub(super) score: Score,
}

pub(super) enum Score {
    Person(Box<Person>),
    Pair(Box<Pair>),
    Trap(Box<Trap>),
}

pub(super) fn jobs(place: &Path) -> Result<Vec<Job>> {
    let cannot = |error: std::io::Error| Error::NotFound(format!("cannot read {}: {error}", place.display()));
    let mut files: Vec<PathBuf> = vec![place.to_owned()];
    if place.is_dir() {
        let entries: std::io::Result<Vec<PathBuf>> =
            std::fs::read_dir(place).map_err(cannot)?.map(|entry| Ok(entry?.path())).collect();
        files = entries.map_err(cannot)?;
        files.retain(|file| file.extension().is_some_and(|end| end == "json"));
        files.sort();
    }
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(cannot)?;
        let wrong = |error: serde_json::Error| Error::Invalid(format!("{}: {error}", file.display()));
        match serde_json::from_str(&text).map_err(wrong)? {
            File::Person(person) => {
                let chats = person.sessions.iter().map(chat_of).collect::<Result<_>>()?;
                all.push(Job { name: person.person.clone(), chats, score: Score::Person(Box::new(person)) });
            }
            File::Pairs { pairs } => {
                for pair in pairs {
                    let said = pair.said.iter().chain(&pair.then).enumerate().map(|(number, said)| {
                        let turn =
                            ReadingTurn { id: format!("m{number}"), role: "user".to_owned(), text: said.text.clone() };
                        chat_of(&ReadingSession {
                            id: format!("s{number}"),
                            date: said.date.clone(),
                            turns: vec![turn],
                        })
                    });
                    all.push(Job {
                        name: pair.id.clone(),
                        chats: said.collect::<Result<_>>()?,
                        score: Score::Pair(Box::new(pair)),
                    });
                }
            }
            File::Traps { traps } => {
                for mut trap in traps {
                    let turns = std::mem::take(&mut trap.turns);
                    let chat = chat_of(&ReadingSession { id: "s".to_owned(), date: trap.date.clone(), turns })?;
                    all.push(Job { name: trap.id.clone(), chats: vec![chat], score: Score::Trap(Box::new(trap)) });
                }
            }
        }
    }
    Ok(all)
}

fn chat_of(session: &ReadingSession) -> Result<Value> {
    let day = if session.date.contains('T') { session.date.clone() } else { format!("{}T12:00:00Z", session.date) };
    let at: Timestamp = day.parse().map_err(|error| Error::Invalid(format!("{}: {error}", session.date)))?;
    let messages = session.turns.iter().enumerate().map(|(number, turn)| {
        let said_at = at + jiff::SignedDuration::from_secs(60 * number as i64);
        let id = if turn.id.is_empty() { format!("t{number}") } else { turn.id.clone() };
        corpus::message(&id, &turn.role, said_at, &turn.text)
    });
    Ok(corpus::chat(&session.id, messages))
}
