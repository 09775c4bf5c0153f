//! Options of the server: addresses, upstreams and limits.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_core::{limit, pack};
use quipu_engine::{Engine, Result};

use crate::maintenance::MaintenanceOptions;
use crate::mcp::McpOptions;
use crate::tls::TlsFiles;

/// Options of the server. The defaults listen on `127.0.0.1:7077`, have no upstream, and use the memory of the user
/// `me`.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Name of this server among those that share its store, for people and metrics. Default: `quipu`.
    pub name: String,
    /// Address to listen on. On any address other than loopback, every request needs a key.
    pub addr: SocketAddr,
    /// Accepted values of `Host` (`name` or `name:port`) besides the loopback names.
    pub allow_hosts: Vec<String>,
    /// Require a key for every request, also on loopback. Off by default.
    pub needs_key: bool,
    /// User of requests that name none.
    pub user: Option<UserId>,
    /// Upstreams that requests may be passed on to.
    pub upstreams: Vec<Upstream>,
    /// Time limit of a recall; after it the request goes on without memory.
    pub recall_within: Duration,
    /// Token budget of memory in a request, unless the request sets another.
    pub max_tokens: usize,
    /// Options of MCP.
    pub mcp: McpOptions,
    /// Certificate and key; without them the server speaks plain HTTP.
    pub tls: Option<TlsFiles>,
    /// MCP as a resource that an OAuth authorization server protects; without it no metadata is served.
    pub protected_resource: Option<ProtectedResource>,
    /// Fills a memory with demo data and returns its user; without it the inspector offers no demo.
    pub demo: Option<fn(&Engine) -> Result<UserId>>,
    /// Options of background maintenance.
    pub maintenance: MaintenanceOptions,
    /// All other limits.
    pub bounds: Bounds,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            name: "quipu".to_owned(),
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, 7077)),
            allow_hosts: Vec::new(),
            needs_key: false,
            user: UserId::parse("me").ok(),
            upstreams: Vec::new(),
            recall_within: Duration::from_millis(300),
            max_tokens: pack::DEFAULT_TOKENS,
            mcp: McpOptions::default(),
            tls: None,
            protected_resource: None,
            demo: None,
            maintenance: MaintenanceOptions::default(),
            bounds: Bounds::default(),
        }
    }
}

/// MCP as an OAuth protected resource (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedResource {
    /// Base URL by which clients reach this server, without a slash at its end.
    pub(crate) public_url: String,
    /// Issuers of the authorization servers.
    pub(crate) authorization_servers: Vec<String>,
}

/// Protocol of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// `POST {base_url}/chat/completions`, `/responses`, `/embeddings`; `GET {base_url}/models`.
    OpenAi,
    /// `POST {base_url}/v1/messages`.
    Anthropic,
}

/// Position of the changing part of memory in a request. The stable part, which is the same for every request of a
/// user, is always at the end of the system text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// After the user's last message, as a separate text in the same message. Everything up to and including that
    /// message stays unchanged, so an upstream's prefix cache remains valid, and no chat template sees an unexpected
    /// role.
    #[default]
    Turn,
    /// At the end of the system text. Tools and system text stay cached; the conversation after them does not.
    System,
}

/// A language model server that requests may be passed on to.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Name used in `/proxy/{name}/…`, metrics and messages.
    pub name: String,
    /// Base URL as client libraries take it: with `/v1` for OpenAI, without for Anthropic.
    pub base_url: String,
    /// Protocol of the upstream.
    pub wire: Wire,
    /// Key sent in place of a Quipu key. A caller's own key is passed through unchanged.
    pub key: Option<String>,
    /// Prefixes of the models it serves. If empty, it serves all models that no other upstream claims.
    pub models: Vec<String>,
    /// Position of the changing part of memory.
    pub placement: Placement,
}

