//! A summarizer with scripted answers and failures.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use quipu_core::id::UserId;
use quipu_core::session::{KnownEntry, MergeProposed, RuleBook, SummaryProposal};
use quipu_engine::ports::{SummarizeError, Summarizer, SummaryInput};

/// One scripted answer.
#[derive(Debug, Clone)]
pub enum ScriptedAnswer {
    /// A proposal.
    Says(SummaryProposal),
    /// A timeout.
    Late,
    /// A malformed answer.
    Garbled,
}

/// Answers by a script, and by rules once the script has ended.
#[derive(Debug, Default)]
pub struct ScriptedSummarizer {
    script: Mutex<VecDeque<ScriptedAnswer>>,
    asked: Mutex<Vec<u32>>,
}

impl ScriptedSummarizer {
    /// Appends answers to the script.
    pub fn will(&self, script: impl IntoIterator<Item = ScriptedAnswer>) {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).extend(script);
    }

    /// The turns it was called for since the last call.
    pub fn take_asked(&self) -> Vec<u32> {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Summarizer for ScriptedSummarizer {
    fn id(&self) -> &str {
        "script/v1"
    }

    fn summarize(&self, telling: &SummaryInput) -> Result<SummaryProposal, SummarizeError> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(telling.turn);
        match self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front() {
            Some(ScriptedAnswer::Says(proposal)) => Ok(proposal),
            Some(ScriptedAnswer::Late) => Err(SummarizeError::Unavailable("it took more than 8 s".to_owned())),
            Some(ScriptedAnswer::Garbled) => Err(SummarizeError::Malformed("no JSON".to_owned())),
            None => {
                Ok(RuleBook::english().propose(&telling.user, &telling.assistant, telling.depth, &telling.base_truth))
            }
        }
    }

    fn consolidate(&self, _user: &UserId, base_truth: &[KnownEntry]) -> Result<Vec<MergeProposed>, SummarizeError> {
        Ok(RuleBook::english().merges(base_truth))
    }
}
