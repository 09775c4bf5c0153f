use std::sync::Arc;
use std::time::Duration;

use quipu_core::extract::{Extraction, FactCandidate, PassedOver, Reading, TaskCandidate, TaskKind, TaskNews};
use quipu_core::id::UserId;
use quipu_core::predicate::{Cardinality, Predicates, Sensitivity, normal};
use quipu_engine::ports::{ExtractError, Extractor, LanguageModel, Message, ModelError, Purpose, Request, Shape};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::grounding::{self, Claim, Words};
use crate::prompt;
use crate::rule_extractor::RuleExtractor;

/// Fewer words say nothing rules would not read.
const WORDS_MIN: usize = 4;
/// The piece of a text a model is shown at a time, in bytes.
const PIECE_BYTES_MAX: usize = 4_000;
/// A piece whose answer was cut off is halved down to this.
const PIECE_BYTES_MIN: usize = 300;
/// Pieces of one text a model reads; the rest of a longer one is read by rules only.
const PIECES_MAX: usize = 8;
/// Longest answer, in tokens.
const OUTPUT_TOKENS_MAX: u32 = 1_500;
/// Most claims of a model about one piece.
const CLAIMS_MAX: usize = 24;
/// How sure a claim of a model is that stands in the words: enough to be kept, not enough to change the core document without
/// a person. What a model says of its own confidence counts for nothing.
const CONFIDENCE: f64 = 0.75;

/// Reads by a language model, with the rules beside it.
///
/// The rules are asked first, and where both speak of the same the rules are right. What a model adds must stand in the text:
/// its quote word for word, its value in the quote, its subject too, and nothing around that turns it round
/// (`grounding.rs`). It names relations that exist, no dates, no ids, and how sure it is is not asked.
pub struct ModelExtractor {
    id: String,
    model: Arc<dyn LanguageModel>,
    rules: RuleExtractor,
    predicates: Predicates,
    words: Words,
    system: String,
}

#[derive(Debug, Deserialize)]
struct Answer {
    facts: Vec<Claim>,
    tasks: Vec<TaskClaim>,
}

#[derive(Debug, Deserialize)]
struct TaskClaim {
    kind: TaskKind,
    title: String,
    quote: String,
}

impl ModelExtractor {
    /// One over a model, for English, with the relations that are known.
    ///
    /// # Errors
    /// What is wrong with the word lists; they are part of the program, and a test reads them.
    pub fn english(model: Arc<dyn LanguageModel>, predicates: Predicates) -> Result<Self, ExtractError> {
        let line = |name: &str| {
            let said = predicates.get(name).said.replace("{s}", "X").replace("{o}", "Y");
            format!("- {name}: {said}")
        };
        // What is sensitive is not kept unless the user opted in: then the rules read it.
        let told = predicates.names().filter(|name| predicates.get(name).sensitivity != Sensitivity::Sensitive);
        let relations: Vec<String> = told.map(line).collect();
        let rules = RuleExtractor::english();
        Ok(Self {
            id: format!("{} {} with {}", model.id(), prompt::EXTRACTOR.id, rules.id()),
            system: prompt::EXTRACTOR.text.replace("{{relations}}", &relations.join("\n")),
            words: Words::english().map_err(ExtractError::Run)?,
            model,
            rules,
            predicates,
        })
    }

    /// What the model says of a piece of a text; in halves, if the answer about the whole was cut off.
    fn ask(&self, user: Option<&UserId>, piece: &str, speaker: &str) -> Result<Vec<Answer>, ExtractError> {
        let request = Request {
            user: user.cloned(),
            purpose: Purpose::Extract,
            system: self.system.clone(),
            messages: vec![Message::of_user(format!(
                "{} speaks:\n{}",
                if speaker == quipu_core::extract::USER { "The user" } else { speaker },
                prompt::quoted("message", piece)
            ))],
            shape: Some(self.shape()),
            output_tokens_max: OUTPUT_TOKENS_MAX,
            temperature: 0.0,
        };
        match self.model.complete(&request, Duration::MAX) {
            Ok(done) => match done.json {
                None | Some(Value::Null) => Ok(Vec::new()),
                Some(value) => serde_json::from_value(value)
                    .map(|answer| vec![answer])
                    .map_err(|error| ExtractError::Run(error.to_string())),
            },
            Err(ModelError::Truncated { .. }) if piece.len() > PIECE_BYTES_MIN => {
                let (first, second) = halves(piece);
                let mut all = self.ask(user, first, speaker)?;
                all.extend(self.ask(user, second, speaker)?);
                Ok(all)
            }
            Err(error @ (ModelError::Malformed(_) | ModelError::Refused(_) | ModelError::Truncated { .. })) => {
                Err(ExtractError::Run(error.to_string()))
            }
            Err(error) => Err(ExtractError::Unavailable(error.to_string())),
        }
    }

