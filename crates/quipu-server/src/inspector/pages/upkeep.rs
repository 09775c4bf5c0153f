//! Upkeep: what is due and what came of doing it; and what was imported, which can be taken back as a whole.

use std::cmp::Reverse;

use askama::Template;
use quipu_engine::ports::Scope;
use quipu_engine::{Origin, StepReport, TendOptions, TendReport, TendStep, due, maintained_at, origins, tend};

use super::super::frame::{Answer, Desk, Frame, Page, page};
use super::super::shown;
use crate::http::Fault;

/// Imports that are listed: the ones something came with last.
const IMPORTS: usize = 200;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/upkeep", Scope::Read, upkeep),
        Page::post("/ui/u/{user_id}/upkeep", Scope::Write, done),
    ]
}

struct Import {
    source: String,
    events: String,
    counting: usize,
    last: String,
}

#[derive(Template)]
#[template(path = "upkeep.html")]
struct Upkeep {
    f: Frame,
    steps: Vec<(&'static str, &'static str, usize)>,
    reports: Vec<StepReport>,
    was_done: bool,
    /// Why nothing was done, if nothing was.
    fault: Option<String>,
    /// When this process last did what was due.
    maintained: Option<String>,
    imports: Vec<Import>,
    /// Imports that are not listed.
    more: usize,
}

fn about(step: TendStep) -> &'static str {
    match step {
        TendStep::Read => "Rules read what was recorded and not read",
        TendStep::Study => "A language model reads what it has not read",
        TendStep::Summarize => "Exchanges of sessions are told",
        TendStep::Episodes => "Sessions that are over become episodes",
        TendStep::Hits => "What was shown is written down",
        TendStep::Evolve => "What recurs is proposed as a category",
        TendStep::Reflect => "Notes are taken, lines of the self-model proposed",
        TendStep::Compact => "Duplicates are folded, what is cold is put aside",
        TendStep::Files => "Plain files are brought level with the ledger",
    }
}

fn all(desk: &Desk<'_>, done: Option<TendReport>) -> Result<Answer, Fault> {
    let user = desk.user()?;
    let was_done = done.is_some();
    let TendReport { steps: reports, fault, .. } = done.unwrap_or_default();
    let maintained = maintained_at(desk.engine, &user)?.map(shown::moment);
    let f = desk.frame_of(&user, "Upkeep and imports", "upkeep")?;
    let waiting = due(desk.engine, &user)?;
    let number = |step| waiting.iter().find(|due| due.step == step).map_or(0, |due| due.count);
    let steps = TendStep::ALL.into_iter().map(|step| (step.word(), about(step), number(step))).collect();
    let mut imports = origins(desk.engine, &user)?;
    imports.sort_by_key(|one| Reverse(one.last_recorded_at));
    let more = imports.len().saturating_sub(IMPORTS);
    let imports = imports.into_iter().take(IMPORTS).map(import).collect();
    page(&Upkeep { f, steps, reports, was_done, fault, maintained, imports, more })
}

fn import(one: Origin) -> Import {
    Import {
        events: shown::count(one.events),
        counting: one.counting,
        last: shown::moment(one.last_recorded_at),
        source: one.reference,
    }
}

fn upkeep(desk: &Desk<'_>) -> Result<Answer, Fault> {
    all(desk, None)
}

fn done(desk: &Desk<'_>) -> Result<Answer, Fault> {
    let user = desk.user()?;
    let report = tend(desk.engine, &user, &TendOptions::default())?;
    all(desk, Some(report))
}
