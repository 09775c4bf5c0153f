//! Ask: a question, what the memory answers, where it knows that from, and the way to correct it.

use askama::Template;
use quipu_core::id::ItemId;
use quipu_core::recall::Verdict;
use quipu_engine::ports::Scope;
use quipu_engine::{Answer, RecallOptions, RecallReport, recall};

use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::shown;
use crate::http::Fault;

/// Findings listed, the first included.
const FOUND: usize = 5;
/// Quotes of a finding.
const QUOTES: usize = 2;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}/ask", Scope::Read, ask)]
}

struct Finding {
    id: ItemId,
    text: String,
    kind: &'static str,
    meta: Vec<String>,
    quotes: Vec<(ItemId, String, String)>,
    against: Vec<String>,
    outdated: Vec<String>,
}

struct Reply {
    tone: &'static str,
    verdict: &'static str,
    probability: String,
    question: String,
    best: Option<Finding>,
    others: Vec<Finding>,
    degraded: String,
}

#[derive(Template)]
#[template(path = "ask.html")]
struct Ask {
    f: Frame,
    q: String,
    reply: Option<Reply>,
}

fn finding(hit: &Answer) -> Finding {
    let mut meta = vec![hit.speaker.clone()];
    meta.extend(hit.said_at.map(shown::day));
    meta.extend(hit.status.clone().filter(|status| status != "active"));
    if hit.valid_from.is_some() || hit.valid_to.is_some() {
        let to = hit.valid_to.map_or_else(|| "now".to_owned(), shown::day);
        meta.push(format!("{} → {to}", hit.valid_from.map_or_else(|| "?".to_owned(), shown::day)));
    }
    meta.retain(|one| !one.is_empty());
    let quote = |one: &quipu_engine::Quote| (one.id, one.text.clone(), one.speaker.clone());
    Finding {
        id: hit.id,
        text: hit.text.clone(),
        kind: shown::kind(hit.id.kind),
        meta,
        quotes: hit.evidence.iter().take(QUOTES).map(quote).collect(),
        against: hit.contested_by.iter().map(|(_, text)| text.clone()).collect(),
        outdated: hit.outdated.iter().map(|(_, text)| text.clone()).collect(),
    }
}

fn reply(found: &RecallReport) -> Reply {
    let decision = &found.decision;
    let (tone, verdict) = match decision.verdict {
        Verdict::Answer => ("good", "The memory answers this."),
        Verdict::Verify => ("warn", "The memory may answer this: check it."),
        Verdict::Clarify => ("warn", "The memory is not sure."),
        Verdict::Abstain => ("bad", "The memory does not know this."),
    };
    let mut findings = found.hits.iter().map(finding);
    let best = if decision.verdict == Verdict::Abstain { None } else { findings.next() };
    Reply {
        tone,
        verdict,
        probability: format!("{:.0} %", decision.probability * 100.0),
        question: decision.question.clone().unwrap_or_default(),
        best,
        others: findings.collect(),
        degraded: found.degraded.clone().unwrap_or_default(),
    }
}

fn ask(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let mut f = desk.frame_of(&user, "Ask", "ask")?;
    let q = desk.asked.get("q").unwrap_or_default().to_owned();
    f.query.clone_from(&q);
    let reply = if q.is_empty() {
        None
    } else {
        let options = RecallOptions { k: FOUND, ..RecallOptions::of(&q) };
        Some(reply(&recall(desk.engine, &user, &options)?))
    };
    page(&Ask { f, q, reply })
}
