//! A scripted model server: for tests, for `quipu doctor --self-test`, and for trying things out offline.
//!
//! [`FakeServer`] listens on a free port of the loopback interface and serves `/v1/chat/completions`, `/v1/responses`,
//! `/v1/embeddings`, `/v1/models` and Anthropic's `/v1/messages`, plain and streamed. A [`FakeScript`] defines its
//! replies, its [`Fault`]s and how often each fault occurs. Every request it received can be read back. The same script
//! and the same requests in the same order give the same bytes.
//!
//! It runs no model, uses no clock and no randomness, and makes no connections. It implements HTTP itself, because most
//! faults lie below HTTP: bytes that are not HTTP, a reset in the middle of a chunk, one byte at a time.
//!
//! ```
//! use quipu_fake_model::{FakeScript, FakeServer, Fault, Repetition};
//!
//! let script = FakeScript::saying("Good morning.").with(Fault::Unavailable500, Repetition::First(1));
//! let server = FakeServer::start(script)?;
//! assert!(server.base_url().starts_with("http://127.0.0.1:"));
//! assert!(server.received().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod rehearsal;

mod fault;
mod script;
mod server;

mod chat;
mod embeddings;
mod failing;
mod http;
mod messages;
mod reply;
mod request;
mod responses;
mod spoil;

pub use fault::{Fault, FaultKind};
pub use http::Received;
pub use request::{FakeRequest, RequestedFormat};
pub use script::{FakeScript, PlannedFault, Repetition, Reply};
pub use server::FakeServer;
