//! Ask: a question, what the memory answers, where it knows that from, and the way to correct it; on request, what a
//! language model answers from the same memory.

use std::time::Duration;

use askama::Template;
use quipu_core::id::ItemId;
use quipu_core::pack::{PackLine, escape_for_terminal};
use quipu_core::recall::Verdict;
use quipu_engine::ports::{CompletionRequest, Message, ModelError, Purpose, Scope};
use quipu_engine::{Answer, ContextOptions, Error, RecallOptions, RecallReport, context, recall};

use super::super::fields::encoded;
use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::shown;
use crate::http::Fault;

/// Findings listed, the first included.
const FOUND: usize = 5;
/// Quotes of a finding.
const QUOTES: usize = 2;
/// Time limit of a model's answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);
/// Longest answer of a model, in tokens.
const ANSWER_TOKENS: u32 = 800;
/// Sampling temperature: the answer should follow what is remembered.
const TEMPERATURE: f32 = 0.2;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/ask", Scope::Read, ask),
        // A model costs money, which a key that may only read does not spend.
        Page::post("/ui/u/{user_id}/ask", Scope::Write, asked_of_model),
    ]
}

struct Finding {
    id: ItemId,
    text: String,
    kind: &'static str,
    meta: Vec<String>,
    quotes: Vec<(ItemId, String, String)>,
    against: Vec<String>,
    outdated: Vec<String>,
}

struct Reply {
    tone: &'static str,
    verdict: &'static str,
    probability: String,
    question: String,
    best: Option<Finding>,
    others: Vec<Finding>,
    degraded: String,
}

/// What a model answered, or why it did not, and what it was given.
struct ModelAnswer {
    text: String,
    is_cut: bool,
    /// What went wrong, and what to do.
    fault: Option<(String, &'static str)>,
    tokens: String,
    lines: Vec<PackLine>,
    given: String,
    given_tokens: usize,
}

#[derive(Template)]
#[template(path = "ask.html")]
struct Ask {
    f: Frame,
    q: String,
    reply: Option<Reply>,
    /// Name of the configured model.
    model: Option<String>,
    answer: Option<ModelAnswer>,
}

fn finding(hit: &Answer) -> Finding {
    let mut meta = vec![hit.speaker.clone()];
    meta.extend(hit.said_at.map(shown::day));
    meta.extend(hit.status.clone().filter(|status| status != "active"));
    if hit.valid_from.is_some() || hit.valid_to.is_some() {
        let to = hit.valid_to.map_or_else(|| "now".to_owned(), shown::day);
        meta.push(format!("{} → {to}", hit.valid_from.map_or_else(|| "?".to_owned(), shown::day)));
    }
    meta.retain(|one| !one.is_empty());
    let quote = |one: &quipu_engine::Quote| (one.id, one.text.clone(), one.speaker.clone());
    Finding {
        id: hit.id,
        text: hit.text.clone(),
        kind: shown::kind(hit.id.kind),
        meta,
        quotes: hit.evidence.iter().take(QUOTES).map(quote).collect(),
        against: hit.contested_by.iter().map(|(_, text)| text.clone()).collect(),
        outdated: hit.outdated.iter().map(|(_, text)| text.clone()).collect(),
    }
}

fn reply(found: &RecallReport) -> Reply {
    let decision = &found.decision;
    let (tone, verdict) = match decision.verdict {
        Verdict::Answer => ("good", "The memory answers this."),
        Verdict::Verify => ("warn", "The memory may answer this: check it."),
        Verdict::Clarify => ("warn", "The memory is not sure."),
        Verdict::Abstain => ("bad", "The memory does not know this."),
    };
    let mut findings = found.hits.iter().map(finding);
    let best = if decision.verdict == Verdict::Abstain { None } else { findings.next() };
    Reply {
        tone,
        verdict,
        probability: format!("{:.0} %", decision.probability * 100.0),
        question: decision.question.clone().unwrap_or_default(),
        best,
        others: findings.collect(),
        degraded: found.degraded.clone().unwrap_or_default(),
    }
}

fn ask(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    shown_with(desk, desk.asked.get("q").unwrap_or_default(), None)
}

fn shown_with(desk: &PageContext<'_>, q: &str, answer: Option<ModelAnswer>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let mut f = desk.frame_of(&user, "Ask", "ask")?;
    q.clone_into(&mut f.query);
    // After a form was sent, this address would show nothing to who comes back from the switch of the theme.
    f.here = format!("{}/ask?q={}", f.base, encoded(q));
    let reply = if q.is_empty() {
        None
    } else {
        let options = RecallOptions { k: FOUND, ..RecallOptions::of(q) };
        Some(reply(&recall(desk.engine, &user, &options)?))
    };
    let model = desk.app.chat.as_ref().map(|chat| chat.model.id().to_owned());
    page(&Ask { f, q: q.to_owned(), reply, model, answer })
}

/// What to do about an error of a model.
fn advice(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unavailable { .. } => {
            "Ask again in a moment. `quipu doctor` checks whether the model can be reached."
        }
        ModelError::TooSlow(_) => "Ask something narrower, or raise deadline_ms in [models.chat] of config.toml.",
        ModelError::Refused(_) => "Ask in other words.",
        ModelError::Malformed(_) | ModelError::Truncated { .. } => "Ask something narrower, or ask again.",
        ModelError::Unauthorised(_) => {
            "Check the key named in [models.chat] of config.toml, and start the server again."
        }
        ModelError::OverBudget(_) => "Ask tomorrow, or raise the budget in [models.chat] of config.toml.",
        ModelError::Invalid(_) => {
            "Check the name of the model in [models.chat] of config.toml. `quipu doctor` tests it."
        }
        ModelError::Stopped => "Ask again.",
    }
}

/// Has the model answer from the pack of the question.
fn asked_of_model(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let q = desk.needs("q", "the question is missing")?.to_owned();
    let chat = desk.app.chat.as_ref().ok_or_else(|| {
        let why = "no chat model is configured: set [models.chat] in config.toml and start the server again";
        Fault::from(Error::Unavailable(why.to_owned()))
    })?;
    // A model that hangs must not take the places of all other operations.
    let _place = desk.app.chats.try_acquire().map_err(|_| Fault::busy(ANSWERS_WITHIN))?;
    let pack = context(desk.engine, &user, &ContextOptions::of(&q))?;
    let request = CompletionRequest {
        user: Some(user),
        purpose: Purpose::Chat,
        system: format!("{}\n{}", chat.prompt, pack.text),
        messages: vec![Message::of_user(&q)],
        shape: None,
        output_tokens_max: ANSWER_TOKENS,
        temperature: TEMPERATURE,
    };
    let answered = chat.model.complete(&request, ANSWERS_WITHIN);
    let (lines, given, given_tokens) = (pack.lines, pack.text, pack.tokens);
    let answer = match answered {
        Ok(done) => ModelAnswer {
            text: escape_for_terminal(done.text.trim()),
            is_cut: done.cut,
            fault: None,
            tokens: format!("{} tokens read, {} written", done.usage.input_tokens, done.usage.output_tokens),
            lines,
            given,
            given_tokens,
        },
        Err(error) => ModelAnswer {
            text: String::new(),
            is_cut: false,
            fault: Some((error.to_string(), advice(&error))),
            tokens: String::new(),
            lines,
            given,
            given_tokens,
        },
    };
    shown_with(desk, &q, Some(answer))
}