    fn shape(&self) -> Shape {
        let text = json!({"type": "string"});
        let fact = json!({
            "type": "object",
            "properties": {
                "subject": text,
                "predicate": text,
                "object": text,
                "stance": {"type": "string", "enum": ["holds", "changed", "held", "ended", "denied"]},
                "quote": text,
            },
            "required": ["subject", "predicate", "object", "stance", "quote"],
            "additionalProperties": false,
        });
        let task = json!({
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["task", "goal", "problem"]},
                "title": text,
                "quote": text,
            },
            "required": ["kind", "title", "quote"],
            "additionalProperties": false,
        });
        let schema = json!({
            "type": "object",
            "properties": {"facts": {"type": "array", "items": fact}, "tasks": {"type": "array", "items": task}},
            "required": ["facts", "tasks"],
            "additionalProperties": false,
        });
        Shape { name: "candidates".to_owned(), schema }
    }

    fn read_by(&self, user: Option<&UserId>, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        let mut found = self.rules.read(reading)?;
        if reading.text.split_whitespace().count() < WORDS_MIN {
            return Ok(found);
        }
        let mut answers = Vec::new();
        for piece in pieces(reading.text).into_iter().take(PIECES_MAX) {
            answers.extend(self.ask(user, piece, reading.speaker)?);
        }
        let passed_over = found.passed_over.clone();
        for answer in answers {
            for claim in answer.facts.iter().take(CLAIMS_MAX) {
                match self.fact(reading, &passed_over, claim) {
                    Ok(fact) if self.is_new(&found, &fact) => found.facts.push(fact),
                    Ok(_) => {}
                    Err(reason) => found.passed_over.push(PassedOver { span: 0..0, reason: reason.to_owned() }),
                }
            }
            for claim in answer.tasks.iter().take(CLAIMS_MAX) {
                if let Some(task) = self.task(reading, &passed_over, claim)
                    && !found.tasks.iter().any(|held| overlap(&held.span, &task.span))
                {
                    found.tasks.push(task);
                }
            }
        }
        Ok(found)
    }

    fn fact(
        &self,
        reading: &Reading<'_>,
        passed_over: &[PassedOver],
        claim: &Claim,
    ) -> Result<FactCandidate, &'static str> {
        if !self.predicates.has(&claim.predicate) {
            return Err("a model named a relation that does not exist");
        }
        let span = grounding::place(reading.text, &claim.quote).ok_or("a model's quote does not stand in the text")?;
        if passed_over.iter().any(|left| overlap(&left.span, &span)) {
            return Err("rules say these words claim nothing");
        }
        grounding::check(&self.words, reading.text, &span, claim)?;
        let is_speaker = normal(&claim.subject) == quipu_core::extract::USER || claim.subject == reading.speaker;
        Ok(FactCandidate {
            subject: if is_speaker { reading.speaker.to_owned() } else { claim.subject.trim().to_owned() },
            predicate: claim.predicate.clone(),
            object: claim.object.trim().trim_end_matches(['.', ',', '!']).to_owned(),
            span,
            stance: claim.stance.clone(),
            valid_from: None,
            valid_to: None,
            confidence: CONFIDENCE,
            qualifiers: Default::default(),
        })
    }

    /// True if the rules, or the model before, have not spoken of it: of a relation that holds one value, of any value.
    fn is_new(&self, found: &Extraction, fact: &FactCandidate) -> bool {
        let one = self.predicates.get(&fact.predicate).cardinality == Cardinality::One;
        let object = normal(&fact.object);
        !found.facts.iter().any(|held| {
            let same_value = normal(&held.object) == object;
            let same_slot = normal(&held.subject) == normal(&fact.subject) && held.predicate == fact.predicate;
            // Two readings of the same value in the same words: the rules know better what it is.
            (same_slot && (one || same_value || overlap(&held.span, &fact.span)))
                || (same_value && overlap(&held.span, &fact.span))
        })
    }

    fn task(&self, reading: &Reading<'_>, passed_over: &[PassedOver], claim: &TaskClaim) -> Option<TaskCandidate> {
        let span = grounding::place(reading.text, &claim.quote)?;
        let is_claim = !passed_over.iter().any(|left| overlap(&left.span, &span));
        (is_claim && grounding::is_own_task(&self.words, reading.text, &span, &claim.title)).then(|| TaskCandidate {
            kind: claim.kind,
            title: claim.title.trim().to_owned(),
            span,
            news: TaskNews::Opened,
            due: None,
            confidence: CONFIDENCE,
        })
    }
}

impl Extractor for ModelExtractor {
    fn id(&self) -> &str {
        &self.id
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        self.read_by(None, reading)
    }

    fn read_for(&self, user: &UserId, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        self.read_by(Some(user), reading)
    }
}

fn overlap(one: &std::ops::Range<usize>, other: &std::ops::Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// A text in pieces a model can read, cut where a paragraph, a sentence or a word ends.
fn pieces(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut all = Vec::new();
    while rest.len() > PIECE_BYTES_MAX {
        let (piece, after) = rest.split_at(cut(rest, PIECE_BYTES_MAX));
        all.push(piece);
        rest = after;
    }
    all.push(rest);
    all.retain(|piece| !piece.trim().is_empty());
    all
}

fn halves(text: &str) -> (&str, &str) {
    text.split_at(cut(text, text.len().div_ceil(2)))
}

/// The best place to cut at or before a byte; never 0.
fn cut(text: &str, most: usize) -> usize {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let window = &text[..end];
    let after = |mark: &str| window.rfind(mark).map(|at| at + mark.len()).filter(|at| *at > end / 2);
    let best = ["\n\n", "\n", ". ", "? ", "! ", " "].into_iter().find_map(after).unwrap_or(end);
    // A single character that is wider than the bound stays whole.
    if best == 0 { text.chars().next().map_or(text.len(), char::len_utf8) } else { best }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole_text_and_none_is_too_long() {
        for text in ["", "short", &"wörter ".repeat(3_000), &"ü".repeat(9_000), &"A line.\n\n".repeat(1_000)] {
            let all = pieces(text);
            assert!(all.iter().all(|piece| piece.len() <= PIECE_BYTES_MAX));
            let words: usize = all.iter().map(|piece| piece.chars().filter(|c| !c.is_whitespace()).count()).sum();
            assert_eq!(words, text.chars().filter(|c| !c.is_whitespace()).count());
        }
        let (first, second) = halves("One two. Three four.");
        assert_eq!(format!("{first}{second}"), "One two. Three four.");
        assert!(!first.is_empty() && !second.is_empty());
    }
}
