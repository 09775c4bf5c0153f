//! Overview, the front page of one memory: what it knows, what is new, what waits for a person, and whether it is well.

use std::collections::BTreeMap;

use askama::Template;
use jiff::Timestamp;
use quipu_core::extract::REMARK;
use quipu_core::id::{ItemId, UserId};
use quipu_core::item::{Fact, FactStatus, FactType};
use quipu_engine::log::growth;
use quipu_engine::ports::Scope;
use quipu_engine::{
    FactOptions, FactShown, ListOptions, Status, conflicts, facts, list, status, tasks, versions::When,
};

use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::plot;
use super::super::shown;
use super::tasks::{SettleButton, settle_button};
use crate::http::Fault;

/// Points of the growth curve by the time of recording.
const POINTS: usize = 120;
/// New facts listed.
const NEW_MAX: usize = 8;
/// Facts listed of each group.
const GROUP_MAX: usize = 5;
/// Tasks due within so many days are listed, and at most so many of them.
const DAYS_AHEAD: i64 = 14;
const TASKS_MAX: usize = 6;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}", Scope::Read, overview)]
}

/// A number and the page it links to.
struct Figure {
    number: String,
    what: &'static str,
    to: String,
}

struct KnownRow {
    id: ItemId,
    text: String,
}

/// Facts of one type.
struct KnownGroup {
    name: &'static str,
    rows: Vec<KnownRow>,
    more: usize,
}

/// A fact that was learned, and what it replaced.
struct NewRow {
    id: ItemId,
    text: String,
    when: String,
    instead_of: Option<String>,
}

struct DueRow {
    id: ItemId,
    title: String,
    when: String,
    is_over: bool,
    settle: Option<SettleButton>,
}

/// What is right or wrong with the memory: a tone and a sentence.
struct WellRow {
    tone: &'static str,
    text: String,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    f: Frame,
    lead: String,
    known: Vec<KnownGroup>,
    remarks: usize,
    new: Vec<NewRow>,
    due: Vec<DueRow>,
    /// Number of the other open tasks.
    other_tasks: usize,
    conflicts: usize,
    well: Vec<WellRow>,
    is_well: bool,
    figures: Vec<Figure>,
    growth: Option<String>,
    by_recorded: bool,
    status: Status,
    on_disk: String,
    in_memory: String,
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
    let said = list(engine, user, &ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: 0 })?;
    Ok(vec![
        of(held, "facts", "/memories"),
        of(quipu_engine::episodes(engine, user, now)?.len(), "episodes", "/memories?kind=episodes"),
        of(tasks(engine, user, now, false)?.len(), "open tasks", "/tasks"),
        of(quipu_engine::notes(engine, user, now)?.len(), "notes", "/memories?kind=notes"),
        of(quipu_engine::tenets(engine, user, now, false)?.len(), "tenets", "/memories?kind=tenets"),
        of(said.total, "things said", "/memories?kind=said"),
        of(status.sessions, "sessions", "/sessions"),
        of(status.version as usize, "events", "/timeline?by=recorded"),
    ])
}

fn group_name(of: FactType) -> &'static str {
    match of {
        FactType::Identity => "Who and with whom",
        FactType::Location => "Where",
        FactType::Constraint => "To be respected",
        FactType::Preference => "Likes and preferences",
        FactType::Commitment => "Plans",
        FactType::Trait => "Habits and belongings",
        FactType::Event => "What happened",
    }
}

/// The facts that hold, by type in the order of their most important fact. Remarks are counted only.
fn known(held: &[FactShown]) -> (Vec<KnownGroup>, usize) {
    let active = || held.iter().map(|one| &one.fact).filter(|fact| fact.status == FactStatus::Active);
    let mut groups: Vec<(FactType, Vec<&Fact>)> = Vec::new();
    for fact in active().filter(|fact| fact.predicate != REMARK) {
        match groups.iter_mut().find(|(of, _)| *of == fact.fact_type) {
            Some((_, rows)) => rows.push(fact),
            None => groups.push((fact.fact_type, vec![fact])),
        }
    }
    let row = |fact: &&Fact| KnownRow { id: fact.id, text: fact.text.clone() };
    let shown = groups.into_iter().map(|(of, rows)| KnownGroup {
        name: group_name(of),
        more: rows.len().saturating_sub(GROUP_MAX),
        rows: rows.iter().take(GROUP_MAX).map(row).collect(),
    });
    (shown.collect(), active().filter(|fact| fact.predicate == REMARK).count())
}

/// The facts learned last, by the time they were first said.
fn new(all: &[FactShown]) -> Vec<NewRow> {
    let replaced: BTreeMap<ItemId, &Fact> =
        all.iter().filter_map(|one| Some((one.fact.superseded_by?, &one.fact))).collect();
    let told = |fact: &&Fact| fact.status == FactStatus::Active && fact.predicate != REMARK;
    let mut rows: Vec<&Fact> = all.iter().map(|one| &one.fact).filter(told).collect();
    rows.sort_by_key(|fact| std::cmp::Reverse((fact.first_seen, fact.id)));
    let row = |fact: &Fact| NewRow {
        id: fact.id,
        text: fact.text.clone(),
        when: shown::maybe_day(fact.first_seen),
        instead_of: replaced.get(&fact.id).map(|old| old.text.clone()),
    };
    rows.into_iter().take(NEW_MAX).map(row).collect()
}

