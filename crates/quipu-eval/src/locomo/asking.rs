//! Asks the questions of a file and scores the results.

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_engine::import::locomo::questions::{Question, QuestionSet};
use quipu_engine::{Engine, RecallOptions, Result};
use serde::Serialize;

use super::super::heard::MemoryTurns;
use super::super::lines::{Out, ResultLine};
use super::super::metrics::{self, Scores, firsts};

/// Items requested: enough to rank every session of a conversation.
const DEPTH: usize = quipu_core::limit::RECALL_K_MAX;

/// Items requested when latency is measured.
const USUAL: usize = 10;

/// Items listed in the file of details.
const LISTED: usize = 50;

#[derive(Debug, Default, Serialize)]
pub(super) struct SkippedInLocomo {
    pub(super) category_5: usize,
    pub(super) without_evidence: usize,
    pub(super) evidence_ids_malformed: usize,
    pub(super) evidence_ids_mended: usize,
    pub(super) evidence_ids_unknown: usize,
}

/// One question's line in the file of details.
#[derive(Debug, Serialize)]
struct Detail<'a> {
    #[serde(flatten)]
    line: ResultLine,
    conversation: &'a str,
    answer: Option<&'a str>,
    category: u8,
    evidence: &'a [&'a str],
    found: &'a [&'a str],
    recall_at_10: f64,
    ndcg_at_10: f64,
}

pub(crate) fn category_name(category: u8) -> &'static str {
    match category {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        _ => "other",
    }
}

/// A question that was asked.
pub(super) struct AnsweredQuestion {
    pub(super) conversation: String,
    pub(super) category: &'static str,
    pub(super) scores: Scores,
    pub(super) with_ms: f64,
    pub(super) without_ms: f64,
}

/// The results so far.
pub(super) struct Run {
    pub(super) asked: Vec<AnsweredQuestion>,
    pub(super) skipped: SkippedInLocomo,
    pub(super) out: Out,
}

impl Run {
    pub(super) fn ask_all(&mut self, engine: &Engine, user: &UserId, set: &QuestionSet) -> Result<()> {
        self.skipped.evidence_ids_malformed += set.evidence_skipped;
        self.skipped.evidence_ids_mended += set.evidence_mended;
        self.skipped.evidence_ids_unknown += set.evidence_absent;
        let conversation = MemoryTurns::of(engine, user)?;
        for (number, asked) in set.questions.iter().enumerate() {
            if asked.category == 5 {
                self.skipped.category_5 += 1;
                continue;
            }
            let there = |id: &&str| conversation.has(id);
            let wanted: Vec<&str> = asked.evidence.iter().map(String::as_str).filter(there).collect();
            if wanted.is_empty() {
                self.skipped.without_evidence += 1;
                continue;
            }
            let id = format!("{}:{}", set.conversation, number + 1);
            self.ask(engine, user, (id, &set.conversation, asked), &wanted, &conversation)?;
        }
        Ok(())
    }

    fn ask(
        &mut self,
        engine: &Engine,
        user: &UserId,
        (id, named, asked): (String, &str, &Question),
        wanted: &[&str],
        conversation: &MemoryTurns,
    ) -> Result<()> {
        let usual = options(asked, conversation.end);
        let timing = quipu_engine::recall(engine, user, &usual)?.timing;
        let without_ms = timing.recall_us as f64 / 1e3;
        let with_ms = (timing.recall_us + timing.embed_us) as f64 / 1e3;
        let report = quipu_engine::recall(engine, user, &RecallOptions { k: DEPTH, ..usual })?;
        let turns = conversation.ranked_turns(&report.hits);
        let wanted_sessions = firsts(wanted.iter().filter_map(|id| conversation.sessions.get(*id).map(String::as_str)));
        let found_sessions = firsts(report.hits.iter().filter_map(|hit| hit.session_id.as_deref()));
        let mut scores = metrics::of_turns(&turns, wanted);
        scores.extend(metrics::of_sessions(&found_sessions, &wanted_sessions));
        let (best, category) = (report.hits.first(), category_name(asked.category));
        let detail = Detail {
            recall_at_10: scores["turn.recall.10"],
            ndcg_at_10: scores["turn.ndcg.10"],
            line: ResultLine {
                id,
                eval: "locomo".to_owned(),
                group: category.to_owned(),
                question: asked.question.clone(),
                metrics: scores.clone(),
                latency_ms: Some(with_ms),
                relevance: best.map(|hit| f64::from(hit.score)),
                confidence: best.map(|hit| hit.confidence),
                right: Some(
                    best.is_some_and(|hit| conversation.turns_of(hit).iter().any(|turn| wanted.contains(turn))),
                ),
            },
            conversation: named,
            answer: asked.answer.as_deref(),
            category: asked.category,
            evidence: wanted,
            found: &turns[..turns.len().min(LISTED)],
        };
        self.out.push(&detail)?;
        self.asked.push(AnsweredQuestion { conversation: named.to_owned(), category, scores, with_ms, without_ms });
        Ok(())
    }
}

/// Questions are asked when the conversation ends, so that "two years ago" is relative to its end.
fn options(asked: &Question, end: Option<Timestamp>) -> RecallOptions {
    RecallOptions { k: USUAL, now: end, ..RecallOptions::of(&asked.question) }
}
