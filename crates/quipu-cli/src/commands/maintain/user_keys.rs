//! The keys that encrypt the memories of users: makes a master key, and changes it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use quipu::system::SystemEntropy;
use quipu_encryption::{new_master_key, rewrap};
use quipu_engine::ports::UserKeyState;
use quipu_engine::{Error, Result};
use serde::Serialize;

use crate::commands::render;
use crate::encryption;
use crate::output::Printer;
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct UserKeysArgs {
    #[command(subcommand)]
    pub(crate) action: UserKeysAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserKeysAction {
    /// Write a new random master key into a file that does not exist yet
    New {
        /// The file
        file: PathBuf,
    },
    /// Show where the keys are, for how many users, and which master key is in use
    Status,
    /// Wrap the keys of all users with the first master key of the file. The others open what they wrapped until then
    Rewrap,
}

#[derive(Serialize)]
struct MadeMasterKey {
    file: PathBuf,
}

#[derive(Serialize)]
struct UserKeysStatus {
    place: String,
    users: usize,
    users_with_retired_keys: usize,
    master_key: String,
}

#[derive(Serialize)]
struct RewrapReport {
    users: u64,
    keys_rewrapped: u64,
    master_key: String,
}

pub(super) fn run(settings: &Settings, printer: &Printer, action: UserKeysAction) -> Result<ExitCode> {
    match action {
        UserKeysAction::New { file } => {
            write_new(&file)?;
            printer.report(&MadeMasterKey { file: file.clone() }, |made| {
                format!("a new master key is in {}\n", made.file.display())
            })?;
            printer.hint(
                "Name it in `master_key_file` or QUIPU_MASTER_KEY_FILE, and keep a copy elsewhere: without it nobody can read \
                 what is encrypted",
            );
        }
        UserKeysAction::Status => {
            let keys = encryption::user_keys(&settings.store, &settings.data_dir, &settings.encryption)?;
            let status = UserKeysStatus {
                place: keys.store.place(),
                users: keys.store.users(None)?.len(),
                users_with_retired_keys: keys.store.users(Some(UserKeyState::Retired))?.len(),
                master_key: keys.masters.current(),
            };
            printer.report(&status, |status| {
                let users = render::counted(status.users as u64, ["user", "users"]);
                let retired = match status.users_with_retired_keys {
                    0 => String::new(),
                    number => {
                        format!("; {number} with a retired key, which the next checkpoint of the memory destroys")
                    }
                };
                format!("{}: keys of {users}{retired}; master key {}\n", status.place, status.master_key)
            })?;
        }
        UserKeysAction::Rewrap => {
            let keys = encryption::user_keys(&settings.store, &settings.data_dir, &settings.encryption)?;
            let done = rewrap(&keys)?;
            let report =
                RewrapReport { users: done.users, keys_rewrapped: done.keys, master_key: keys.masters.current() };
            printer.report(&report, |report| {
                let users = render::counted(report.users, ["user", "users"]);
                format!(
                    "{} wrapped again, of {users}; all are wrapped by the master key {}\n",
                    render::counted(report.keys_rewrapped, ["key", "keys"]),
                    report.master_key
                )
            })?;
            printer.hint("Once every server has the new master key, remove the previous one from its file");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_new(file: &Path) -> Result<()> {
    let at = file.display();
    if std::fs::symlink_metadata(file).is_ok() {
        return Err(Error::Refused(format!("{at} exists and is kept. Choose another name")));
    }
    let text = format!(
        "# A master key of Quipu. Without it nobody can read the memories that it protects.\n{}\n",
        *new_master_key(&SystemEntropy)
    );
    let written = quipu_engine::backup::write_privately(file, text.as_bytes());
    written.map_err(|error| Error::Unavailable(format!("cannot write {at}: {error}")))
}
