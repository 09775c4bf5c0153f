//! Is told of every question to a language model, for figures.

use std::time::Duration;

use super::{ModelError, Purpose, Usage};

/// One question to a model, and what came of it. No word of it is in here, and nobody's name.
#[derive(Debug, Clone, Copy)]
pub struct ModelCall<'a> {
    /// What it was for.
    pub purpose: Purpose,
    /// Provider and model.
    pub model: &'a str,
    /// Why there is no answer, if there is none.
    pub fault: Option<&'a ModelError>,
    /// What it cost, over all attempts.
    pub usage: Usage,
    /// How long it took, over all attempts.
    pub took: Duration,
}

impl ModelCall<'_> {
    /// What came of it in one word: `ok`, or the fault's.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        self.fault.map_or("ok", ModelError::as_str)
    }
}

/// Counts questions to language models.
pub trait ModelWatch: Send + Sync {
    /// Called once for each question, when it is over. It must not block.
    fn asked(&self, asked: &ModelCall<'_>);
}
