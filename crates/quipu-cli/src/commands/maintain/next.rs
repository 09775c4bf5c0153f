//! What to do next, as commands to paste.

use quipu_core::id::UserId;
use quipu_engine::{Engine, MaintenanceStep, Result};
use serde::Serialize;

use crate::commands::serve::found_clients;
use crate::settings::Settings;

/// A step, as a command line and its purpose.
#[derive(Debug, Serialize)]
pub(crate) struct NextStep {
    pub(crate) command: String,
    pub(crate) why: String,
}

impl NextStep {
    fn new(command: String, why: impl Into<String>) -> Self {
        Self { command, why: why.into() }
    }
}

/// The first steps with a new memory.
pub(crate) fn after_setup(settings: &Settings) -> Vec<NextStep> {
    let command = |words: &[&str]| match &settings.user_named {
        Some(user) => settings.command.user(user.as_str()).with(words),
        None => settings.command.with(words),
    };
    vec![
        NextStep::new(command(&["add", "I prefer tea in the morning."]), "records a message"),
        NextStep::new(command(&["recall", "What do I drink in the morning?"]), "finds it again"),
        NextStep::new(command(&["import", "--find"]), "looks for your exported chats in the download folder"),
        NextStep::new(command(&["doctor"]), "checks that everything works"),
    ]
}

/// What the state of the memories asks for, most urgent first. Empty if nothing waits.
pub(crate) fn of_state(engine: &Engine, settings: &Settings, damaged: bool) -> Result<Vec<NextStep>> {
    let mut steps = Vec::new();
    let users = quipu_engine::users(engine)?;
    if damaged {
        steps.push(NextStep::new(
            settings.command.with(&["verify"]),
            "lists all damage; the lines with LOOK say what to do",
        ));
    }
    for user in &users {
        steps.extend(of_user(engine, settings, user));
    }
    if found_clients().into_iter().any(|client| !client.is_connected) {
        steps.push(NextStep::new(
            settings.command.with(&["init"]),
            "connects the clients on this machine that do not use it yet",
        ));
    }
    if users.is_empty() {
        steps.push(NextStep::new(settings.command.with(&["demo"]), "shows what it does, in a memory of its own"));
        steps
            .push(NextStep::new(settings.command.with(&["add", "I prefer tea in the morning."]), "starts your memory"));
    }
    Ok(steps)
}

/// A memory that cannot be opened is among the findings, and asks for nothing here.
fn of_user(engine: &Engine, settings: &Settings, user: &UserId) -> Vec<NextStep> {
    let command = |words: &[&str]| {
        let is_default = settings.user_named.is_none() && *user == settings.user;
        if is_default { settings.command.with(words) } else { settings.command.user(user.as_str()).with(words) }
    };
    let mut steps = Vec::new();
    let pending = quipu_engine::reviews(engine, user, false).map_or(0, |reviews| reviews.len());
    if pending > 0 {
        steps.push(NextStep::new(command(&["review"]), format!("{pending} pending: approve or decline")));
    }
    let Ok(status) = quipu_engine::status(engine, user) else { return steps };
    if status.due.iter().any(|due| !matches!(due.step, MaintenanceStep::Study | MaintenanceStep::Summarize)) {
        steps.push(NextStep::new(command(&["maintain"]), "does the maintenance that is due"));
    } else if !status.due.is_empty() {
        steps.push(NextStep::new(command(&["catch-up"]), "reads and summarises what waits"));
    }
    steps
}

/// The steps as text; says so if there are none.
pub(crate) fn render(steps: &[NextStep]) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let width = steps.iter().map(|step| step.command.chars().count()).max().unwrap_or(0).min(60);
    let line = |step: &NextStep| format!("  {:width$}  # {}\n", step.command, step.why);
    format!("\nNext:\n{}", steps.iter().map(line).collect::<String>())
}
