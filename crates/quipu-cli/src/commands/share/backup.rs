//! Backs up ledgers into a folder, and restores them from one.

use std::path::PathBuf;

use clap::Args;
use quipu_core::id::UserId;
use quipu_engine::backup::{BackedUp, Restored};
use quipu_engine::{Engine, Error, Result};

use crate::commands::render;
use crate::output::Printer;
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// A folder that does not exist yet
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A backup folder
    pub(crate) folder: PathBuf,
    /// Set existing ledgers aside
    #[arg(long)]
    pub(crate) replace: bool,
}

pub(super) fn backup(engine: &Engine, settings: &Settings, printer: &Printer, args: &BackupArgs) -> Result<()> {
    let users = match &settings.user_named {
        Some(user) => vec![user.clone()],
        None => quipu_engine::users(engine)?,
    };
    if users.is_empty() {
        return Err(Error::NotFound("there is nothing to back up".to_owned()));
    }
    let manifest = quipu_engine::backup::backup(engine, &users, &args.folder)?;
    printer.report(&manifest, |manifest| {
        let line = |held: &BackedUp| {
            format!(
                "{}  {} events, {}, head {}… in {}\n",
                held.user_id,
                held.head_seq,
                render::size(held.bytes),
                &held.head_hash[..12],
                held.file
            )
        };
        manifest.users.iter().map(line).collect()
    })?;
    let restore = settings.command.with(&["restore", &args.folder.display().to_string()]);
    printer.hint(&format!("`{restore}` restores them"));
    Ok(())
}

pub(super) fn restore(engine: &Engine, settings: &Settings, printer: &Printer, args: &RestoreArgs) -> Result<()> {
    let users: Option<Vec<UserId>> = settings.user_named.clone().map(|user| vec![user]);
    let restored = quipu_engine::backup::restore(engine, &args.folder, users.as_deref(), args.replace)?;
    printer.report(&restored, |restored| {
        let line = |one: &Restored| {
            let aside = one
                .set_aside
                .as_ref()
                .map(|path| format!("; the previous ledger is now in {}", path.display()))
                .unwrap_or_default();
            format!(
                "{}  {} events, every one verified, head {}…{aside}\n",
                one.user_id,
                one.head_seq,
                &one.head_hash[..12]
            )
        };
        restored.iter().map(line).collect()
    })
}
