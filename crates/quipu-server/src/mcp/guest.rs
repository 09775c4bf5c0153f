//! Who asks through MCP: whose memory, what for, and which tools are in sight.

use std::str::FromStr;

use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_engine::{Error, Result};

/// What is decided about MCP where the server is set up.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// Words a client hands on as the user's own count as the user's; default on. Off, they are refused: a model that was talked
    /// into it could otherwise put words into the user's mouth.
    pub user_words: bool,
    /// Over stdio: the tool that relays a person's decisions is in sight; default off. Over HTTP the scope of the key says so.
    pub review: bool,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self { user_words: true, review: false }
    }
}

/// A set of tools that is in sight only if it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    /// Entities, relations and observations, by the names other memory servers have for them.
    Graph,
    /// Files an agent keeps, by the commands of Anthropic's memory tool.
    Files,
    /// Looking after a memory: figures, the log, whether it is intact.
    Admin,
}

impl Toolset {
    /// Its name.
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

/// Who asks, in one request.
#[derive(Debug, Clone)]
pub(crate) struct McpCaller {
    /// Whose memory it is about.
    pub(crate) user: UserId,
    /// The public id of the caller's key; none on this machine without one.
    pub(crate) key_id: Option<String>,
    /// What may be done.
    pub(crate) scopes: Vec<Scope>,
    /// Which tools are in sight besides the usual ones.
    pub(crate) toolsets: Vec<Toolset>,
}

impl McpCaller {
    /// True if this may be done. No scope stands for another here: deciding is for those it was given to by name.
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

/// The toolsets of a list such as `graph,admin`.
pub(crate) fn toolsets(text: &str) -> Result<Vec<Toolset>> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::parse).collect()
}
