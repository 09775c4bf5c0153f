use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use quipu_core::guard;
use quipu_core::id::UserId;
use quipu_core::item::Depth;
use quipu_core::limit;
use quipu_core::session::{KnownEntry, MergeProposed, ProposedEntry, RuleBook, SummaryProposal};
use quipu_engine::ports::{
    CompletionRequest, LanguageModel, Message, ModelError, Purpose, Shape, SummarizeError, Summarizer, SummaryInput,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::prompt::{self, Prompt};
use crate::refusals::is_refusal;

/// Maximum length of a message in the prompt, in characters; the middle of a longer one is left out.
const SHOWN_CHARS_MAX: usize = 12_000;
/// Output limit, in tokens.
const OUTPUT_TOKENS_MAX: u32 = 900;
/// Maximum number of entries that one exchange adds, updates or removes.
const ENTRIES_MAX: usize = 16;
/// Two entries with at least this share of words in common are duplicates.
const SAME_FROM: f64 = 0.6;
/// A proposal may always remove this many entries, whatever their share.
const REMOVALS_FREE: usize = 2;

/// Summarizes exchanges with a language model and adds what the rules find.
///
/// A proposal is rejected as a whole if it is a refusal or removes more than half of the entries. The session then
/// checks every change against the exchange, as it does for the rules.
pub struct ModelSummarizer {
    id: String,
    model: Arc<dyn LanguageModel>,
}

#[derive(Deserialize)]
struct Merges {
    merges: Vec<Merge>,
}

#[derive(Deserialize)]
struct Merge {
    from: Vec<String>,
    text: String,
}

impl ModelSummarizer {
    /// A summarizer over a model.
    #[must_use]
    pub fn new(model: Arc<dyn LanguageModel>) -> Self {
        let id = format!("{} {} {} with rules/en/v1", model.id(), prompt::SUMMARIZER.id, prompt::CONSOLIDATOR.id);
        Self { id, model }
    }

    fn ask(
        &self,
        user: &UserId,
        (purpose, prompt): (Purpose, Prompt),
        message: String,
        shape: Shape,
    ) -> Result<Value, SummarizeError> {
        let request = CompletionRequest {
            user: Some(user.clone()),
            purpose,
            system: prompt.text.to_owned(),
            messages: vec![Message::of_user(message)],
            shape: Some(shape),
            output_tokens_max: OUTPUT_TOKENS_MAX,
            temperature: 0.0,
        };
        match self.model.complete(&request, Duration::MAX) {
            Ok(done) => Ok(done.json.unwrap_or(Value::Null)),
            Err(error @ (ModelError::Malformed(_) | ModelError::Refused(_) | ModelError::Truncated { .. })) => {
                Err(SummarizeError::Malformed(error.to_string()))
            }
            Err(error) => Err(SummarizeError::Unavailable(error.to_string())),
        }
    }
}

impl Summarizer for ModelSummarizer {
    fn id(&self) -> &str {
        &self.id
    }

    fn asks_outside(&self) -> bool {
        true
    }

    fn summarize(&self, telling: &SummaryInput) -> Result<SummaryProposal, SummarizeError> {
        let what = (Purpose::Summarize, prompt::SUMMARIZER);
        let answer = self.ask(&telling.whose, what, exchange(telling), proposal_shape())?;
        let strange = |why: &str| SummarizeError::Malformed(why.to_owned());
        let mut told: SummaryProposal =
            serde_json::from_value(answer).map_err(|error| SummarizeError::Malformed(error.to_string()))?;
        if told.user_summary.trim().is_empty() && told.assistant_summary.trim().is_empty() {
            return Err(strange("the summary is empty"));
        }
        if is_refusal(&told.user_summary) || is_refusal(&told.assistant_summary) {
            return Err(strange("the model refused"));
        }
        let removed = told.base_truth_diff.remove.len();
        if removed > REMOVALS_FREE && removed * 2 > telling.base_truth.len() {
            return Err(strange("it removes more than half of the entries"));
        }
        let rules = RuleBook::english().propose(&telling.user, &telling.assistant, telling.depth, &telling.base_truth);
        let said = format!("{} {}", telling.user, telling.assistant);
        if is_strange(&told.user_summary, &said) {
            told.user_summary.clone_from(&rules.user_summary);
        }
        if is_strange(&told.assistant_summary, &said) {
            told.assistant_summary.clone_from(&rules.assistant_summary);
        }
        merge(&mut told, rules);
        Ok(told)
    }

    fn consolidate(&self, user: &UserId, base_truth: &[KnownEntry]) -> Result<Vec<MergeProposed>, SummarizeError> {
        let lines: Vec<String> =
            base_truth.iter().enumerate().map(|(at, known)| format!("e{}: {:?}", at + 1, known.text)).collect();
        let what = (Purpose::Consolidate, prompt::CONSOLIDATOR);
        let answer = self.ask(user, what, lines.join("\n"), merges_shape())?;
        let rules = RuleBook::english().merges(base_truth);
        if answer.is_null() {
            return Ok(rules);
        }
        let Merges { merges } =
            serde_json::from_value(answer).map_err(|error| SummarizeError::Malformed(error.to_string()))?;
        let mut all = Vec::new();
        for merge in merges {
            let from: Option<Vec<_>> = merge.from.iter().map(|label| shown(label, base_truth)).collect();
            // If one label is unknown, the others are not trusted either.
            let Some(from) = from else { return Ok(rules) };
            all.push(MergeProposed { from, text: merge.text });
        }
        let taken: BTreeSet<_> = all.iter().flat_map(|merge| merge.from.iter().copied()).collect();
        all.extend(rules.into_iter().filter(|merge| merge.from.iter().all(|id| !taken.contains(id))));
        Ok(all)
    }
}

/// The entry with this label in the prompt.
fn shown(label: &str, base_truth: &[KnownEntry]) -> Option<quipu_core::id::ItemId> {
    let number: usize = label.trim().strip_prefix('e')?.parse().ok()?;
    base_truth.get(number.checked_sub(1)?).map(|known| known.id)
}

fn exchange(telling: &SummaryInput) -> String {
    let known: String = telling.base_truth.iter().map(|known| format!("- {}\n", known.text)).collect();
    let known = if known.is_empty() { "nothing\n".to_owned() } else { known };
    let depth = match telling.depth {
        Depth::Short => "The exchange is short: summaries only, the three lists stay empty.\n",
        Depth::Medium | Depth::Long => "",
    };
    format!(
        "{depth}Known:\n{}\n\n{}\n\n{}",
        prompt::quoted("known", known.trim_end()),
        prompt::quoted("user", &middle_out(&telling.user)),
        prompt::quoted("assistant", &middle_out(&telling.assistant)),
    )
}

/// Leaves out the middle of a long text: requirements tend to be at the beginning, decisions at the end.
fn middle_out(text: &str) -> String {
    let count = text.chars().count();
    if count <= SHOWN_CHARS_MAX {
        return text.to_owned();
    }
    let half = SHOWN_CHARS_MAX / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}\n[…]\n{end}")
}

