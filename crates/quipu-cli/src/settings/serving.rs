//! Settings of the server, of MCP and of upstreams.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use quipu_core::limit;
use quipu_engine::{Error, Result};
use quipu_server::{McpOptions, Placement, ProtectedResource, ServerOptions, TlsFiles, Upstream, Wire};
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
    /// Certificate chain and private key, PEM.
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    /// Make a certificate that is signed by itself.
    #[serde(default)]
    self_signed: bool,
    /// Base URL by which clients reach the server.
    public_url: Option<String>,
    /// Issuers of OAuth authorization servers.
    #[serde(default)]
    authorization_servers: Vec<String>,
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
                let base = base.trim_start_matches("http://").trim_start_matches("https://");
                base == format!("{host}:{}", addr.port()) || base.starts_with(&format!("{host}:{}/", addr.port()))
            })
        };
        if let Some(one) = upstreams.iter().find(itself) {
            return Err(Error::Invalid(format!(
                "upstream {} is {}, which is this server: give the address of the model's server",
                one.name, one.base_url
            )));
        }
        let protected_resource = match (&own.public_url, &*own.authorization_servers) {
            (None, []) => None,
            (None, _) => {
                return Err(Error::Invalid(
                    "serve.authorization_servers needs serve.public_url: the address by which clients reach this server"
                        .to_owned(),
                ));
            }
            (Some(url), servers) => Some(ProtectedResource::new(url, servers)?),
        };
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
            tls: None,
            protected_resource,
            demo: usual.demo,
            maintenance: self.maintenance.clone(),
            bounds: usual.bounds,
        })
    }
}

/// Where the certificate of the server comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TlsSetting {
    /// The server speaks plain HTTP.
    Off,
    /// Files of the operator.
    Files(TlsFiles),
    /// A certificate that is made in the data folder.
    SelfSigned,
}

/// What flags say about TLS.
#[derive(Debug, Default, Clone, clap::Args)]
pub(crate) struct TlsArgs {
    /// Speak TLS with this certificate and its intermediate ones (PEM); read again when it changes and at SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with = "self_signed")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM, without a passphrase)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Speak TLS with a certificate signed by itself, made once in the data folder
    #[arg(long)]
    pub(crate) self_signed: bool,
}

impl Settings {
    /// The certificate of the server: from flags, else from the settings file.
    ///
    /// # Errors
    /// `Invalid` for a certificate without a key, a key without a certificate, or either with `self_signed`.
    pub(crate) fn tls(&self, flags: &TlsArgs) -> Result<TlsSetting> {
        let own = &self.serve;
        if flags.self_signed {
            return Ok(TlsSetting::SelfSigned);
        }
        let (certificate, key, self_signed) = match (&flags.tls_cert, &flags.tls_key) {
            (None, None) => (&own.tls_cert, &own.tls_key, own.self_signed),
            (certificate, key) => (certificate, key, false),
        };
        match (certificate, key, self_signed) {
            (None, None, false) => Ok(TlsSetting::Off),
            (None, None, true) => Ok(TlsSetting::SelfSigned),
            (Some(certificate), Some(key), false) => {
                Ok(TlsSetting::Files(TlsFiles { certificate: certificate.clone(), key: key.clone() }))
            }
            (Some(_), Some(_), true) => Err(Error::Invalid(
                "serve.self_signed makes a certificate of its own: leave out serve.tls_cert and serve.tls_key"
                    .to_owned(),
            )),
            _ => Err(Error::Invalid("serve.tls_cert and serve.tls_key must be given together".to_owned())),
        }
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
