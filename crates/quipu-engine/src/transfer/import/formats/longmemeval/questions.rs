//! Reads the questions of LongMemEval with their histories, for evaluation.

use std::io::BufRead;
use std::ops::ControlFlow;

use jiff::Timestamp;
use serde_json::Value;

use super::{Instance, SHAPE, conversation_name, history, session_name, turn_name, written_out};
use crate::transfer::import::batch::Sink;
use crate::transfer::import::fault::{Fault, ParseStop, ReadError};
use crate::transfer::import::{Batch, Report, stream, when, without_mark};

/// Suffix of the ids of questions that cannot be answered from their history.
const ABSTENTION: &str = "_abs";

/// A question with its answer and history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchmarkCase {
    /// Its id; `question-<N>` if the input has none.
    pub id: String,
    /// Its type, such as `multi-session`; empty if the input has none.
    pub kind: String,
    /// The text.
    pub question: String,
    /// The correct answer; a number is converted to text.
    pub answer: Option<String>,
    /// Time of the question.
    pub asked_at: Option<Timestamp>,
    /// True if the history does not contain the answer.
    pub abstention: bool,
    /// The sessions that contain the answer. Distinct, and only sessions of the history.
    pub sessions: Vec<String>,
    /// The turns marked as containing the answer, as distinct native ids. Empty if the input marks none.
    pub turns: Vec<String>,
    /// Number of answer sessions that are not in the history.
    pub sessions_absent: usize,
    /// The history; `None` if it contains nothing to import.
    pub history: Option<Batch>,
    /// What was skipped or repaired in it.
    pub report: Report,
}

/// Reads one question with its history after the other; only one is held at a time.
///
/// # Errors
/// As [`crate::transfer::import::read`] with [`crate::transfer::import::ImportFormat::LongMemEval`].
pub fn read<E>(
    input: &mut dyn BufRead,
    each: &mut dyn FnMut(BenchmarkCase) -> Result<(), E>,
) -> Result<(), ReadError<E>> {
    let mut failed = None;
    let mut cases = 0;
    let (start, mut input) = without_mark(input)?;
    let outcome = stream::elements(&mut input, start, &SHAPE, &mut |number, instance: Instance| {
        cases += 1;
        each(case(&instance, number)?).map_err(|error| {
            failed = Some(error);
            ParseStop::Caller
        })
    });
    match (outcome, failed) {
        (Ok(()), _) if cases == 0 => Err(Fault::Nothing("the input has no questions".to_owned()).into()),
        (Ok(()), _) => Ok(()),
        (Err(ParseStop::Fault(fault)), _) => Err(ReadError::Fault(fault)),
        (Err(ParseStop::Caller), Some(error)) => Err(ReadError::Caller(error)),
        (Err(ParseStop::Caller), None) => Err(ReadError::Fault(Fault::Refused("the caller asked to stop".to_owned()))),
    }
}

fn case(instance: &Instance, number: usize) -> Result<BenchmarkCase, ParseStop> {
    let id = conversation_name(instance, number);
    let mut report = Report::default();
    let mut kept = None;
    history(
        instance,
        number,
        &mut Sink::new(&mut report, &mut |batch| {
            kept = Some(batch);
            ControlFlow::Continue(())
        }),
    )?;
    let there: Vec<String> = (0..instance.haystack_sessions.len()).map(|index| session_name(instance, index)).collect();
    let mut sessions: Vec<String> = instance.answer_session_ids.iter().filter_map(written_out).collect();
    let said = sessions.len();
    sessions.retain(|session| there.contains(session));
    let sessions_absent = said - sessions.len();
    Ok(BenchmarkCase {
        abstention: id.ends_with(ABSTENTION),
        kind: written_out(&instance.question_type).unwrap_or_default(),
        question: instance.question.clone(),
        answer: written_out(&instance.answer),
        asked_at: instance.question_date.as_str().and_then(|raw| when::longmemeval(raw).ok()),
        sessions: each_once(sessions),
        turns: each_once(marked(instance, &there)),
        sessions_absent,
        history: kept,
        report,
        id,
    })
}

/// The turns that contain the answer.
fn marked(instance: &Instance, sessions: &[String]) -> Vec<String> {
    let of = |(turns, session): (&Vec<Value>, &String)| {
        let holds = |(_, turn): &(usize, &Value)| turn.get("has_answer").and_then(Value::as_bool) == Some(true);
        turns.iter().enumerate().filter(holds).map(|(index, _)| turn_name(session, index)).collect::<Vec<_>>()
    };
    instance.haystack_sessions.iter().zip(sessions).flat_map(of).collect()
}

fn each_once(names: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().filter(|name| seen.insert(name.clone())).collect()
}