/// Limits of the server.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Concurrent connections; further ones are closed immediately.
    pub connections_max: usize,
    /// Interval at which the TLS files are checked for changes.
    pub tls_check_every: Duration,
    /// Time limit for the head of a request; also for an idle connection between two requests.
    pub head_within: Duration,
    /// Maximum size of a request's head, in bytes.
    pub head_bytes_max: usize,
    /// Maximum number of headers of a request.
    pub headers_max: usize,
    /// Time limit for the body of a request.
    pub body_within: Duration,
    /// Maximum size of a proxied or large body, in bytes.
    pub body_bytes_max: usize,
    /// Maximum size of a file uploaded in the inspector, in bytes. Up to four of them wait in memory for a decision.
    pub upload_bytes_max: usize,
    /// Time limit for such an upload.
    pub upload_within: Duration,
    /// Maximum size of a body on a path of Quipu's own, in bytes.
    pub api_body_bytes_max: usize,
    /// Concurrent operations for requests on such paths.
    pub verbs_max: usize,
    /// How long such a request waits for its turn.
    pub verb_waits: Duration,
    /// Concurrent event streams.
    pub streams_max: usize,
    /// Requests a second allowed for each key in the long run.
    pub requests_per_second: u32,
    /// Requests allowed for each key at once (the burst).
    pub requests_at_once: u32,
    /// Time limit for a client that does not read what is sent to it.
    pub write_within: Duration,
    /// Time limit for connecting to an upstream.
    pub connect_within: Duration,
    /// How long an upstream may send nothing.
    pub upstream_idle: Duration,
    /// Concurrent recalls; those above `limit::UNFINISHED_MAX` would run without vectors.
    pub recalls_max: usize,
    /// Concurrent appends; those of one user are always sequential.
    pub recordings_max: usize,
    /// How long a request, and the end of a reply, waits for its messages to be durable. After that it goes on, reports
    /// this (`degraded`, or the outcome `late` in the metrics), and the append continues.
    pub append_within: Duration,
    /// Time after which an append, a recall or a probe of the engine counts as stalled, and `/health/ready` fails.
    pub stalled_after: Duration,
    /// The same for reading recorded messages, measured from its start or from a language model's last answer. Must be
    /// longer than one call of a model may take.
    pub reading_stalled_after: Duration,
    /// Users whose recorded turns are processed concurrently. Higher values take processor time from requests.
    pub studies_max: usize,
    /// Turns waiting to be recorded. Above it, requests go through without being recorded, and report this.
    pub turns_waiting_max: usize,
    /// Maximum size of a recorded reply, in bytes; the rest is cut, and the turn is marked as partial.
    pub reply_bytes_max: usize,
    /// On shutdown: time for open responses to end, and then again for waiting turns to be appended. Twice this must be
    /// less than [`STOPS_WITHIN`](crate::STOPS_WITHIN).
    pub drain_within: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: 1024,
            tls_check_every: Duration::from_secs(10),
            head_within: Duration::from_secs(10),
            head_bytes_max: 64 << 10,
            headers_max: 100,
            body_within: Duration::from_secs(15),
            body_bytes_max: 32 << 20,
            upload_bytes_max: 64_000_000,
            upload_within: Duration::from_secs(300),
            api_body_bytes_max: 4 << 20,
            verbs_max: 8,
            verb_waits: Duration::from_secs(10),
            streams_max: 64,
            requests_per_second: 100,
            requests_at_once: 400,
            write_within: Duration::from_secs(60),
            connect_within: Duration::from_secs(10),
            upstream_idle: Duration::from_secs(600),
            recalls_max: limit::UNFINISHED_MAX,
            recordings_max: 16,
            append_within: Duration::from_secs(5),
            stalled_after: Duration::from_secs(30),
            reading_stalled_after: Duration::from_secs(180),
            studies_max: 1,
            turns_waiting_max: 4096,
            reply_bytes_max: 1 << 20,
            drain_within: Duration::from_secs(3),
        }
    }
}
