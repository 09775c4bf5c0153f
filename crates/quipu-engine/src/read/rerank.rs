//! Applies the reranker, if there is one, to the final order of the hits.

use std::sync::Arc;

use crate::engine::Engine;
use crate::process::deadline::Deadline;
use crate::read::answers::Answer;

/// Reorders the hits, best first; ties keep their order. Returns why it could not be done, if so.
pub(crate) fn reorder(engine: &Engine, question: &str, hits: &mut [Answer], deadline: Deadline) -> Option<String> {
    let reranker = engine.optional.reranker.as_ref().filter(|_| hits.len() > 1)?;
    let (reader, question) = (Arc::clone(reranker), question.to_owned());
    let texts: Vec<String> = hits.iter().map(|answer| answer.text.clone()).collect();
    let wanted = texts.len();
    let judged = engine.late.within(deadline, move || {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        reader.score(&question, &texts)
    });
    let kept = |why: &str| Some(format!("the reranker {} {why}; the answers keep their order", reranker.model()));
    let scores = match judged {
        Err(missed) => return kept(missed.words()),
        Ok(Err(error)) => return kept(&format!("failed: {error}")),
        Ok(Ok(scores)) => scores,
    };
    if scores.len() != wanted || scores.iter().any(|score| !score.is_finite()) {
        return kept("did not return one score per answer");
    }
    for (answer, score) in hits.iter_mut().zip(&scores) {
        answer.reranked = Some(*score);
    }
    let score = |answer: &Answer| answer.reranked.unwrap_or(f32::NEG_INFINITY);
    hits.sort_by(|a, b| score(b).total_cmp(&score(a)));
    None
}
