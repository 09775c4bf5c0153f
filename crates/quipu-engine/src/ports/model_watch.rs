//! Observes calls to language models, for metrics.

use std::time::Duration;

use super::{ModelError, Purpose, Usage};

/// One call to a model and its outcome. Contains no text and no user.
#[derive(Debug, Clone, Copy)]
pub struct ModelCall<'a> {
    /// The purpose.
    pub purpose: Purpose,
    /// Provider and model.
    pub model: &'a str,
    /// Why the call failed, if it did.
    pub fault: Option<&'a ModelError>,
    /// Tokens used, over all attempts.
    pub usage: Usage,
    /// Duration, over all attempts.
    pub took: Duration,
}

impl ModelCall<'_> {
    /// `ok`, or the name of the error.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        self.fault.map_or("ok", ModelError::as_str)
    }
}

/// Observer of calls to language models.
pub trait ModelWatch: Send + Sync {
    /// Called once after each call. It must not block.
    fn asked(&self, asked: &ModelCall<'_>);
}
