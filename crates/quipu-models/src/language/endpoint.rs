//! Where a model is, how to speak to it, and how long to wait.

use std::fmt;
use std::time::Duration;

use quipu_engine::ports::ModelError;

use super::account::{Allowance, Prices};

/// Whose dialect an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// OpenAI's `/v1/chat/completions`, of OpenAI or of anybody who offers the same.
    OpenAi,
    /// Anthropic's `/v1/messages`.
    Anthropic,
    /// Ollama, by its `/v1` door.
    Ollama,
}

impl Provider {
    /// The word for it in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// The provider of that word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::OpenAi, Self::Anthropic, Self::Ollama].into_iter().find(|provider| provider.as_str() == word)
    }

    /// Where it is unless somebody says otherwise.
    #[must_use]
    pub fn base_url_default(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Ollama => "http://127.0.0.1:11434/v1",
        }
    }

    /// Whether it answers nobody without a key.
    #[must_use]
    pub fn needs_key(self, base_url: &str) -> bool {
        self != Self::Ollama && base_url == self.base_url_default()
    }
}

/// A secret: it is sent to its endpoint and shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes the key as it came.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// A text in which the key, should a server have repeated it, is blotted out.
    pub(super) fn blotted(key: Option<&Self>, text: &str) -> String {
        match key {
            Some(Self(key)) if !key.is_empty() => text.replace(key.as_str(), "***"),
            _ => text.to_owned(),
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

/// How long, how much and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest time for one answer, with everything that is asked again.
    pub total: Duration,
    /// The longest time to connect.
    pub connect: Duration,
    /// The longest silence once an answer has begun.
    pub idle: Duration,
    /// The largest answer, in bytes.
    pub answer_bytes_max: usize,
    /// How often a failing server is asked for one answer.
    pub attempts_max: u32,
    /// The first wait before it is asked again; the next ones are longer.
    pub backoff: Duration,
    /// Failures in a row after which an endpoint is left alone.
    pub failures_max: u32,
    /// For how long it is left alone.
    pub rest: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(60),
            connect: Duration::from_secs(5),
            idle: Duration::from_secs(20),
            answer_bytes_max: 4 << 20,
            attempts_max: 3,
            backoff: Duration::from_millis(300),
            failures_max: 5,
            rest: Duration::from_secs(30),
        }
    }
}

/// A model at an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// How it is spoken to.
    pub provider: Provider,
    /// Up to and without `/chat/completions` or `/messages`.
    pub base_url: String,
    /// The model, as the endpoint calls it.
    pub model: String,
    /// The key, if it needs one.
    pub key: Option<ApiKey>,
    /// How long, how much and how often.
    pub limits: Limits,
    /// What it costs.
    pub prices: Prices,
    /// What may be spent.
    pub allowance: Allowance,
}

impl Endpoint {
    /// One at the provider's usual place, without a key or a budget.
    #[must_use]
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            base_url: provider.base_url_default().to_owned(),
            model: model.into(),
            key: None,
            limits: Limits::default(),
            prices: Prices::default(),
            allowance: Allowance::default(),
        }
    }

    /// The address of a place below the base.
    pub(super) fn url(&self, place: &str) -> Result<reqwest::Url, ModelError> {
        let wrong = |why: String| ModelError::Invalid(format!("base_url {:?}: {why}", self.base_url));
        let url: reqwest::Url = format!("{}/{place}", self.base_url.trim_end_matches('/'))
            .parse()
            .map_err(|why| wrong(format!("{why}")))?;
        let has_login = !url.username().is_empty() || url.password().is_some();
        match url.scheme() {
            "http" | "https" if has_login => Err(wrong("a key goes into api_key_env, not into the address".to_owned())),
            "http" | "https" => Ok(url),
            other => Err(wrong(format!("{other} is neither http nor https"))),
        }
    }
}
