//! The guard at the door: what must not be stored, what is stored only with leave, and what is looked at twice.
//!
//! All of it is text in, answer out. It knows shapes and words, not meanings: it misses things and is wrong at times,
//! so nothing else may be less careful because of it.

pub mod echo;
pub mod instructions;
pub mod secrets;
pub mod sensitive;

pub use echo::{Echo, strip_packs};
pub use instructions::looks_like_instructions;
pub use secrets::{Redacted, Redaction, redact};
pub use sensitive::{SensitiveKind, sensitivity};

#[cfg(test)]
mod tests;
