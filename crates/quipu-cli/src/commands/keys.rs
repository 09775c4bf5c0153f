//! Keys of the server: made, listed, taken back. A server at work sees it at the next request.

use std::process::ExitCode;

use quipu_engine::Result;
use quipu_engine::keys::{KeyShown, NewKey};
use quipu_engine::ports::Scope;
use serde::Serialize;

use crate::app;
use crate::args::keys::KeyAction;
use crate::output::Printer;
use crate::settings::Settings;

#[derive(Serialize)]
struct Listed {
    items: Vec<KeyShown>,
    /// The same, by the name they had before.
    keys: Vec<KeyShown>,
}

pub(super) fn run(settings: &Settings, printer: &Printer, action: KeyAction) -> Result<ExitCode> {
    let keys = app::keys(settings)?;
    match action {
        KeyAction::Create { name, scopes } => {
            let scopes: Vec<Scope> = scopes.into_iter().map(Scope::from).collect();
            let made = keys.create(&name, &scopes, settings.user_named.as_ref())?;
            printer.report(&made, made_text)?;
            printer.hint("Keep it: it is not kept here and cannot be shown again.");
        }
        KeyAction::List => {
            let items = keys.list()?;
            printer.report(&Listed { keys: items.clone(), items }, list_text)?;
        }
        KeyAction::Revoke { id } => printer.report(&keys.revoke(&id)?, line)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn made_text(made: &NewKey) -> String {
    format!("{}\n{}", made.key, line(&made.shown))
}

fn list_text(listed: &Listed) -> String {
    match listed.keys.as_slice() {
        [] => "There is no key. On this machine none is needed; `quipu key create NAME` makes one.\n".to_owned(),
        keys => keys.iter().map(line).collect(),
    }
}

fn line(key: &KeyShown) -> String {
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let whose = key.user_id.as_ref().map_or("every user".to_owned(), |user| format!("user {user}"));
    let end = key.revoked_at.map(|time| format!(", taken back {time:.0}")).unwrap_or_default();
    format!("{}  {}  {} of {whose}, made {:.0}{end}\n", key.id, key.name, scopes.join("+"), key.created_at)
}
