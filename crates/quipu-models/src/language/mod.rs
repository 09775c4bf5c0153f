//! Language models at an endpoint: OpenAI's chat completions and compatible servers, Anthropic, Ollama.
//!
//! [`RemoteModel`] translates a request into the endpoint's dialect, enforces deadlines and budgets, retries where
//! that can help, suspends an endpoint that fails, and finds the mode of requesting JSON that works there
//! ([`JsonMode`]). Every answer is validated here, whatever the server promises. [`ModelUsage`] records today's usage.
//!
//! The prompts are elsewhere ([`crate::ModelSummarizer`], [`crate::ModelReader`]). Only configured endpoints are
//! contacted, and only for a request.

mod account;
mod endpoint;
mod remote;

mod anthropic;
mod backoff;
mod breaker;
mod dialect;
mod events;
mod fault;
mod json_text;
mod ladder;
mod observed;
mod openai;
mod transport;

pub use account::{Allowance, ModelUsage, Prices, Spent};
pub use endpoint::{ApiKey, Endpoint, Limits, Provider};
pub use ladder::JsonMode;
pub use remote::{Probed, RemoteModel};
