//! Detects requests that an application makes for its own purposes, such as titles of chats.

use quipu_engine::{Error, Result};
use serde::Deserialize;

use super::wire::{ChatRequest, Speaker};

/// Patterns that identify such requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asides {
    begins: Vec<String>,
    instructed: Vec<String>,
}

impl Asides {
    /// Loads the built-in patterns.
    ///
    /// # Errors
    /// `Bug` if they are invalid.
    pub(crate) fn new() -> Result<Self> {
        toml::from_str(include_str!("aside.toml")).map_err(|error| Error::Bug(format!("aside.toml: {error}")))
    }

    /// True if the application made the request for its own purposes.
    pub(crate) fn has(&self, request: &ChatRequest) -> bool {
        let last = request.messages.iter().rev().find(|said| said.speaker == Speaker::User);
        let last = last.map(|said| said.words.to_lowercase()).unwrap_or_default();
        let system = request.system.to_lowercase();
        self.begins.iter().any(|pattern| last.starts_with(pattern.as_str()))
            || self.instructed.iter().any(|pattern| system.contains(pattern.as_str()))
    }
}
