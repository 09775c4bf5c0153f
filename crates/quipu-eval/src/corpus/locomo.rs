//! LoCoMo's questions.

use std::path::Path;

use jiff::SignedDuration;
use quipu_core::id::UserId;
use quipu_engine::Result;

use super::super::locomo::{category_name, questions};
use super::{EvalQuestion, EvalSample, SkippedQuestions};

/// The category of misleading questions, which have no evidence that answers them.
const MISLEADING: u8 = 5;

pub(super) fn read(file: &Path, skipped: &mut SkippedQuestions) -> Result<Vec<EvalSample>> {
    let mut told = Vec::new();
    for set in questions(file)? {
        let mut asked = Vec::new();
        skipped.gold_unknown += set.evidence_skipped + set.evidence_absent;
        for (place, question) in set.questions.into_iter().enumerate() {
            if question.category == MISLEADING {
                skipped.category_5 += 1;
                continue;
            }
            asked.push(EvalQuestion {
                id: format!("{}:{}", set.conversation, place + 1),
                number: place,
                group: category_name(question.category).to_owned(),
                question: question.question,
                answer: question.answer,
                gold: question.evidence,
                answerable: true,
                ..EvalQuestion::default()
            });
        }
        let user = UserId::parse(&set.conversation)?;
        told.push(EvalSample { user, chats: Vec::new(), asked, requests: Vec::new(), later: SignedDuration::ZERO });
    }
    Ok(told)
}
