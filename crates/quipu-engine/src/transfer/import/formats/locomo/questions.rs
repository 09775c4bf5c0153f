//! Reads the questions of LoCoMo about its conversations, for evaluation.

use std::collections::HashSet;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;

use super::{SHAPE, conversation_name, sessions};
use crate::transfer::import::fault::{Fault, ParseStop, ReadError};
use crate::transfer::import::{stream, without_mark};

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The text.
    pub question: String,
    /// The correct answer; a number is converted to text. `None` for most unanswerable questions.
    pub answer: Option<String>,
    /// 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 unanswerable. 0 if the input has no category.
    pub category: u8,
    /// The turns that contain the answer, as `D<session>:<turn>`, the native ids of sources. Distinct, and only turns
    /// of the conversation.
    pub evidence: Vec<String>,
}

/// The questions about one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionSet {
    /// Name of the conversation, as in [`crate::transfer::import::Batch::conversation`].
    pub conversation: String,
    /// Its questions, in the order of the file.
    pub questions: Vec<Question>,
    /// Number of evidence ids parsed, including repetitions.
    pub evidence_parsed: usize,
    /// Of these, ids that were repaired: several in one string, a stray colon, leading zeros.
    pub evidence_mended: usize,
    /// Number of unparsable evidence ids.
    pub evidence_skipped: usize,
    /// Evidence ids that refer to no turn of the conversation; they are left out.
    pub evidence_absent: usize,
}

#[derive(Deserialize)]
struct Sample {
    #[serde(default)]
    sample_id: Value,
    conversation: serde_json::Map<String, Value>,
    #[serde(default)]
    qa: Vec<Value>,
}

/// Reads the questions of one conversation after the other; a question without text is left out.
///
/// # Errors
/// As [`crate::transfer::import::read`] with [`crate::transfer::import::ImportFormat::Locomo`].
pub fn read<E>(
    input: &mut dyn BufRead,
    each: &mut dyn FnMut(QuestionSet) -> Result<(), E>,
) -> Result<(), ReadError<E>> {
    let mut failed = None;
    let (start, mut input) = without_mark(input)?;
    let outcome = stream::elements(&mut input, start, &SHAPE, &mut |number, sample: Sample| {
        each(question_set(&sample, number)).map_err(|error| {
            failed = Some(error);
            ParseStop::Caller
        })
    });
    match (outcome, failed) {
        (Ok(()), _) => Ok(()),
        (Err(ParseStop::Fault(fault)), _) => Err(ReadError::Fault(fault)),
        (Err(ParseStop::Caller), Some(error)) => Err(ReadError::Caller(error)),
        (Err(ParseStop::Caller), None) => Err(ReadError::Fault(Fault::Refused("the caller asked to stop".to_owned()))),
    }
}

fn question_set(sample: &Sample, number: usize) -> QuestionSet {
    let turns: HashSet<&str> = sessions(&sample.conversation)
        .into_iter()
        .flat_map(|(_, turns)| turns)
        .filter_map(|turn| turn.get("dia_id")?.as_str())
        .collect();
    let mut set = QuestionSet { conversation: conversation_name(&sample.sample_id, number), ..QuestionSet::default() };
    for asked in &sample.qa {
        let Some(question) = asked.get("question").and_then(Value::as_str).filter(|text| !text.trim().is_empty())
        else {
            continue;
        };
        let mut evidence: Vec<String> = Vec::new();
        for raw in asked.get("evidence").and_then(Value::as_array).into_iter().flatten() {
            for id in raw.as_str().map(evidence_ids).unwrap_or_else(|| vec![None]) {
                let Some(id) = id else {
                    set.evidence_skipped += 1;
                    continue;
                };
                set.evidence_parsed += 1;
                set.evidence_mended += usize::from(raw != id.as_str());
                if !turns.contains(id.as_str()) {
                    set.evidence_absent += 1;
                } else if !evidence.contains(&id) {
                    evidence.push(id);
                }
            }
        }
        set.questions.push(Question {
            question: question.to_owned(),
            answer: asked.get("answer").and_then(written_out),
            category: asked.get("category").and_then(Value::as_u64).and_then(|n| u8::try_from(n).ok()).unwrap_or(0),
            evidence,
        });
    }
    set
}

fn written_out(answer: &Value) -> Option<String> {
    match answer {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The ids in one string of evidence; `None` for an unparsable word.
fn evidence_ids(raw: &str) -> Vec<Option<String>> {
    let words = raw.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|word| !word.is_empty());
    let ids: Vec<_> = words.map(evidence_id).collect();
    if ids.is_empty() { vec![None] } else { ids }
}

/// Normalises `D9:1`, `D:9:1` and `D09:01` to `D9:1`.
fn evidence_id(word: &str) -> Option<String> {
    let rest = word.strip_prefix('D')?;
    let (session, turn) = rest.strip_prefix(':').unwrap_or(rest).split_once(':')?;
    let digits =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok()).flatten();
    Some(format!("D{}:{}", digits(session)?, digits(turn)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirty_evidence_is_mended_or_skipped() {
        for (raw, expected) in [
            ("D1:3", vec![Some("D1:3")]),
            ("D9:1 D4:4 D4:6", vec![Some("D9:1"), Some("D4:4"), Some("D4:6")]),
            ("D8:6; D9:17", vec![Some("D8:6"), Some("D9:17")]),
            ("D:11:26", vec![Some("D11:26")]),
            ("D30:05", vec![Some("D30:5")]),
            ("D", vec![None]),
            ("", vec![None]),
            ("D1:3:4", vec![None]),
            ("D1:+3", vec![None]),
            ("D99999999999:1", vec![None]),
            ("D1:2 x", vec![Some("D1:2"), None]),
        ] {
            let found = evidence_ids(raw);
            assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), expected, "{raw:?}");
        }
    }
}
