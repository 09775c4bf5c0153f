use quipu_core::Refusal;
use quipu_core::extract::{Extraction, Reading, Rules};
use quipu_engine::ports::{ExtractError, Extractor};

use crate::rules::RULES_EN;

/// Reads by rules, offline and deterministic: the same text gives the same candidates on every machine.
pub struct RuleExtractor {
    id: String,
    rules: Rules,
}

impl RuleExtractor {
    /// The rules that come with Quipu, for English.
    ///
    /// # Errors
    /// None in a released build: the rules are part of the program and a test reads them.
    pub fn english() -> Result<Self, Refusal> {
        Self::parse("rules/en/v1", RULES_EN)
    }

    /// Rules of the user's, under a name that is recorded with everything read by them.
    ///
    /// # Errors
    /// `Invalid` names the rule and what is wrong with it.
    pub fn parse(id: &str, rules: &str) -> Result<Self, Refusal> {
        Ok(Self { id: id.to_owned(), rules: Rules::parse(rules)? })
    }
}

impl Extractor for RuleExtractor {
    fn id(&self) -> &str {
        &self.id
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        Ok(self.rules.read(reading))
    }
}
