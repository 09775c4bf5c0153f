//! The rules that read without a model, one file a language.

/// How English says what is worth keeping; for `quipu_core::extract::Rules::parse`.
pub const RULES_EN: &str = include_str!("../rules/en.toml");