/// Open tasks that are overdue or due soon, the earliest first.
fn due(desk: &PageContext<'_>, user: &UserId) -> Result<(Vec<DueRow>, usize), Fault> {
    let now = desk.engine.local_now(user)?;
    let open = tasks(desk.engine, user, None, false)?;
    let mut dated: Vec<(Timestamp, _)> =
        open.iter().filter(|task| task.status.is_open()).filter_map(|task| Some((task.due?, task))).collect();
    dated.retain(|(due, _)| shown::days_until(*due, now) <= DAYS_AHEAD);
    dated.sort_by_key(|(due, task)| (*due, task.id));
    let row = |(due, task): (Timestamp, &quipu_core::item::Task)| DueRow {
        id: task.id,
        title: task.title.clone(),
        when: shown::distance(due, now),
        is_over: shown::days_until(due, now) < 0,
        settle: settle_button(task, false),
    };
    let rows: Vec<DueRow> = dated.into_iter().take(TASKS_MAX).map(row).collect();
    let others = open.iter().filter(|task| task.status.is_open()).count() - rows.len();
    Ok((rows, others))
}

/// What is right and what is wrong. The second value is false if a person should look.
fn well(desk: &PageContext<'_>, status: &Status) -> (Vec<WellRow>, bool) {
    let mut rows = Vec::new();
    let waiting = usize::try_from(desk.app.queue.depth()).unwrap_or_default();
    if waiting > 0 {
        rows.push(WellRow { tone: "warn", text: format!("{} wait to be recorded.", shown::many(waiting, "exchange")) });
    }
    let failed = status.given_up.unwrap_or_default() as usize;
    if failed > 0 {
        let text = format!("The language model failed to read {}.", shown::many(failed, "message"));
        rows.push(WellRow { tone: "warn", text });
    }
    if status.passages_waiting > 0 {
        let text = format!(
            "{} can be found by words only: searching by meaning is not ready for them yet.",
            shown::many(status.passages_waiting, "passage")
        );
        rows.push(WellRow { tone: "warn", text });
    }
    let is_well = rows.is_empty();
    if is_well {
        let text = "Everything that was said is recorded and can be found.".to_owned();
        rows.push(WellRow { tone: "good", text });
    }
    if !status.due.is_empty() {
        let text = "Some upkeep is due; it is done by itself in a quiet moment.".to_owned();
        rows.push(WellRow { tone: "plain", text });
    }
    if let Some((_, last)) = status.said_between {
        rows.push(WellRow { tone: "plain", text: format!("Last heard {}.", shown::moment(last)) });
    }
    (rows, is_well)
}

/// How many facts were known by the time each was first said.
fn learned(all: &[FactShown]) -> Vec<(Timestamp, u64)> {
    let mut times: Vec<Timestamp> = all.iter().filter_map(|one| one.fact.first_seen).collect();
    times.sort_unstable();
    times.into_iter().zip(1..).collect()
}

fn lead(held: usize, said: &str, between: Option<(Timestamp, Timestamp)>) -> String {
    let Some((from, to)) = between else { return format!("{} known.", shown::many(held, "fact")) };
    let (from, to) = (shown::day(from), shown::day(to));
    let when = if from == to { format!("on {from}") } else { format!("between {from} and {to}") };
    format!("{} known from {said} said {when}.", shown::many(held, "fact"))
}

fn overview(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Overview", "overview")?;
    let status = status(desk.engine, &user)?;
    let held = facts(desk.engine, &user, &FactOptions::default())?;
    let all = facts(desk.engine, &user, &FactOptions { all: true, ..FactOptions::default() })?;
    let by_recorded = desk.asked.get("by") == Some("recorded");
    let (points, what) =
        if by_recorded { (growth(desk.engine, &user, POINTS)?, "events") } else { (learned(&all), "facts") };
    let (known, remarks) = known(&held);
    let (well, is_well) = well(desk, &status);
    let figures = figures(desk, &user, &f.base, held.len(), &status)?;
    let said = figures.get(5).map_or_else(String::new, |one| format!("{} things", one.number));
    let (due, other_tasks) = due(desk, &user)?;
    page(&Overview {
        lead: lead(held.len(), &said, status.said_between),
        known,
        remarks,
        new: new(&all),
        due,
        other_tasks,
        conflicts: conflicts(desk.engine, &user)?.len(),
        well,
        is_well,
        figures,
        growth: plot::maybe_both(|width| plot::growth(width, &points, what)),
        by_recorded,
        on_disk: shown::bytes(status.bytes_on_disk),
        in_memory: shown::bytes(status.bytes_in_memory as u64),
        is_empty: status.version == 0,
        status,
        f,
    })
}
