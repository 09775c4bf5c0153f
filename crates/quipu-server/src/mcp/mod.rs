//! MCP: memory as tools, resources and prompts for language models. One file per group of tools; each tool converts,
//! calls one function of the engine, and converts back.
//!
//! What comes in here was written by a model. It is recorded as an agent's, only proposes changes, and erases nothing;
//! see `docs/mcp.md`.

mod call;
mod guest;
mod lines;
mod peer;
mod prompts;
mod resources;
mod said;
mod stdio;
mod tool;
mod tools;
pub(crate) mod unreadable;

pub(crate) use call::SharedState;
pub(crate) use guest::{McpCaller, toolsets};
pub(crate) use peer::Peer;

pub use guest::{McpOptions, Toolset};
pub use stdio::serve_stdio;
