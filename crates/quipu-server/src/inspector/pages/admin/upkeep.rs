//! Upkeep: due steps and their results, and imports, each of which can be reverted as a whole.

use std::cmp::Reverse;

use askama::Template;
use quipu_engine::ports::Scope;
use quipu_engine::{
    ImportOrigin, MaintainOptions, MaintenanceReport, MaintenanceStep, StepReport, due, maintain, maintained_at,
    origins,
};

use crate::http::Fault;
use crate::inspector::frame::{Frame, Page, PageContext, PageResult, page};
use crate::inspector::shown;

/// Most imports listed, the most recent first.
const IMPORTS: usize = 200;

pub(in crate::inspector::pages) fn pages() -> Vec<Page> {
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
    /// When this process last ran maintenance.
    maintained: Option<String>,
    imports: Vec<Import>,
    /// Number of imports not listed.
    more: usize,
}

fn about(step: MaintenanceStep) -> &'static str {
    match step {
        MaintenanceStep::Read => "Reads new sources with rules",
        MaintenanceStep::Study => "Reads new sources with a language model",
        MaintenanceStep::Summarize => "Summarises closed exchanges of sessions",
        MaintenanceStep::Episodes => "Turns finished sessions into episodes",
        MaintenanceStep::Hits => "Records how often items were shown",
        MaintenanceStep::Evolve => "Proposes recurring content as categories",
        MaintenanceStep::Reflect => "Takes notes, proposes lines of the self-model",
        MaintenanceStep::Compact => "Folds duplicates, promotes facts, demotes unused items",
        MaintenanceStep::Files => "Updates the plain files",
    }
}

fn all(desk: &PageContext<'_>, done: Option<MaintenanceReport>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let was_done = done.is_some();
    let MaintenanceReport { steps: reports, fault, .. } = done.unwrap_or_default();
    let maintained = maintained_at(desk.engine, &user)?.map(shown::moment);
    let f = desk.frame_of(&user, "Upkeep and imports", "upkeep")?;
    let waiting = due(desk.engine, &user)?;
    let number = |step| waiting.iter().find(|due| due.step == step).map_or(0, |due| due.count);
    let steps = MaintenanceStep::ALL.into_iter().map(|step| (step.as_str(), about(step), number(step))).collect();
    let mut imports = origins(desk.engine, &user)?;
    imports.sort_by_key(|one| Reverse(one.last_recorded_at));
    let more = imports.len().saturating_sub(IMPORTS);
    let imports = imports.into_iter().take(IMPORTS).map(import).collect();
    page(&Upkeep { f, steps, reports, was_done, fault, maintained, imports, more })
}

fn import(one: ImportOrigin) -> Import {
    Import {
        events: shown::count(one.events),
        counting: one.counting,
        last: shown::moment(one.last_recorded_at),
        source: one.reference,
    }
}

fn upkeep(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    all(desk, None)
}

fn done(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let report = maintain(desk.engine, &user, &MaintainOptions::default())?;
    all(desk, Some(report))
}
