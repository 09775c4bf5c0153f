//! MCP: memory as tools, resources and prompts of whatever a language model runs in. A file a family of tools; each converts, calls one
//! verb, and converts back.
//!
//! What comes through here was written by a model. It is recorded as an agent's, it proposes where it would change, and it erases
//! nothing; `docs/mcp.md` has the whole of it.

mod call;
mod guest;
mod peer;
mod prompts;
mod resources;
mod said;
mod stdio;
mod tool;
mod tools;

pub(crate) use call::SharedState;
pub(crate) use guest::{McpCaller, toolsets};
pub(crate) use peer::Peer;

pub use guest::{McpOptions, Toolset};
pub use stdio::serve_stdio;
