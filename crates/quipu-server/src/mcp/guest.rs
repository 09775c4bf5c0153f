//! Callers of MCP: the user, the scopes and the visible tools.

use std::str::FromStr;

use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_engine::{Error, Result};

/// Settings of MCP.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// Text that a client passes as the user's words counts as the user's. Default: on. If off, it is refused, because
    /// a manipulated model could otherwise attribute words to the user.
    pub user_words: bool,
    /// Over stdio: shows the tool that passes on a person's decisions. Default: off. Over HTTP the key's scope decides.
    pub review: bool,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self { user_words: true, review: false }
    }
}

/// A set of tools that is shown on request only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    /// Entities, relations and observations, named as in other memory servers.
    Graph,
    /// An agent's files, with the commands of Anthropic's memory tool.
    Files,
    /// Administration: figures, the log, verification.
    Admin,
}

impl Toolset {
    /// The name used in settings and query strings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Files => "files",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Toolset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "graph" => Ok(Self::Graph),
            "files" => Ok(Self::Files),
            "admin" => Ok(Self::Admin),
            other => Err(Error::Invalid(format!("there is no toolset {other:?}: there are graph, files and admin"))),
        }
    }
}

/// The caller of one request.
#[derive(Debug, Clone)]
pub(crate) struct McpCaller {
    /// The user whose memory it accesses.
    pub(crate) user: UserId,
    /// The public id of the caller's key; `None` for a local caller without one.
    pub(crate) key_id: Option<String>,
    /// The scopes it has.
    pub(crate) scopes: Vec<Scope>,
    /// Toolsets shown besides the default tools.
    pub(crate) toolsets: Vec<Toolset>,
}

impl McpCaller {
    /// True if the caller has this scope. No scope implies another here: review must be granted by name.
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

/// Parses a list such as `graph,admin`.
pub(crate) fn toolsets(text: &str) -> Result<Vec<Toolset>> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::parse).collect()
}
