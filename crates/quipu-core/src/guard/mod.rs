//! Guards on input: what must not be stored, what needs consent, and what is quarantined.
//!
//! All guards are pure functions of text. They match shapes and words, not meanings: they miss cases and have false
//! positives, so no other check may rely on them.

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
