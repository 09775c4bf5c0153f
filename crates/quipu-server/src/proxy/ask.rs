//! The memory options of a request, in headers that are never sent upstream.

use axum::http::HeaderMap;
use quipu_core::limit;
use quipu_engine::Engine;
use quipu_engine::versions::{VersionExpression, When};

/// What memory does for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Injects memory and records turns.
    Full,
    /// Injects memory and records nothing.
    ReadOnly,
    /// Records turns and injects nothing.
    WriteOnly,
    /// Does nothing.
    Off,
}

impl Mode {
    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Full | Self::ReadOnly)
    }

    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Full | Self::WriteOnly)
    }
}

/// The memory options of a request.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) mode: Mode,
    pub(crate) max_tokens: Option<usize>,
    /// Version of the memory to read.
    pub(crate) at: When,
    /// Name of the agent that replies.
    pub(crate) agent: Option<String>,
}

impl Ask {
    /// Reads `X-Memory-Mode`, `-Max-Tokens`, `-As-Of` and `-Agent`.
    ///
    /// # Errors
    /// A message if a header is invalid, or is one that only Quipu's own routes obey: a guess could expose or record
    /// what should not be.
    pub(crate) fn read(headers: &HeaderMap, engine: &Engine) -> Result<Self, String> {
        for name in ["x-memory-min-version", "x-memory-max-staleness-ms"] {
            if headers.contains_key(name) {
                return Err(format!("{name} is not for requests through the proxy, which always reads the present"));
            }
        }
        let mode = match text(headers, "x-memory-mode")?.unwrap_or("full") {
            "full" => Mode::Full,
            "readonly" => Mode::ReadOnly,
            "writeonly" => Mode::WriteOnly,
            "off" => Mode::Off,
            other => {
                return Err(format!("X-Memory-Mode must be full, readonly, writeonly or off, not {other:?}"));
            }
        };
        let max_tokens = match text(headers, "x-memory-max-tokens")? {
            None => None,
            Some(written) => {
                let wrong = || format!("X-Memory-Max-Tokens must be a number up to {}", limit::PACK_TOKENS_MAX);
                let tokens: usize = written.parse().map_err(|_| wrong())?;
                Some(tokens).filter(|tokens| *tokens <= limit::PACK_TOKENS_MAX).ok_or_else(wrong)?.into()
            }
        };
        let at = match text(headers, "x-memory-as-of")? {
            None => When::Now,
            Some(typed) => {
                let version = typed.parse().and_then(|version: VersionExpression| version.at(engine));
                version.map_err(|error| format!("X-Memory-As-Of: {error}"))?
            }
        };
        let agent = text(headers, "x-memory-agent")?;
        if let Some(agent) = agent {
            quipu_core::id::check_name("X-Memory-Agent", agent).map_err(|refusal| refusal.to_string())?;
        }
        Ok(Self { mode, max_tokens, at, agent: agent.map(str::to_owned) })
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, String> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    value.to_str().map(|text| Some(text.trim())).map_err(|_| format!("the header {name} is not plain text"))
}
