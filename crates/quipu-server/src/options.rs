//! What a server is told: where to listen, whom to ask, and every bound it keeps.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_core::{limit, pack};
use quipu_engine::{Engine, Result};

use crate::maintenance::MaintenanceOptions;
use crate::mcp::McpOptions;

/// What a server is told. The default listens on `127.0.0.1:7077`, knows no upstream, and remembers for the user `me`.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Where to listen. On any other than a loopback address every request needs a key.
    pub addr: SocketAddr,
    /// Names besides loopback's own under which it may be asked, as `Host` has them (`name` or `name:port`).
    pub allow_hosts: Vec<String>,
    /// Every request needs a key, on loopback too; default off.
    pub needs_key: bool,
    /// Whose memory it is if a request does not say.
    pub user: Option<UserId>,
    /// Where requests may go.
    pub upstreams: Vec<Upstream>,
    /// How long a request waits for its memory; then it goes on without.
    pub recall_within: Duration,
    /// Tokens of memory in one request, unless it says otherwise.
    pub max_tokens: usize,
    /// What is decided about MCP.
    pub mcp: McpOptions,
    /// Fills the memory of a user with demo data and says whose it is; without it the inspector does not offer any.
    pub demo: Option<fn(&Engine) -> Result<UserId>>,
    /// What the server does by itself.
    pub maintenance: MaintenanceOptions,
    /// Every other bound.
    pub bounds: Bounds,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, 7077)),
            allow_hosts: Vec::new(),
            needs_key: false,
            user: UserId::parse("me").ok(),
            upstreams: Vec::new(),
            recall_within: Duration::from_millis(300),
            max_tokens: pack::DEFAULT_TOKENS,
            mcp: McpOptions::default(),
            demo: None,
            maintenance: MaintenanceOptions::default(),
            bounds: Bounds::default(),
        }
    }
}

/// How an upstream is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// `POST {base_url}/chat/completions`, `/responses`, `/embeddings`; `GET {base_url}/models`.
    OpenAi,
    /// `POST {base_url}/v1/messages`.
    Anthropic,
}

/// Where memory stands in a request. What is the same for every request of a user stands at the end of the system text; this says
/// where the part stands that is for one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// After the user's last words, as a text of its own in the same message. Everything up to and with those words stays as it
    /// was, so an upstream's cache of the prefix holds, and no chat template meets a role it does not expect.
    #[default]
    Turn,
    /// At the end of the system text. Tools and system text stay cached, the conversation after them does not.
    System,
}

/// A language model's server that requests may be passed on to.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Its name, for `/proxy/{name}/…`, metrics and messages.
    pub name: String,
    /// As the client libraries take it: with `/v1` for OpenAI, without for Anthropic.
    pub base_url: String,
    /// How it is spoken to.
    pub wire: Wire,
    /// Sent in place of a key of Quipu's. A caller's own key goes through unchanged.
    pub key: Option<String>,
    /// It is asked for models whose names begin with one of these; without any, for all that no other one claims.
    pub models: Vec<String>,
    /// Where the block of memory stands.
    pub placement: Placement,
}

/// What a server bears, in one place.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Connections at a time; more are closed at once.
    pub connections_max: usize,
    /// How long the head of a request may take to arrive; also how long a connection may idle between two.
    pub head_within: Duration,
    /// Bytes of a request's head.
    pub head_bytes_max: usize,
    /// Headers of a request.
    pub headers_max: usize,
    /// How long the body of a request may take to arrive.
    pub body_within: Duration,
    /// Bytes of a request's body.
    pub body_bytes_max: usize,
    /// Bytes of a request's body on a path of Quipu's own.
    pub api_body_bytes_max: usize,
    /// Verbs at work at a time for requests on such paths, and how long a request waits for its turn.
    pub verbs_max: usize,
    /// See `verbs_max`.
    pub verb_waits: Duration,
    /// Callers at a time that are told events as they come.
    pub streams_max: usize,
    /// Requests a second that one key may make in the long run, and at once.
    pub requests_per_second: u32,
    /// See `requests_per_second`.
    pub requests_at_once: u32,
    /// How long a client may take nothing of what is written to it.
    pub write_within: Duration,
    /// How long an upstream may take to accept a connection.
    pub connect_within: Duration,
    /// How long an upstream may be silent.
    pub upstream_idle: Duration,
    /// Recalls at a time; more than `limit::UNFINISHED_MAX` would do without meaning.
    pub recalls_max: usize,
    /// Exchanges that are appended at a time; of one user always one after the other.
    pub recordings_max: usize,
    /// How long a request, and the end of an answer, waits until its words are durable. After that it goes on, says so
    /// (`degraded`, or the outcome `late` in the metrics), and the words are still appended.
    pub append_within: Duration,
    /// After how long an append, a recall or a probe of the engine counts as stalled: `/health/ready` then says no.
    pub stalled_after: Duration,
    /// The same for reading what was appended, counted from its begin or from a language model's last answer. To be
    /// longer than one question to a model may take.
    pub reading_stalled_after: Duration,
    /// Users at a time whose recorded turns are read and told. More take the processor from those who wait for an answer.
    pub studies_max: usize,
    /// Turns that wait to be recorded; with more, requests go through without being remembered, and say so.
    pub turns_waiting_max: usize,
    /// Bytes of a reply's text that are remembered; the rest is cut, and the turn flagged.
    pub reply_bytes_max: usize,
    /// How long open answers get to end once the server is to stop, and after that how long waiting turns get to be
    /// appended. Twice this is less than [`STOPS_WITHIN`](crate::STOPS_WITHIN).
    pub drain_within: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: 1024,
            head_within: Duration::from_secs(10),
            head_bytes_max: 64 << 10,
            headers_max: 100,
            body_within: Duration::from_secs(15),
            body_bytes_max: 32 << 20,
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
