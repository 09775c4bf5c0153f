//! Lists tasks, episodes, notes and tenets.

use quipu_core::item::Task;
use quipu_engine::Result;
use quipu_engine::versions::When;

use crate::commands::{CommandContext, render};

pub(crate) fn tasks(context: &CommandContext<'_>, at: Option<When>, all: bool) -> Result<()> {
    let found = quipu_engine::tasks(&context.engine, &context.user, at, all)?;
    let today = context.engine.local_now(&context.user)?.strftime("%Y-%m-%d").to_string();
    let shown = |one: &Task| task(one, &today);
    context.printer.report(&found, |found| render::list(found, "no tasks, goals or problems", shown))
}

/// A task in words; `today` as `2026-07-15`.
pub(crate) fn task(task: &Task, today: &str) -> String {
    let due = task.due.map(|due| {
        let due = due.strftime("%Y-%m-%d").to_string();
        let late = if task.status.is_open() && due.as_str() < today { ", overdue" } else { "" };
        format!(" · due {due}{late}")
    });
    let due = due.unwrap_or_default();
    let mut text =
        format!("{} · {}{due}  {}  {}\n", render::word(&task.kind), render::word(&task.status), task.title, task.id);
    for attempt in &task.attempts {
        let helped = match attempt.successful {
            Some(true) => "helped",
            Some(false) => "did not help",
            None => "outcome unknown",
        };
        let day = attempt.date.map(|date| date.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
        let outcome = if attempt.outcome.is_empty() { String::new() } else { format!(": {}", attempt.outcome) };
        text.push_str(&format!("    {day}  {} — {helped}{outcome}\n", attempt.approach));
    }
    text
}

pub(crate) fn episodes(context: &CommandContext<'_>, at: Option<When>) -> Result<()> {
    let found = quipu_engine::episodes(&context.engine, &context.user, at)?;
    context.printer.report(&found, |found| {
        render::list(found, "no episodes", |episode| {
            format!(
                "{}  {}  {}\n    {}\n    {} · importance {} · {}\n",
                render::time(episode.start),
                episode.title,
                episode.id,
                render::excerpt(&episode.summary, 300),
                render::word(&episode.sentiment),
                episode.importance,
                episode.topics.join(", ")
            )
        })
    })
}

pub(crate) fn notes(context: &CommandContext<'_>, at: Option<When>) -> Result<()> {
    let found = quipu_engine::notes(&context.engine, &context.user, at)?;
    context.printer.report(&found, |found| {
        render::list(found, "no notes", |note| {
            let agreed = if note.is_agreed() { "" } else { " · not confirmed by anybody else yet" };
            format!("{}  {} · {}{agreed}\n", note.text, note.id, render::word(&note.origin))
        })
    })
}

pub(crate) fn tenets(context: &CommandContext<'_>, at: Option<When>, all: bool) -> Result<()> {
    let found = quipu_engine::tenets(&context.engine, &context.user, at, all)?;
    context.printer.report(&found, |found| {
        render::list(found, "no tenets", |tenet| {
            format!("{} · {}  {}  {}\n", render::word(&tenet.kind), render::word(&tenet.status), tenet.text, tenet.id)
        })
    })
}
