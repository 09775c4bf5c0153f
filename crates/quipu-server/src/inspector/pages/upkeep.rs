//! Upkeep: what is due and what came of doing it; and what was imported, which can be taken back as a whole.

use std::collections::BTreeMap;

use askama::Template;
use quipu_engine::log::{LogOptions, Standing, log};
use quipu_engine::ports::Scope;
use quipu_engine::{StepReport, TendOptions, TendStep, due, tend};

use super::super::frame::{Answer, Desk, Frame, Page, page};
use super::super::shown;
use super::timeline::came_with;
use crate::http::Fault;

/// Events looked at for imports, newest first.
const EVENTS_MAX: usize = 4000;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/upkeep", Scope::Read, upkeep),
        Page::post("/ui/u/{user_id}/upkeep", Scope::Write, done),
    ]
}

struct Import {
    source: String,
    events: usize,
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
    imports: Vec<Import>,
    is_cut: bool,
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
    }
}

fn shown(desk: &Desk<'_>, reports: Vec<StepReport>, was_done: bool) -> Result<Answer, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Upkeep and imports", "upkeep")?;
    let waiting = due(desk.engine, &user)?;
    let number = |step| waiting.iter().find(|due| due.step == step).map_or(0, |due| due.count);
    let steps = TendStep::ALL.into_iter().map(|step| (step.word(), about(step), number(step))).collect();
    let entries = log(desk.engine, &user, &LogOptions { before: None, limit: EVENTS_MAX, reference: None })?;
    let mut imports: BTreeMap<&str, Import> = BTreeMap::new();
    for entry in &entries {
        let Some(source) = came_with(entry) else { continue };
        let one = imports.entry(source).or_insert_with(|| Import {
            source: source.to_owned(),
            events: 0,
            counting: 0,
            last: shown::moment(entry.recorded_at),
        });
        one.events += 1;
        one.counting += usize::from(entry.standing == Standing::Counts);
    }
    let imports = imports.into_values().take(200).collect();
    page(&Upkeep { f, steps, reports, was_done, imports, is_cut: entries.len() == EVENTS_MAX })
}

fn upkeep(desk: &Desk<'_>) -> Result<Answer, Fault> {
    shown(desk, Vec::new(), false)
}

fn done(desk: &Desk<'_>) -> Result<Answer, Fault> {
    let user = desk.user()?;
    let report = tend(desk.engine, &user, &TendOptions::default())?;
    shown(desk, report.steps, true)
}
