//! Creates, lists and revokes keys of the server. A running server follows at the next request.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use quipu_engine::Result;
use quipu_engine::keys::{KeyShown, NewKey};
use quipu_engine::ports::Scope;
use serde::Serialize;

use crate::app;
use crate::output::Printer;
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) action: KeyAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Create a key and print it, once. With -u it is for one user's memory, else for every user's
    Create {
        /// Name of the key
        name: String,
        /// Its scopes
        #[arg(long = "scope", value_enum, value_delimiter = ',', default_values = ["read", "write"])]
        scopes: Vec<ScopeArg>,
    },
    /// List keys without their secrets
    List,
    /// Revoke a key
    Revoke {
        /// The id of the key: the part between `qp_` and the next `_`
        id: String,
    },
}

/// Scope of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// Read memories.
    Read,
    /// Record, and change reversibly.
    Write,
    /// Decide reviews.
    Review,
    /// Everything, including erasure and keys.
    Admin,
}

impl From<ScopeArg> for Scope {
    fn from(opens: ScopeArg) -> Self {
        match opens {
            ScopeArg::Read => Self::Read,
            ScopeArg::Write => Self::Write,
            ScopeArg::Review => Self::Review,
            ScopeArg::Admin => Self::Admin,
        }
    }
}

#[derive(Serialize)]
struct Listed {
    items: Vec<KeyShown>,
    /// The same list under its earlier name.
    keys: Vec<KeyShown>,
}

pub(super) fn run(settings: &Settings, printer: &Printer, action: KeyAction) -> Result<ExitCode> {
    let keys = app::keys(settings)?;
    match action {
        KeyAction::Create { name, scopes } => {
            let scopes: Vec<Scope> = scopes.into_iter().map(Scope::from).collect();
            let made = keys.create(&name, &scopes, settings.user_named.as_ref())?;
            printer.report(&made, made_text)?;
            printer.hint("Store it now: it cannot be shown again.");
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
        [] => "There are no keys. On this machine none is needed; `quipu key create NAME` makes one.\n".to_owned(),
        keys => keys.iter().map(line).collect(),
    }
}

fn line(key: &KeyShown) -> String {
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let whose = key.user_id.as_ref().map_or("every user".to_owned(), |user| format!("user {user}"));
    let end = key.revoked_at.map(|time| format!(", revoked {time:.0}")).unwrap_or_default();
    format!("{}  {}  {} of {whose}, created {:.0}{end}\n", key.id, key.name, scopes.join("+"), key.created_at)
}
