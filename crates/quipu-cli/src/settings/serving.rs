//! Settings of the server, of MCP and of upstreams.

use std::net::SocketAddr;
use std::time::Duration;

use quipu_core::limit;
use quipu_engine::{Error, Result};
use quipu_server::{McpOptions, Placement, ServerOptions, Upstream, Wire};
use serde::Deserialize;

use super::Settings;

/// `[serve]` of the settings file.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Serving {
    /// Name of this server among those that share its store.
    server_name: Option<String>,
    addr: Option<SocketAddr>,
    #[serde(default)]
    allow_hosts: Vec<String>,
    /// Require keys on loopback too.
    #[serde(default)]
    require_keys: bool,
    recall_ms: Option<u64>,
    max_tokens: Option<usize>,
    /// Address of a collector for OTLP over HTTP.
    otlp_endpoint: Option<String>,
}

/// `[mcp]` of the settings file.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mcp {
    user_words: Option<bool>,
    review: Option<bool>,
}

impl From<Mcp> for McpOptions {
    fn from(set: Mcp) -> Self {
        let usual = Self::default();
        Self { user_words: set.user_words.unwrap_or(usual.user_words), review: set.review.unwrap_or(usual.review) }
    }
}

/// One `[[upstream]]` of the settings file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpstreamSetting {
    name: String,
    base_url: String,
    kind: Kind,
    /// Name of the environment variable with the key.
    key_env: Option<String>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    memory: Position,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    OpenAi,
    Anthropic,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Position {
    #[default]
    Turn,
    System,
}

/// Maximum length of a server's name, in bytes.
const SERVER_NAME_BYTES_MAX: usize = 128;

/// Upstreams from the variables of client libraries: name, kind, variables of address and key.
const OF_ENVIRONMENT: [(&str, Wire, &str, &str); 2] = [
    ("openai", Wire::OpenAi, "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    ("anthropic", Wire::Anthropic, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
];

impl Settings {
    /// The address for spans, if one is set: `serve.otlp_endpoint`, else the variables of OpenTelemetry.
    ///
    /// # Errors
    /// `Invalid` for an address that is not HTTP.
    pub(crate) fn collector(&self) -> Result<Option<String>> {
        const PLACE: &str = "/v1/traces";
        let base = self.serve.otlp_endpoint.clone().or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT"));
        let below = |base: String| match base.trim_end_matches('/') {
            whole if whole.ends_with(PLACE) => whole.to_owned(),
            base => format!("{base}{PLACE}"),
        };
        let exact = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").filter(|_| self.serve.otlp_endpoint.is_none());
        let Some(address) = exact.or(base.map(below)) else { return Ok(None) };
        let is_http = reqwest::Url::parse(&address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if is_http {
            Ok(Some(address))
        } else {
            Err(Error::Invalid(format!("{address:?} is not an http address for spans")))
        }
    }

    /// Name of this server: `QUIPU_SERVER_NAME`, else `serve.server_name`, else the name of the machine.
    ///
    /// # Errors
    /// `Invalid` for a name that is empty, too long, or has control characters.
    pub(crate) fn server_name(&self) -> Result<String> {
        let named = variable("QUIPU_SERVER_NAME").or_else(|| self.serve.server_name.clone());
        let name = named.or_else(|| whoami::hostname().ok()).unwrap_or_else(|| "quipu".to_owned());
        if name.is_empty() || name.len() > SERVER_NAME_BYTES_MAX || name.chars().any(char::is_control) {
            return Err(Error::Invalid(format!(
                "serve.server_name (QUIPU_SERVER_NAME) must be 1 to {SERVER_NAME_BYTES_MAX} bytes without control characters"
            )));
        }
        Ok(name)
    }

    /// The options of the server. `addr` and `hosts` are from flags.
    ///
    /// Upstreams are those of the settings file. A kind without one uses `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL` if
    /// set.
    ///
    /// # Errors
    /// `Invalid` if the variable of a key is not set, or an upstream is this server itself.
    pub(crate) fn serving(&self, addr: Option<SocketAddr>, hosts: &[String]) -> Result<ServerOptions> {
        let usual = ServerOptions::default();
        let own = &self.serve;
        let mut upstreams = self.upstream.iter().map(UpstreamSetting::read).collect::<Result<Vec<_>>>()?;
        for (name, wire, base, key) in OF_ENVIRONMENT {
            let is_named = upstreams.iter().any(|one| one.wire == wire || one.name == name);
            if let Some(base_url) = variable(base).filter(|_| !is_named) {
                upstreams.push(Upstream {
                    name: name.to_owned(),
                    base_url,
                    wire,
                    key: variable(key),
                    models: Vec::new(),
                    placement: Placement::default(),
                });
            }
        }
        let addr = addr.or(own.addr).unwrap_or(usual.addr);
        let itself = |one: &&Upstream| {
            let base = one.base_url.to_ascii_lowercase();
            ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| {
                let base = base.trim_start_matches("http://");
                base == format!("{host}:{}", addr.port()) || base.starts_with(&format!("{host}:{}/", addr.port()))
            })
        };
        if let Some(one) = upstreams.iter().find(itself) {
            return Err(Error::Invalid(format!(
                "upstream {} is {}, which is this server: give the address of the model's server",
                one.name, one.base_url
            )));
        }
        let max_tokens = own.max_tokens.unwrap_or(usual.max_tokens);
        if max_tokens > limit::PACK_TOKENS_MAX {
            return Err(Error::Invalid(format!("serve.max_tokens must be at most {}", limit::PACK_TOKENS_MAX)));
        }
        Ok(ServerOptions {
            name: self.server_name()?,
            addr,
            allow_hosts: own.allow_hosts.iter().chain(hosts).cloned().collect(),
            needs_key: own.require_keys,
            user: Some(self.user.clone()),
            upstreams,
            recall_within: own.recall_ms.map_or(usual.recall_within, Duration::from_millis),
            max_tokens,
            mcp: self.mcp.clone(),
            demo: usual.demo,
            maintenance: self.maintenance.clone(),
            bounds: usual.bounds,
        })
    }
}

impl UpstreamSetting {
    fn read(&self) -> Result<Upstream> {
        let key = match &self.key_env {
            None => None,
            Some(name) => Some(variable(name).ok_or_else(|| {
                Error::Invalid(format!("upstream {}: the variable {name} of its key is not set", self.name))
            })?),
        };
        Ok(Upstream {
            name: self.name.clone(),
            base_url: self.base_url.clone(),
            wire: match self.kind {
                Kind::OpenAi => Wire::OpenAi,
                Kind::Anthropic => Wire::Anthropic,
            },
            key,
            models: self.models.clone(),
            placement: match self.memory {
                Position::Turn => Placement::Turn,
                Position::System => Placement::System,
            },
        })
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
