//! Language models behind an endpoint: anything that speaks OpenAI's chat completions, Anthropic, Ollama.
//!
//! [`RemoteModel`] is the whole of it: it puts a request into the endpoint's dialect, keeps deadlines, asks again where
//! that can help, holds budgets, leaves an endpoint alone that fails, and finds out which way of asking for JSON works there
//! (`ladder.rs`). An answer is checked here, whatever the server promises. [`Book`] keeps what was spent today.
//!
//! Not here: what is asked ([`crate::ModelSummarizer`], [`crate::ModelReader`]), and any endpoint that was not
//! configured: nothing is contacted before it is asked something.

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
