//! Overview: figures of one memory, pending reviews and due steps, and the last events.

use askama::Template;
use quipu_core::id::UserId;
use quipu_core::item::FactStatus;
use quipu_engine::log::{LogOptions, growth, log};
use quipu_engine::ports::Scope;
use quipu_engine::{FactOptions, ListOptions, Status, facts, list, status, versions::When};

use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::plot;
use super::super::shown;
use crate::http::Fault;

/// Events listed, and points of the growth curve.
const EVENTS: usize = 8;
const POINTS: usize = 120;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}", Scope::Read, overview)]
}

/// A number and the page it links to.
struct Figure {
    number: String,
    what: &'static str,
    to: String,
}

struct OverviewLine {
    seq: u64,
    summary: String,
    at: String,
    who: &'static str,
}

struct KnownRow {
    text: String,
    to: String,
    sure: String,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    f: Frame,
    figures: Vec<Figure>,
    due: Vec<String>,
    status: Status,
    on_disk: String,
    in_memory: String,
    between: String,
    growth: Option<String>,
    since: String,
    events: Vec<OverviewLine>,
    known: Vec<KnownRow>,
    is_empty: bool,
}

fn figures(
    desk: &PageContext<'_>,
    user: &UserId,
    base: &str,
    held: usize,
    status: &Status,
) -> Result<Vec<Figure>, Fault> {
    let engine = desk.engine;
    let now = Some(When::Now);
    let of = |number: usize, what: &'static str, path: &str| Figure {
        number: shown::count(number),
        what,
        to: format!("{base}{path}"),
    };
    let turns = list(engine, user, &ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: 0 })?;
    Ok(vec![
        of(held, "facts", "/memories"),
        of(quipu_engine::episodes(engine, user, now)?.len(), "episodes", "/memories?kind=episodes"),
        of(quipu_engine::tasks(engine, user, now, false)?.len(), "open tasks", "/tasks"),
        of(quipu_engine::notes(engine, user, now)?.len(), "notes", "/memories?kind=notes"),
        of(quipu_engine::tenets(engine, user, now, false)?.len(), "tenets", "/memories?kind=tenets"),
        of(turns.total, "things said", "/memories?kind=said"),
        of(status.sessions, "sessions", "/sessions"),
        of(status.version as usize, "events", "/timeline"),
    ])
}

fn overview(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Overview", "overview")?;
    let status = status(desk.engine, &user)?;
    let held = facts(desk.engine, &user, &FactOptions::default())?;
    let entries = log(desk.engine, &user, &LogOptions { before: None, limit: EVENTS, reference: None })?;
    let grown = growth(desk.engine, &user, POINTS)?;
    let line = |entry: &quipu_engine::log::LogEntry| OverviewLine {
        seq: entry.seq,
        summary: shown::start(&entry.summary, 110),
        at: shown::moment(entry.recorded_at),
        who: shown::actor(entry.actor),
    };
    let known = held.iter().filter(|one| one.fact.status == FactStatus::Active).take(8).map(|one| KnownRow {
        text: one.fact.text.clone(),
        to: format!("{}/items/{}", f.base, one.fact.id),
        sure: format!("{:.0} %", one.fact.confidence_base * 100.0),
    });
    let between = status.said_between.map(|(from, to)| format!("{} to {}", shown::day(from), shown::day(to)));
    let due = status.due.iter().map(|due| due.step.counted(due.count)).collect();
    page(&Overview {
        figures: figures(desk, &user, &f.base, held.len(), &status)?,
        due,
        on_disk: shown::bytes(status.bytes_on_disk),
        in_memory: shown::bytes(status.bytes_in_memory as u64),
        between: between.unwrap_or_else(|| "–".to_owned()),
        growth: plot::growth(&grown),
        since: grown.first().map(|(time, _)| shown::day(*time)).unwrap_or_default(),
        events: entries.iter().map(line).collect(),
        known: known.collect(),
        is_empty: status.version == 0,
        status,
        f,
    })
}
