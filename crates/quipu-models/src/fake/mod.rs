//! A model server that does as it is told: for tests, for `quipu doctor --self-test`, and for trying things out offline.
//!
//! [`FakeServer`] listens on a free port of the loopback interface and speaks `/v1/chat/completions`, `/v1/responses`,
//! `/v1/embeddings`, `/v1/models` and Anthropic's `/v1/messages`, plain and streamed. A [`Script`] says what it answers and
//! which [`Fault`]s it has, and how often. Everything it was sent can be read back. The same script and the same requests
//! in the same order give the same bytes.
//!
//! Not here: a model. It needs no clock and no randomness, and never speaks to anybody.
//!
//! ```
//! use quipu_models::fake::{FakeServer, Fault, Script, Times};
//!
//! let server = FakeServer::start(Script::saying("Good morning.").with(Fault::Unavailable500, Times::First(1)))?;
//! assert!(server.base_url().starts_with("http://127.0.0.1:"));
//! assert!(server.received().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

mod fault;
mod script;
mod server;

mod asked;
mod chat;
mod embeddings;
mod failing;
mod http;
mod messages;
mod responses;
mod spoil;
mod told;

pub use asked::{FakeRequest, RequestedFormat};
pub use fault::{Fault, FaultKind};
pub use http::Received;
pub use script::{FakeScript, PlannedFault, Repetition, Reply};
pub use server::FakeServer;
