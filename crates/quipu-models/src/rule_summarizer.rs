use quipu_core::id::UserId;
use quipu_core::session::{Known, MergeProposed, Proposal, RuleBook};
use quipu_engine::ports::{SummarizeError, Summarizer, Telling};

/// Tells exchanges by rules, offline and deterministic: it keeps original sentences and never fails.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleSummarizer;

impl Summarizer for RuleSummarizer {
    fn id(&self) -> &str {
        "rules/en/v1"
    }

    fn summarize(&self, telling: &Telling) -> Result<Proposal, SummarizeError> {
        Ok(RuleBook::english().propose(&telling.user, &telling.assistant, telling.depth, &telling.base_truth))
    }

    fn consolidate(&self, _user: &UserId, base_truth: &[Known]) -> Result<Vec<MergeProposed>, SummarizeError> {
        Ok(RuleBook::english().merges(base_truth))
    }
}
