//! Prompts of the models. The instructions are the files beside this one.

use quipu_engine::ports::{CompletionRequest, Message, Purpose, Shape};
use serde_json::{Value, json};

use super::super::corpus::{CorpusKind, EvalQuestion};

const ANSWER_TOKENS: u32 = 1500;
const JUDGE_TOKENS: u32 = 800;

/// The instructions of a benchmark for answering and for judging.
pub(super) fn instructions(kind: CorpusKind) -> (&'static str, &'static str) {
    match kind {
        CorpusKind::Beam => (include_str!("answer.beam.txt"), include_str!("judge.beam.txt")),
        CorpusKind::Locomo | CorpusKind::Assistant => {
            (include_str!("answer.locomo.txt"), include_str!("judge.locomo.txt"))
        }
    }
}

/// The request to answer a question from a pack, on a given day.
pub(super) fn to_answer(kind: CorpusKind, pack: &str, day: &str, question: &str) -> CompletionRequest {
    let text = format!("{}\n\nToday is {day}.\n\nQuestion: {question}", pack.trim_end());
    request(Purpose::Chat, instructions(kind).0, text, None, ANSWER_TOKENS)
}

/// The request to judge an answer by the benchmark's own rule.
pub(super) fn to_judge(kind: CorpusKind, asked: &EvalQuestion, reply: &str) -> CompletionRequest {
    let (text, properties) = if kind == CorpusKind::Beam {
        let lines: String =
            asked.rubric.iter().enumerate().map(|(place, line)| format!("{}. {line}\n", place + 1)).collect();
        let text = format!(
            "Question: {}\n\nRubric, {} lines:\n{lines}\nResponse:\n{reply}",
            asked.question,
            asked.rubric.len()
        );
        (text, json!({"why": {"type": "string"}, "scores": {"type": "array", "items": {"type": "number"}}}))
    } else {
        let right = asked.answer.as_deref().unwrap_or_default();
        let text = format!("Question: {}\nRight answer: {right}\nAnswer to judge: {reply}", asked.question);
        (text, json!({"why": {"type": "string"}, "right": {"type": "boolean"}}))
    };
    let required: Vec<&String> = properties.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    let schema =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let shape = Shape { name: "judgement".to_owned(), schema };
    request(Purpose::Judge, instructions(kind).1, text, Some(shape), JUDGE_TOKENS)
}

fn request(
    purpose: Purpose,
    system: &str,
    text: String,
    shape: Option<Shape>,
    output_tokens_max: u32,
) -> CompletionRequest {
    let (system, messages) = (system.to_owned(), vec![Message::of_user(text)]);
    CompletionRequest { user: None, purpose, system, messages, shape, output_tokens_max, temperature: 0.0 }
}

/// The score of a judgement, from 0 to 1; `None` if it does not fit the question.
pub(super) fn score(asked: &EvalQuestion, judgement: &Value) -> Option<f64> {
    let Some(scores) = judgement.get("scores") else {
        return judgement.get("right")?.as_bool().map(|right| f64::from(u8::from(right)));
    };
    let scores: Vec<f64> = scores.as_array()?.iter().filter_map(Value::as_f64).collect();
    let allowed = |score: &f64| [0.0, 0.5, 1.0].contains(score);
    let fits = !scores.is_empty() && scores.len() == asked.rubric.len() && scores.iter().all(allowed);
    fits.then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_counts_only_if_it_fits_the_rubric() {
        let asked = EvalQuestion { rubric: vec!["a".to_owned(), "b".to_owned()], ..EvalQuestion::default() };
        for (judgement, expected) in [
            (json!({"right": true}), Some(1.0)),
            (json!({"right": "yes"}), None),
            (json!({"scores": [1, 0.5]}), Some(0.75)),
            (json!({"scores": [1]}), None),
            (json!({"scores": [1, 0.7]}), None),
            (json!({"scores": [1, "x"]}), None),
            (json!({}), None),
        ] {
            assert_eq!(score(&asked, &judgement), expected, "{judgement}");
        }
    }

    #[test]
    fn a_judge_sees_what_it_judges_by() {
        let asked = EvalQuestion {
            question: "Where?".to_owned(),
            answer: Some("Porto".to_owned()),
            rubric: vec!["says Porto".to_owned()],
            ..EvalQuestion::default()
        };
        let text = |kind: CorpusKind| to_judge(kind, &asked, "in Porto").messages[0].text.clone();
        assert!(
            text(CorpusKind::Locomo).contains("Right answer: Porto") && text(CorpusKind::Locomo).contains("in Porto")
        );
        assert!(text(CorpusKind::Beam).contains("1. says Porto") && !text(CorpusKind::Beam).contains("Right answer"));
    }
}
