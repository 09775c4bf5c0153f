use quipu_core::id::UserId;
use quipu_core::session::{KnownEntry, MergeProposed, RuleBook, SummaryProposal};
use quipu_engine::ports::{SummarizeError, Summarizer, SummaryInput};

/// Summarizes exchanges by rules, offline and deterministically. It quotes the original sentences and never fails.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleSummarizer;

impl Summarizer for RuleSummarizer {
    fn id(&self) -> &str {
        "rules/en/v1"
    }

    fn summarize(&self, telling: &SummaryInput) -> Result<SummaryProposal, SummarizeError> {
        Ok(RuleBook::english().propose(&telling.user, &telling.assistant, telling.depth, &telling.base_truth))
    }

    fn consolidate(&self, _user: &UserId, base_truth: &[KnownEntry]) -> Result<Vec<MergeProposed>, SummarizeError> {
        Ok(RuleBook::english().merges(base_truth))
    }
}