fn proposal_shape() -> Shape {
    // Small models with constrained output use all the length that the schema permits.
    let entry = json!({"type": "string", "maxLength": limit::TRUTH_BYTES_MAX});
    let texts = json!({"type": "array", "items": entry, "maxItems": ENTRIES_MAX});
    let summary = json!({"type": "string", "maxLength": limit::SUMMARY_BYTES_MAX});
    let schema = json!({
        "type": "object",
        "properties": {
            "user_summary": summary,
            "assistant_summary": summary,
            "base_truth_diff": {
                "type": "object",
                "properties": {"add": texts, "update": texts, "remove": texts},
                "required": ["add", "update", "remove"],
                "additionalProperties": false,
            },
        },
        "required": ["user_summary", "assistant_summary", "base_truth_diff"],
        "additionalProperties": false,
    });
    Shape { name: "turn_summary".to_owned(), schema }
}

fn merges_shape() -> Shape {
    let one = json!({
        "type": "object",
        "properties": {"from": {"type": "array", "items": {"type": "string"}}, "text": {"type": "string"}},
        "required": ["from", "text"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": {"merges": {"type": "array", "items": one}},
        "required": ["merges"],
        "additionalProperties": false,
    });
    Shape { name: "merges".to_owned(), schema }
}

/// Endings of verbs that may open a summary although they are not in the exchange: "Wants", "Planned", "Explaining".
const VERB_ENDINGS: [&str; 3] = ["s", "ed", "ing"];
/// Other verbs that may open one.
const VERBS: [&str; 14] =
    ["Gave", "Told", "Made", "Chose", "Said", "Wrote", "Found", "Sent", "Built", "Set", "Got", "Left", "Did", "No"];

/// Share of the longer words of a summary whose stems must occur in the exchange.
const SAID_FROM: f64 = 1.0 / 3.0;
/// Letters that two forms of a word have in common at the beginning: "plan", "planned".
const STEM_CHARS: usize = 4;

/// Whether a summary may be about something else than the exchange. If so, the summary of the rules replaces it.
fn is_strange(summary: &str, said: &str) -> bool {
    let stems = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= STEM_CHARS);
        words.map(|word| word.to_lowercase().chars().take(STEM_CHARS).collect()).collect()
    };
    let (own, there) = (stems(summary), stems(said));
    let known = own.intersection(&there).count();
    let unsaid = !own.is_empty() && (known as f64) < SAID_FROM * own.len() as f64;
    unsaid || guard::looks_like_instructions(summary) || opens_with_a_stranger(summary, said)
}

/// Whether a summary begins with a capitalised word that is neither in the exchange nor a verb: it may be an invented
/// name. The session checks for names inside sentences.
fn opens_with_a_stranger(summary: &str, said: &str) -> bool {
    let first: String = summary.trim_start().chars().take_while(|c| c.is_alphanumeric()).collect();
    let is_verb = VERBS.contains(&first.as_str()) || VERB_ENDINGS.iter().any(|ending| first.ends_with(ending));
    let lower = first.to_lowercase();
    let is_said = || said.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word == lower);
    first.chars().next().is_some_and(char::is_uppercase) && !is_verb && !is_said()
}

/// Adds the proposals of the rules that the model does not make. Of two duplicates the rules' one stays, since it
/// quotes the user.
fn merge(told: &mut SummaryProposal, rules: SummaryProposal) {
    let diff = &mut told.base_truth_diff;
    let own = rules.base_truth_diff;
    for (model, rules) in [(&mut diff.add, own.add), (&mut diff.update, own.update)] {
        model.retain(|one| !rules.iter().any(|other| says_the_same(one, other)));
        model.splice(0..0, rules);
    }
    let updated: Vec<ProposedEntry> = diff.update.clone();
    diff.add.retain(|one| !updated.iter().any(|other| says_the_same(one, other)));
    for text in own.remove {
        if !diff.remove.contains(&text) {
            diff.remove.push(text);
        }
    }
}

fn says_the_same(one: &ProposedEntry, other: &ProposedEntry) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (one, other) = (words(one.text()), words(other.text()));
    let all = one.union(&other).count();
    all == 0 || one.intersection(&other).count() as f64 >= SAME_FROM * all as f64
}
