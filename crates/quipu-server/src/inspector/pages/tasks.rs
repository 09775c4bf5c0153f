//! Tasks, goals and problems, with all attempts; ticking them off and opening them again.

use std::collections::BTreeSet;

use askama::Template;
use jiff::Timestamp;
use quipu_core::extract::TaskKind;
use quipu_core::id::ItemId;
use quipu_core::item::{Attempt, Task, TaskStatus};
use quipu_engine::ports::Scope;
use quipu_engine::{set_task_status, tasks};

use super::super::fields::encoded;
use super::super::frame::{Frame, Page, PageContext, PageResult, base, page};
use super::super::shown;
use crate::http::Fault;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/tasks", Scope::Read, all),
        Page::post("/ui/u/{user_id}/tasks", Scope::Write, settled),
    ]
}

struct Tried {
    when: String,
    approach: String,
    outcome: String,
    tone: &'static str,
    verdict: &'static str,
}

struct Row {
    id: String,
    kind: String,
    title: String,
    description: String,
    status: String,
    tone: &'static str,
    priority: u8,
    due: String,
    /// How far it is to the day, and whether the day is over.
    distance: String,
    is_overdue: bool,
    tried: Vec<Tried>,
    settle: Option<SettleButton>,
}

/// The button that ticks a task off, or opens it again.
pub(super) struct SettleButton {
    /// What the form sends: `done` or `reopen`.
    pub(super) action: &'static str,
    pub(super) name: &'static str,
}

/// The button for a task; `None` for a retracted one.
pub(super) fn settle_button(task: &Task, is_retracted: bool) -> Option<SettleButton> {
    let (action, name) = match (task.status, task.kind) {
        _ if is_retracted => return None,
        (TaskStatus::Done | TaskStatus::Dropped, _) => ("reopen", "Reopen"),
        (_, TaskKind::Task) => ("done", "Done"),
        (_, TaskKind::Goal) => ("done", "Reached"),
        (_, TaskKind::Problem) => ("done", "Solved"),
    };
    Some(SettleButton { action, name })
}

#[derive(Template)]
#[template(path = "tasks.html")]
struct Tasks {
    f: Frame,
    rows: Vec<Row>,
    all: bool,
    /// The page that a form leads back to.
    back: &'static str,
}

fn tried(attempt: &Attempt) -> Tried {
    let (tone, verdict) = match attempt.successful {
        Some(true) => ("good", "helped"),
        Some(false) => ("bad", "did not help"),
        None => ("plain", "not known"),
    };
    Tried {
        when: shown::maybe_day(attempt.date),
        approach: attempt.approach.clone(),
        outcome: attempt.outcome.clone(),
        tone,
        verdict,
    }
}

/// True for a task that is neither done nor dropped.
pub(super) fn is_open(task: &Task) -> bool {
    task.status.is_open()
}

/// True for an open task whose day is over.
pub(super) fn is_overdue(task: &Task, now: Timestamp) -> bool {
    is_open(task) && task.due.is_some_and(|due| shown::days_until(due, now) < 0)
}

fn row(task: &Task, open: &BTreeSet<ItemId>, now: Timestamp) -> Row {
    let is_retracted = is_open(task) && !open.contains(&task.id);
    let status = if is_retracted { "retracted".to_owned() } else { shown::word(&task.status) };
    let is_open = is_open(task) && !is_retracted;
    Row {
        id: task.id.to_string(),
        kind: shown::word(&task.kind),
        title: task.title.clone(),
        description: task.description.clone(),
        tone: shown::tone(&status),
        status,
        priority: task.priority,
        due: task.due.map(shown::day).unwrap_or_default(),
        distance: task.due.filter(|_| is_open).map(|due| shown::distance(due, now)).unwrap_or_default(),
        is_overdue: is_open && is_overdue(task, now),
        settle: settle_button(task, is_retracted),
        tried: task.attempts.iter().map(tried).collect(),
    }
}

fn all(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Tasks and problems", "tasks")?;
    let all = desk.asked.get("all").is_some();
    let now = desk.engine.local_now(&user)?;
    let mut found = tasks(desk.engine, &user, None, all)?;
    // What is overdue comes first, then what is due; the rest stays in its order.
    found.sort_by_key(|task| {
        let day = task.due.filter(|_| is_open(task));
        (day.is_none(), day)
    });
    // Retracted tasks are listed with all others, and are not open.
    let open = tasks(desk.engine, &user, None, false)?.iter().map(|task| task.id).collect();
    let rows = found.iter().map(|task| row(task, &open, now)).collect();
    page(&Tasks { f, rows, all, back: if all { "all" } else { "" } })
}

/// Ticks a task off or opens it again, and leads back to the page of the form.
fn settled(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let task = desk.needs("task", "which task is missing")?;
    let status = match desk.needs("action", "what to do with the task is missing")? {
        "done" => TaskStatus::Done,
        "reopen" => TaskStatus::Active,
        other => return Err(Fault::invalid(format!("{other:?} cannot be done with a task: send done or reopen"))),
    };
    let receipt = set_task_status(desk.engine, &user, task, status)?;
    let (base, seq) = (base(&user), receipt.seq);
    Ok(PageResult::See(match desk.sent.get("back") {
        Some("overview") => format!("{base}?done={seq}"),
        Some("item") => format!("{base}/items/{}?done={seq}", encoded(task)),
        Some("all") => format!("{base}/tasks?all=1&done={seq}"),
        _ => format!("{base}/tasks?done={seq}"),
    }))
}
