//! People's messages to their assistant over some months: one file for each person.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use quipu_core::id::UserId;
use quipu_engine::{Error, Result};
use serde::Deserialize;

use super::{EvalQuestion, EvalSample, EverydayRequest, chat, json_of, message};

/// Questions that the chats do not answer.
const UNANSWERABLE: &str = "unanswerable";

#[derive(Deserialize)]
struct Person {
    id: String,
    sessions: Vec<AssistantSession>,
    questions: Vec<Question>,
    #[serde(default)]
    requests: Vec<LabelledQuestion>,
}

#[derive(Deserialize)]
struct AssistantSession {
    id: String,
    date: Timestamp,
    turns: Vec<AssistantTurn>,
}

#[derive(Deserialize)]
struct AssistantTurn {
    id: String,
    role: String,
    content: String,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    question: String,
    kind: String,
    #[serde(default)]
    answer: String,
    #[serde(default)]
    gold: Vec<String>,
    #[serde(default)]
    outdated: Vec<String>,
}

#[derive(Deserialize)]
struct LabelledQuestion {
    text: String,
    #[serde(default)]
    bears: Vec<String>,
}

/// Reads a file, or every `.json` file of a folder, in the order of their names.
pub(super) fn read(place: &Path) -> Result<Vec<EvalSample>> {
    let mut files = vec![place.to_owned()];
    if place.is_dir() {
        let cannot = |error: std::io::Error| Error::NotFound(format!("cannot read {}: {error}", place.display()));
        let entries: std::io::Result<Vec<PathBuf>> =
            std::fs::read_dir(place).map_err(cannot)?.map(|entry| entry.map(|entry| entry.path())).collect();
        files = entries.map_err(cannot)?;
        files.retain(|file| file.extension().is_some_and(|end| end == "json"));
        files.sort();
    }
    files.iter().map(|file| told(file, json_of(file)?)).collect()
}

fn told(file: &Path, person: Person) -> Result<EvalSample> {
    let wrong = |why: String| Error::Invalid(format!("{}: {why}", file.display()));
    let mut there = BTreeSet::new();
    for turn in person.sessions.iter().flat_map(|session| &session.turns) {
        if !there.insert(turn.id.clone()) {
            return Err(wrong(format!("two turns are called {:?}", turn.id)));
        }
    }
    let named = person.questions.iter().flat_map(|one| one.gold.iter().chain(&one.outdated));
    if let Some(id) = named.chain(person.requests.iter().flat_map(|one| &one.bears)).find(|id| !there.contains(*id)) {
        return Err(wrong(format!("there is no turn {id:?}")));
    }
    if let Some(one) = person.questions.iter().find(|one| (one.kind == UNANSWERABLE) != one.gold.is_empty()) {
        return Err(wrong(format!("{}: `gold` is empty exactly where a question is unanswerable", one.id)));
    }
    let of_session = |session: &AssistantSession| {
        // One minute apart, so that turns keep their order.
        let at = |place: usize| session.date + SignedDuration::from_mins(place as i64);
        let turns = session.turns.iter().enumerate();
        let messages = turns.map(|(place, turn)| message(&turn.id, &turn.role, at(place), &turn.content));
        chat(&format!("{}:{}", person.id, session.id), messages)
    };
    let of_question = |(number, one): (usize, &Question)| EvalQuestion {
        number,
        id: format!("{}:{}", person.id, one.id),
        group: one.kind.clone(),
        question: one.question.clone(),
        answer: Some(one.answer.clone()).filter(|answer| !answer.is_empty()),
        rubric: Vec::new(),
        gold: one.gold.clone(),
        outdated: one.outdated.clone(),
        answerable: one.kind != UNANSWERABLE,
    };
    Ok(EvalSample {
        user: UserId::parse(&person.id)?,
        chats: person.sessions.iter().map(of_session).collect(),
        asked: person.questions.iter().enumerate().map(of_question).collect(),
        requests: person.requests.into_iter().map(|one| EverydayRequest { text: one.text, bears: one.bears }).collect(),
        later: SignedDuration::from_hours(24),
    })
}
