//! Tasks, goals and problems, with all attempts.

use askama::Template;
use jiff::Timestamp;
use quipu_core::item::{Attempt, Task, TaskStatus};
use quipu_engine::ports::Scope;
use quipu_engine::tasks;

use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::shown;
use crate::http::Fault;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}/tasks", Scope::Read, all)]
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
}

#[derive(Template)]
#[template(path = "tasks.html")]
struct Tasks {
    f: Frame,
    rows: Vec<Row>,
    all: bool,
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

/// True for an open task whose day is over.
pub(super) fn is_overdue(task: &Task, now: Timestamp) -> bool {
    matches!(task.status, TaskStatus::Active | TaskStatus::Stalled)
        && task.due.is_some_and(|due| shown::days_until(due, now) < 0)
}

fn row(task: &Task, now: Timestamp) -> Row {
    let is_open = matches!(task.status, TaskStatus::Active | TaskStatus::Stalled);
    let status = shown::word(&task.status);
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
        is_overdue: is_overdue(task, now),
        tried: task.attempts.iter().map(tried).collect(),
    }
}

fn all(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Tasks and problems", "tasks")?;
    let all = desk.asked.get("all").is_some();
    let now = desk.now();
    let mut found = tasks(desk.engine, &user, None, all)?;
    // What is overdue comes first, then what is due; the rest stays in its order.
    found.sort_by_key(|task| {
        let day = task.due.filter(|_| matches!(task.status, TaskStatus::Active | TaskStatus::Stalled));
        (day.is_none(), day)
    });
    let rows = found.iter().map(|task| row(task, now)).collect();
    page(&Tasks { f, rows, all })
}
