use std::sync::OnceLock;

use jiff::Timestamp;
use quipu_core::extract::{Extraction, LanguageRules, Reading, SpokenDate};
use quipu_engine::ports::{ExtractError, Extractor};

use crate::rules::RULES_EN;

/// An extractor that applies rules, offline and deterministically: the same text gives the same candidates on every
/// machine.
///
/// Construction is free: the rules are compiled with the first text.
pub struct RuleExtractor {
    id: String,
    text: String,
    rules: OnceLock<Result<LanguageRules, String>>,
}

impl RuleExtractor {
    /// The built-in rules for English.
    #[must_use]
    pub fn english() -> Self {
        Self::new("rules/en/v4", RULES_EN)
    }

    /// Custom rules, with an id that is recorded with everything they extract.
    #[must_use]
    pub fn new(id: &str, rules: &str) -> Self {
        Self { id: id.to_owned(), text: rules.to_owned(), rules: OnceLock::new() }
    }

    fn rules(&self) -> &Result<LanguageRules, String> {
        self.rules.get_or_init(|| LanguageRules::parse(&self.text).map_err(|refusal| refusal.to_string()))
    }
}

impl Extractor for RuleExtractor {
    fn id(&self) -> &str {
        &self.id
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        match self.rules() {
            Ok(rules) => Ok(rules.read(reading)),
            Err(why) => Err(ExtractError::Run(why.clone())),
        }
    }

    fn dates(&self, text: &str, said_at: Option<Timestamp>) -> Vec<SpokenDate> {
        self.rules().as_ref().map(|rules| rules.dates(text, said_at)).unwrap_or_default()
    }
}
