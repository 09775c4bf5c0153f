//! Copies ledgers and API keys from the configured store into another one.

use std::path::Path;

use clap::{Args, ValueEnum};
use quipu_engine::move_ledgers::{MoveOutcome, MovedKeys, MovedLedger, move_keys, move_ledger};
use quipu_engine::{Error, Result};
use serde::Serialize;

use crate::app;
use crate::commands::render;
use crate::encryption;
use crate::output::Printer;
use crate::settings::{EncryptionSettings, Settings, StoreSetting, UserKeysPlace};

#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// Where to: postgres://USER:PASSWORD@HOST:PORT/DATABASE, or a data folder
    #[arg(long, env = "QUIPU_MOVE_TO", hide_env_values = true, value_name = "ADDRESS")]
    pub(crate) to: String,
    /// Whether the target is encrypted. The default is `encryption` of the settings, else `on` if there is a master key
    #[arg(long, value_enum)]
    pub(crate) encryption: Option<SwitchArg>,
    /// Where the keys of the target's users are: a file or a database. The default is in the target
    #[arg(long, env = "QUIPU_MOVE_USER_KEYS", hide_env_values = true, value_name = "ADDRESS")]
    pub(crate) user_keys: Option<String>,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SwitchArg {
    On,
    Off,
}

#[derive(Debug, Serialize)]
struct MoveReport {
    users: Vec<MovedLedger>,
    keys: MovedKeys,
}

pub(super) fn move_store(settings: &Settings, printer: &Printer, args: &MoveArgs) -> Result<()> {
    let place = StoreSetting::of_address(&args.to);
    let folder = Path::new(&args.to);
    if is_same(settings, &place, folder) {
        return Err(Error::Invalid("the ledgers are there already: --to names the configured store".to_owned()));
    }
    let target = encryption_of_target(settings, args);
    let from = app::ledgers(settings)?;
    let users = match &settings.user_named {
        Some(user) => vec![user.clone()],
        None => from.users()?,
    };
    if users.is_empty() {
        return Err(Error::NotFound("there is nothing to move".to_owned()));
    }
    let to = encryption::open_store(&place, folder, &target)?;
    let mut moved = Vec::new();
    for user in &users {
        let one = move_ledger(from.as_ref(), to.as_ref(), user).inspect_err(|_| {
            let done = moved.len();
            printer.hint(&format!("stopped at user {user}, after {done} of {}; run it again to continue", users.len()));
        })?;
        moved.push(one);
    }
    let keys = move_keys(
        app::key_store(&settings.store, &settings.data_dir)?.as_ref(),
        app::key_store(&place, folder)?.as_ref(),
        settings.user_named.as_ref(),
    )?;
    printer.report(&MoveReport { users: moved, keys }, |report| {
        let mut text: String = report.users.iter().map(in_words).collect();
        let MovedKeys { copied, already_there } = report.keys;
        text.push_str(&format!("API keys: {copied} copied, {already_there} already there\n"));
        text
    })?;
    printer.hint(&next(&place, folder));
    if target.switch == Some(true) {
        printer
            .hint("The copy is encrypted with keys of its own: set QUIPU_ENCRYPTION to `on`, with the same master key");
    }
    Ok(())
}

/// The target has the same master key, and keys of users of its own: an erasure or a deletion in one of the two stores must
/// not destroy keys of the other.
fn encryption_of_target(settings: &Settings, args: &MoveArgs) -> EncryptionSettings {
    let of_source = &settings.encryption;
    let is_on = match args.encryption {
        Some(switch) => switch == SwitchArg::On,
        None => of_source.switch.unwrap_or(of_source.master.is_some()),
    };
    EncryptionSettings {
        switch: Some(is_on),
        master: of_source.master.clone(),
        user_keys: args.user_keys.as_deref().map(UserKeysPlace::of_address),
    }
}

/// Whether the target is the configured store.
fn is_same(settings: &Settings, place: &StoreSetting, folder: &Path) -> bool {
    let is_same_folder = || match (settings.data_dir.canonicalize(), folder.canonicalize()) {
        (Ok(here), Ok(there)) => here == there,
        _ => false,
    };
    *place == settings.store && (*place != StoreSetting::Folder || is_same_folder())
}

fn in_words(moved: &MovedLedger) -> String {
    let MovedLedger { user_id, head_seq, .. } = moved;
    let events = render::counted(*head_seq, ["event", "events"]);
    let head = format!("{events}, head {}…", &moved.head_hash[..12]);
    match moved.outcome {
        MoveOutcome::Copied => format!("{user_id}  {head}: copied and verified\n"),
        MoveOutcome::Continued => format!("{user_id}  {head}: {} of them appended, all verified\n", moved.events),
        MoveOutcome::AlreadyThere => format!("{user_id}  {head}: already there\n"),
        MoveOutcome::Empty => format!("{user_id}  no events, nothing to copy\n"),
    }
}

/// What to do after a move.
fn next(place: &StoreSetting, folder: &Path) -> String {
    let (set, rest) = match place {
        StoreSetting::Folder => (
            format!("QUIPU_DATA_DIR (`data_dir`) to {} and QUIPU_STORE (`store`) to `folder`", folder.display()),
            "Plain files and the signing key were not copied: they are in the previous data folder",
        ),
        StoreSetting::Postgres(url) => (
            format!("QUIPU_STORE (`store` in the settings) to {url}, with its password"),
            "Plain files and the signing key stay in the data folder",
        ),
    };
    format!(
        "To use it, set {set}. {rest}. The source is unchanged. If it was in use meanwhile, run the move again first"
    )
}
