//! The built-in extraction rules, one file for each language.

/// The English rules, for `quipu_core::extract::Rules::parse`.
pub const RULES_EN: &str = include_str!("../rules/en.toml");
