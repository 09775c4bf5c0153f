//! Sessions: conversations with their base truth and turn log.

use askama::Template;
use quipu_engine::ports::Scope;
use quipu_engine::{SessionShown, SessionState, session, sessions, versions::When};

use super::super::fields::encoded;
use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::shown;
use crate::http::Fault;

/// Sessions on a page.
const ROWS: usize = 40;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/sessions", Scope::Read, all),
        Page::get("/ui/u/{user_id}/session", Scope::Read, one),
    ]
}

struct Row {
    name: String,
    to: String,
    turns: String,
    last: String,
    truths: usize,
    exceptions: usize,
    untold: usize,
    is_over: bool,
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct Sessions {
    f: Frame,
    rows: Vec<Row>,
    total: usize,
    next: Option<usize>,
}

fn all(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Sessions", "sessions")?;
    let mut found: Vec<SessionShown> = sessions(desk.engine, &user, When::Now)?;
    found.sort_by_key(|one| std::cmp::Reverse(one.last_said_at));
    let (total, from) = (found.len(), desk.number("from", 0, 1_000_000));
    let row = |one: SessionShown| Row {
        to: format!("{}/session?id={}", f.base, encoded(&one.session_id)),
        turns: shown::many(one.turns, "exchange"),
        last: shown::maybe_day(one.last_said_at),
        truths: one.base_truth,
        exceptions: one.exceptions,
        untold: one.unsummarized,
        is_over: one.is_over,
        name: one.session_id,
    };
    let rows: Vec<Row> = found.into_iter().skip(from).take(ROWS).map(row).collect();
    let next = (from + rows.len() < total).then_some(from + rows.len());
    page(&Sessions { rows, total, next, f })
}

struct Truth {
    id: String,
    kind: String,
    text: String,
    from: String,
    is_hard: bool,
}

struct SessionRow {
    turn: u32,
    when: String,
    user: String,
    assistant: String,
    how: String,
    refused: usize,
    source: String,
}

struct TurnRow {
    id: String,
    speaker: String,
    text: String,
    when: String,
}

struct Artifact {
    key: String,
    kind: String,
    name: String,
    text: String,
}

#[derive(Template)]
#[template(path = "session.html")]
struct SessionPage {
    f: Frame,
    name: String,
    is_over: bool,
    truths: Vec<Truth>,
    log: Vec<SessionRow>,
    window: Vec<TurnRow>,
    artifacts: Vec<Artifact>,
    untold: usize,
    snapshots: usize,
}

fn one(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let name = desk.asked.get("id").ok_or_else(|| Fault::invalid("which session?"))?.to_owned();
    let f = desk.frame_of(&user, &name, "sessions")?;
    let found: SessionState = session(desk.engine, &user, &name, When::Now)?;
    let truth = |one: &quipu_engine::TruthShown| Truth {
        id: one.id.to_string(),
        kind: one.kind.as_str().replace('_', " "),
        text: one.text.clone(),
        from: match one.turn {
            Some(turn) => format!("turn {turn}"),
            None if one.by_hand => "by hand".to_owned(),
            None => "merged".to_owned(),
        },
        is_hard: one.kind == quipu_core::item::TruthKind::Exception,
    };
    let told = |one: &quipu_engine::TurnShown| SessionRow {
        turn: one.turn,
        when: one.said_at.map(shown::moment).unwrap_or_default(),
        user: shown::start(&one.user_summary, 400),
        assistant: shown::start(&one.assistant_summary, 400),
        how: match (one.raw, one.unsummarized) {
            (true, _) => "verbatim".to_owned(),
            (_, true) => "not summarised yet".to_owned(),
            _ => shown::word(&one.depth),
        },
        refused: one.refused.len(),
        source: one.sources.first().map(ToString::to_string).unwrap_or_default(),
    };
    page(&SessionPage {
        is_over: found.is_over,
        truths: found.base_truth.iter().map(truth).collect(),
        log: found.turn_log.iter().rev().take(200).map(told).collect(),
        window: found
            .raw_window
            .iter()
            .map(|one| TurnRow {
                id: one.id.to_string(),
                speaker: one.speaker.clone(),
                text: one.text.clone(),
                when: one.said_at.map(shown::moment).unwrap_or_default(),
            })
            .collect(),
        artifacts: found
            .artifacts
            .iter()
            .rev()
            .take(40)
            .map(|one| Artifact {
                key: one.key.clone(),
                kind: one.kind.clone(),
                name: one.name.clone().unwrap_or_default(),
                text: shown::start_exact(&one.text, 4000),
            })
            .collect(),
        untold: found.unsummarized.len(),
        snapshots: found.snapshots,
        name,
        f,
    })
}
