//! The memory of a hook: the data folder, or a server.

use std::time::Duration;

use quipu_core::id::{ItemKind, UserId};
use quipu_core::pack::RequestNeed;
use quipu_core::recall::Verdict;
use quipu_engine::{
    Budget, ContextOptions, Engine, Error, RememberOptions, Result, Until, Utterance, judged_context, process,
    remember_all,
};
use reqwest::StatusCode;
use reqwest::blocking::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::HookArgs;
use super::transcript::TranscriptTurn;
use crate::app;
use crate::http_client;
use crate::settings::Settings;

/// Longest request to a server. The time limit of the hook is usually shorter.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// The memory of a hook.
pub(super) enum HookBackend {
    Folder(Box<Engine>),
    Server { client: Client, base: String, key: Option<String> },
}

impl HookBackend {
    pub(super) fn open(settings: &Settings, args: &HookArgs) -> Result<Self> {
        match &args.server {
            Some(base) => Self::server(base, args),
            None => Ok(Self::Folder(Box::new(app::open(settings)?))),
        }
    }

    fn server(base: &str, args: &HookArgs) -> Result<Self> {
        let client = http_client::to_server(ANSWER_WITHIN, None)?;
        Ok(Self::Server { client, base: base.trim_end_matches('/').to_owned(), key: args.api_key.clone() })
    }

    /// The pack for a prompt, or `None` if it has no items. With `must_answer`, also `None` if the prompt needs no
    /// memory or the memory does not answer it.
    pub(super) fn packed(
        &self,
        user: &UserId,
        question: &str,
        max_tokens: usize,
        must_answer: bool,
    ) -> Result<Option<String>> {
        match self {
            Self::Folder(engine) => {
                let options = ContextOptions { max_tokens, ..ContextOptions::of(question) };
                let made = judged_context(engine, user, &options)?;
                let is_wanted = !must_answer
                    || match made.pack.need {
                        RequestNeed::Nothing | RequestNeed::Unknown => false,
                        RequestNeed::Task => !made.pack.changing.is_empty(),
                        RequestNeed::Memory => made.decision.verdict != Verdict::Abstain,
                    };
                Ok((is_wanted && !made.pack.citations.is_empty()).then_some(made.pack.text))
            }
            Self::Server { client, base, key } => {
                let request = client.post(format!("{base}/memory/{user}/context"));
                let body = json!({"query": question, "max_tokens": max_tokens});
                let answer = send(with_json(request, &body), key.as_deref())?;
                let is_wanted = !must_answer
                    || match answer["need"].as_str() {
                        Some("nothing" | "unknown") => false,
                        Some("task") => answer["changing"] != "",
                        _ => answer["decision"]["verdict"] != "abstain",
                    };
                let has_items = answer["citations"].as_array().is_some_and(|cited| !cited.is_empty());
                Ok(answer["text"].as_str().filter(|_| is_wanted && has_items).map(str::to_owned))
            }
        }
    }

    /// Records a turn durably. A turn that is recorded already is not recorded again.
    pub(super) fn record(&self, user: &UserId, session: &str, turn: &TranscriptTurn) -> Result<()> {
        let key = format!("hook:{session}:{}", turn.name);
        let recorded = match self {
            Self::Folder(engine) => {
                let said = Utterance {
                    role: turn.role,
                    session: Some(session.to_owned()),
                    said_at: turn.said_at,
                    ..Utterance::of_user(&turn.text)
                };
                let options =
                    RememberOptions { idempotency_key: Some(key), durable_only: true, ..RememberOptions::default() };
                remember_all(engine, user, &[said], ItemKind::Turn, &options).map(drop)
            }
            Self::Server { client, base, key: secret } => {
                let message = json!({"role": turn.role.as_str(), "content": turn.text, "said_at": turn.said_at});
                let body = json!({"messages": [message], "session_id": session, "wait": "durable"});
                let request = client.post(format!("{base}/memory/{user}/turns")).header("Idempotency-Key", key);
                send(with_json(request, &body), secret.as_deref()).map(drop)
            }
        };
        match recorded {
            // The turn differs from the recorded one, or the gate refused it; continue with the next turns.
            Err(Error::Refused(_)) => Ok(()),
            recorded => recorded,
        }
    }

    /// Extracts facts from recorded turns; a server does so by itself.
    pub(super) fn extract(&self, user: &UserId, session: &str) -> Result<()> {
        match self {
            Self::Folder(engine) => {
                let budget = Budget { session: Some(session.to_owned()), ..Budget::default() };
                process(engine, user, Until::Extracted, &budget).map(drop)
            }
            Self::Server { .. } => Ok(()),
        }
    }
}

fn with_json(request: RequestBuilder, body: &Value) -> RequestBuilder {
    request.header("Content-Type", "application/json").body(body.to_string())
}

/// Sends a request. Returns the JSON of the response, or the error for its status.
fn send(request: RequestBuilder, key: Option<&str>) -> Result<Value> {
    let request = key.into_iter().fold(request, |request, key| request.bearer_auth(key));
    let lost = |error: reqwest::Error| Error::Unavailable(format!("the server was not reached: {error}"));
    let answer = request.send().map_err(lost)?;
    let status = answer.status();
    let body: Value = serde_json::from_slice(&answer.bytes().map_err(lost)?).unwrap_or_default();
    let why =
        || body["error"]["message"].as_str().map_or_else(|| format!("the server answered {status}"), str::to_owned);
    match status {
        status if status.is_success() => Ok(body),
        StatusCode::NOT_FOUND => Err(Error::NotFound(why())),
        StatusCode::UNPROCESSABLE_ENTITY => Err(Error::Refused(why())),
        status if status.is_client_error() => Err(Error::Invalid(why())),
        _ => Err(Error::Unavailable(why())),
    }
}
