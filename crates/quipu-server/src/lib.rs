//! The network server: a proxy that adds memory to any application of a language model, an HTTP API, MCP, the
//! inspector, health checks and metrics.
//!
//! The server converts requests into engine operations and has no rules of its own. It reads no settings; the caller
//! passes them as [`ServerOptions`].
//!
//! ```no_run
//! # fn parts() -> quipu_server::ServerParts { unimplemented!() }
//! use quipu_server::{ServerOptions, serve};
//!
//! let options = ServerOptions::default();
//! serve(parts(), options, |bound| println!("listening on {}", bound.addr))?;
//! # Ok::<(), quipu_engine::Error>(())
//! ```

mod http;
mod imports;
mod inspector;
mod mcp;
mod options;
mod proxy;

mod app;
mod maintenance;
mod memory;
mod memory_tool;
mod metrics;
mod peers;
mod probe;
mod progress;
mod queue;
mod server;
mod streams;
mod tls;
mod word_caches;

pub use app::{ChatModel, ServerParts};
pub use maintenance::MaintenanceOptions;
pub use mcp::{McpOptions, Toolset, serve_stdio};
pub use metrics::Metrics;
pub use options::{Bounds, Placement, ProtectedResource, ServerOptions, Upstream, Wire};
pub use server::{Bound, Drained, STOPS_WITHIN, Server, serve};
pub use streams::StreamServer;
pub use tls::TlsFiles;
