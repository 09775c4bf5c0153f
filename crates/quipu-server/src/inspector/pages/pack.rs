//! Pack preview: the block a model would get, the cost of each section, and what is left out.

use askama::Template;
use quipu_core::pack::{DEFAULT_TOKENS, PackLine, SESSION_TOKENS};
use quipu_engine::ports::Scope;
use quipu_engine::{
    ContextOptions, JudgedContext, SessionContextOptions, judged_context, session_context, sessions, versions::When,
};

use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::plot::{self, BarPart};
use super::search::intent;
use crate::http::Fault;

/// Most tokens of a preview.
const TOKENS_MAX: usize = 32_000;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}/pack", Scope::Read, preview)]
}

/// A piece of the block: text, or the mark of a line, which links to its item.
struct PackPiece {
    text: String,
    /// The item it links to.
    item: Option<String>,
}

struct Made {
    bar: String,
    sections: Vec<(String, usize, usize, usize)>,
    pieces: Vec<PackPiece>,
    tokens: usize,
    budget: usize,
    counted_by: String,
    id: String,
    verdict: &'static str,
    tone: &'static str,
    reason: String,
    probability: String,
    omitted: Vec<String>,
    paths: Vec<String>,
    degraded: Option<String>,
}

#[derive(Template)]
#[template(path = "pack.html")]
struct Pack {
    f: Frame,
    q: String,
    at: String,
    intent: &'static str,
    max: usize,
    session: String,
    sessions: Vec<String>,
    made: Option<Made>,
}

/// Splits the block so that the marks of its lines become links. Marks inside quoted text stay text.
fn pieces(text: &str, lines: &[PackLine]) -> Vec<PackPiece> {
    let mut all = Vec::new();
    let mut left = lines.iter().peekable();
    for line in text.split_inclusive('\n') {
        let marked = left.next_if(|one| {
            line.strip_prefix('[').is_some_and(|rest| {
                rest.starts_with(&format!("{}] ", one.mark)) || rest.starts_with(&format!("{}~] ", one.mark))
            })
        });
        let rest = match marked {
            Some(one) => {
                all.push(PackPiece { text: "[".to_owned(), item: None });
                all.push(PackPiece { text: one.mark.clone(), item: Some(one.id.to_string()) });
                &line[1 + one.mark.len()..]
            }
            None => line,
        };
        all.push(PackPiece { text: rest.to_owned(), item: None });
    }
    all
}

fn sections(all: &[quipu_core::pack::Packed], budget: usize) -> (String, Vec<(String, usize, usize, usize)>) {
    let part = |(place, one): (usize, &quipu_core::pack::Packed)| BarPart {
        name: one.title,
        value: one.tokens as f64,
        colour: place % 8 + 1,
    };
    let parts: Vec<BarPart> = all.iter().enumerate().map(part).collect();
    let rows = all.iter().enumerate().map(|(place, one)| (one.title.to_owned(), one.tokens, one.lines, place % 8 + 1));
    (plot::stacked(&parts, budget as f64), rows.collect())
}

fn made(found: JudgedContext, budget: usize) -> Made {
    let JudgedContext { pack, decision, degraded, .. } = found;
    let (bar, sections) = sections(&pack.sections, budget);
    let verdict = decision.verdict.as_str();
    Made {
        bar,
        sections,
        pieces: pieces(&pack.text, &pack.lines),
        tokens: pack.tokens,
        budget,
        counted_by: pack.counted_by,
        id: pack.id,
        tone: if verdict == "answer" { "good" } else { "warn" },
        verdict,
        reason: decision.reason.to_owned(),
        probability: format!("{:.0} %", decision.probability * 100.0),
        omitted: pack.omitted.iter().map(ToString::to_string).collect(),
        paths: pack.omitted_paths,
        degraded,
    }
}

fn preview(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Pack preview", "pack")?;
    let (at, named) = desk.at()?;
    let q = desk.asked.get("q").unwrap_or_default().to_owned();
    let (wanted, intent) = intent(desk.asked.get("intent"));
    let session = desk.asked.get("session").unwrap_or_default().to_owned();
    let usual = if session.is_empty() { DEFAULT_TOKENS } else { SESSION_TOKENS };
    let max = desk.number("max_tokens", usual, TOKENS_MAX).max(100);
    let made = if !session.is_empty() {
        let options = SessionContextOptions {
            query: (!q.is_empty()).then(|| q.clone()),
            max_tokens: max,
            at,
            intent: wanted,
            ..SessionContextOptions::of(&session)
        };
        let found = session_context(desk.engine, &user, &options)?;
        let (bar, sections) = sections(&found.sections, max);
        Some(Made {
            bar,
            sections,
            pieces: pieces(&found.text, &found.lines),
            tokens: found.tokens,
            budget: max,
            counted_by: found.counted_by.clone(),
            id: String::new(),
            verdict: "",
            tone: "plain",
            reason: String::new(),
            probability: String::new(),
            omitted: found.omitted.iter().map(ToString::to_string).collect(),
            paths: Vec::new(),
            degraded: found.over_budget.then(|| "the hard exceptions alone need more than so many tokens".to_owned()),
        })
    } else if q.is_empty() {
        None
    } else {
        let options = ContextOptions { max_tokens: max, at, intent: wanted, ..ContextOptions::of(&q) };
        Some(made(judged_context(desk.engine, &user, &options)?, max))
    };
    let sessions = sessions(desk.engine, &user, When::Now)?.into_iter().rev().take(50).map(|one| one.session_id);
    let (at, sessions) = (named.unwrap_or_default().to_owned(), sessions.collect());
    page(&Pack { f, q, at, intent, max, session, sessions, made })
}

#[cfg(test)]
mod tests {
    use quipu_core::event::Trust;
    use quipu_core::id::{ItemId, ItemKind};

    use super::*;

    #[test]
    fn only_the_marks_of_lines_lead_anywhere() {
        let line = |mark: &str, bits: u64| PackLine {
            mark: mark.to_owned(),
            id: ItemId { kind: ItemKind::Turn, bits },
            kind: "turn",
            speaker: "Ines".to_owned(),
            said_at: None,
            trust: Trust::User,
            span: None,
            text: String::new(),
            also: Vec::new(),
        };
        let text = "## Found\n[1] Ines: see [2] and\n[3] nothing\n[2] Ines: [1]\n";
        let all = pieces(text, &[line("1", 1), line("2", 2)]);
        let links: Vec<&str> =
            all.iter().filter(|piece| piece.item.is_some()).map(|piece| piece.text.as_str()).collect();
        assert_eq!(links, ["1", "2"]);
        let whole: String = all.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(whole, text);
    }
}
