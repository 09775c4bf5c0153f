//! BEAM ("Beyond a Million Tokens", 2025) in a compact form: a list of chats, each with its turns and questions.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use quipu_core::id::UserId;
use quipu_engine::{Error, Result};
use serde::Deserialize;
use serde_json::Value;

use super::{EvalQuestion, EvalSample, SkippedQuestions, chat, json_of, message};

/// Questions that the chat does not answer.
pub(crate) const ABSTENTION: &str = "abstention";

#[derive(Deserialize)]
struct Chat {
    id: String,
    turns: Vec<BeamTurn>,
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct BeamTurn {
    id: Value,
    role: String,
    session: Value,
    date: String,
    content: String,
}

#[derive(Deserialize)]
struct Question {
    ability: String,
    question: String,
    #[serde(alias = "ideal_answer", alias = "ideal_response", alias = "ideal_summary")]
    answer: Option<Value>,
    #[serde(default)]
    rubric: Vec<String>,
    #[serde(default)]
    source_chat_ids: Value,
}

pub(super) fn read(file: &Path, skipped: &mut SkippedQuestions) -> Result<Vec<EvalSample>> {
    let chats: Vec<Chat> = json_of(file)?;
    let wrong = |id: &str, why: &str| Error::Invalid(format!("{}: {id}: {why}", file.display()));
    chats
        .into_iter()
        .map(|one| {
            let mut told = EvalSample {
                user: UserId::parse(&one.id)?,
                chats: Vec::new(),
                asked: Vec::new(),
                requests: Vec::new(),
                later: SignedDuration::ZERO,
            };
            for session in one.turns.chunk_by(|a, b| a.session == b.session) {
                let mut messages = Vec::new();
                for turn in session {
                    let said_at = day(&turn.date).ok_or_else(|| wrong(&one.id, "a date is like March-15-2024"))?;
                    messages.push(message(&name(&turn.id), &turn.role, said_at, &turn.content));
                }
                let called = session.first().map(|turn| format!("{}:{}", one.id, name(&turn.session)));
                told.chats.push(chat(&called.unwrap_or_default(), messages.into_iter()));
            }
            let there: BTreeSet<String> = one.turns.iter().map(|turn| name(&turn.id)).collect();
            if there.len() < one.turns.len() {
                return Err(wrong(&one.id, "two turns have the same id"));
            }
            for (place, question) in one.questions.into_iter().enumerate() {
                let mut gold = Vec::new();
                ids(&question.source_chat_ids, &mut gold);
                let named = gold.len();
                gold.retain(|id| there.contains(id));
                skipped.gold_unknown += named - gold.len();
                told.asked.push(EvalQuestion {
                    id: format!("{}:{}", one.id, place + 1),
                    number: place,
                    answerable: question.ability != ABSTENTION,
                    group: question.ability,
                    question: question.question,
                    answer: question.answer.as_ref().map(name),
                    rubric: question.rubric,
                    gold,
                    outdated: Vec::new(),
                });
            }
            Ok(told)
        })
        .collect()
}

/// A text, or a number as text.
fn name(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Parses a date of BEAM, as noon: that is the same day in nearly every time zone.
fn day(raw: &str) -> Option<Timestamp> {
    let date = Date::strptime("%B-%d-%Y", raw.trim()).ok()?;
    Some(date.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Collects the distinct ids in nested lists and objects.
fn ids(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| ids(one, found)),
        Value::Object(all) => all.values().for_each(|one| ids(one, found)),
        Value::Number(_) | Value::String(_) => {
            let id = name(value);
            if !found.contains(&id) {
                found.push(id);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_at_any_depth() {
        for (value, expected) in [
            (serde_json::json!([58, "24", 58]), &["58", "24"][..]),
            (serde_json::json!({"first": [2], "then": {"again": [[0]]}}), &["2", "0"]),
            (Value::Null, &[]),
        ] {
            let mut found = Vec::new();
            ids(&value, &mut found);
            assert_eq!(found, expected, "{value}");
        }
    }

    #[test]
    fn days_are_read_as_they_are_written() {
        assert_eq!(day("March-15-2024").unwrap().to_string(), "2024-03-15T12:00:00Z");
        assert_eq!(day("April-05-2024").unwrap().to_string(), "2024-04-05T12:00:00Z");
        assert_eq!(day("2024-04-05"), None);
    }
}
