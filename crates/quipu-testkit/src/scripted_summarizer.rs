//! A summariser that answers what a test wants, or not at all.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use quipu_core::id::UserId;
use quipu_core::session::{KnownEntry, MergeProposed, RuleBook, SummaryProposal};
use quipu_engine::ports::{SummarizeError, Summarizer, SummaryInput};

/// What it answers once.
#[derive(Debug, Clone)]
pub enum ScriptedAnswer {
    /// This.
    Says(SummaryProposal),
    /// Nothing in time.
    Late,
    /// No proposal.
    Garbled,
}

/// Answers by script; by rules where the script is at its end.
#[derive(Debug, Default)]
pub struct ScriptedSummarizer {
    script: Mutex<VecDeque<ScriptedAnswer>>,
    asked: Mutex<Vec<u32>>,
}

impl ScriptedSummarizer {
    /// Answers so from now on, one after the other.
    pub fn will(&self, script: impl IntoIterator<Item = ScriptedAnswer>) {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).extend(script);
    }

    /// The turns it was asked about since this was last asked.
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
