//! Endpoints of language models: address, dialect, key and limits.

use std::fmt;
use std::time::Duration;

use quipu_engine::ports::ModelError;

use super::account::{Allowance, Prices};

/// The dialect of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// OpenAI's `/v1/chat/completions`, and every compatible server.
    OpenAi,
    /// Anthropic's `/v1/messages`.
    Anthropic,
    /// Ollama, through its `/v1` endpoints.
    Ollama,
}

impl Provider {
    /// Its name in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// The provider with that name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::OpenAi, Self::Anthropic, Self::Ollama].into_iter().find(|provider| provider.as_str() == word)
    }

    /// The base URL unless the settings name another.
    #[must_use]
    pub fn base_url_default(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Ollama => "http://127.0.0.1:11434/v1",
        }
    }

    /// Whether it rejects requests without a key.
    #[must_use]
    pub fn needs_key(self, base_url: &str) -> bool {
        self != Self::Ollama && base_url == self.base_url_default()
    }
}

/// A secret, sent to its endpoint only and never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key unchanged.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Replaces the key in a text, in case a server repeated it.
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

/// Limits on time, size and retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Total time for one answer, retries included.
    pub total: Duration,
    /// Time to connect.
    pub connect: Duration,
    /// Time without data once an answer has begun.
    pub idle: Duration,
    /// Size of an answer, in bytes.
    pub answer_bytes_max: usize,
    /// Number of attempts at one answer when the server fails.
    pub attempts_max: u32,
    /// Wait before the first retry; later waits are longer.
    pub backoff: Duration,
    /// Consecutive failures after which the endpoint is suspended.
    pub failures_max: u32,
    /// Duration of the suspension.
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
    /// Its dialect.
    pub provider: Provider,
    /// The address before `/chat/completions` or `/messages`.
    pub base_url: String,
    /// The endpoint's name of the model.
    pub model: String,
    /// The key, if it needs one.
    pub key: Option<ApiKey>,
    /// Limits on time, size and retries.
    pub limits: Limits,
    /// Its prices.
    pub prices: Prices,
    /// The daily limit of each user.
    pub allowance: Allowance,
}

impl Endpoint {
    /// An endpoint at the provider's default address, without a key or a budget.
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

    /// The URL of a path below the base URL.
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
