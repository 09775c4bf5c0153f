//! A language model for tests.

use std::ops::ControlFlow;
use std::time::Duration;

use quipu_engine::ports::{Completion, CompletionRequest, LanguageModel, ModelError, Usage};
use serde_json::Value;

/// Checks each request and always returns the same answer.
pub(crate) struct Fixed {
    pub(crate) answer: Value,
    pub(crate) check: fn(&CompletionRequest),
}

impl LanguageModel for Fixed {
    fn id(&self) -> &str {
        "fixed/one"
    }

    fn complete(&self, request: &CompletionRequest, _: Duration) -> Result<Completion, ModelError> {
        (self.check)(request);
        let usage = Usage::default();
        Ok(Completion { text: String::new(), json: Some(self.answer.clone()), cut: false, usage, attempts: 1 })
    }

    fn stream(
        &self,
        _: &CompletionRequest,
        _: Duration,
        _: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Completion, ModelError> {
        Err(ModelError::Stopped)
    }
}
