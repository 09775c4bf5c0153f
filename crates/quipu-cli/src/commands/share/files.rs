//! Rebuilds, verifies and restores the plain files of a memory.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use quipu_engine::{Result, VaultOptions, VaultReport, files};

use super::watch::{self, WatchArgs};
use crate::commands::{CommandContext, Invocation, MemoryUser, render};

#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    #[command(subcommand)]
    pub(crate) action: FilesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FilesAction {
    /// Rebuild the files from the ledger; files that are up to date are not touched
    Rebuild(FilesRebuildArgs),
    /// Compare the files with the ledger
    Verify,
    /// Restore the ledger from the files, without the database
    Restore(FilesRestoreArgs),
    /// Watch the pages, and propose edits made by hand (see `quipu review`)
    Watch(WatchArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FilesRestoreArgs {
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Set an existing memory aside, in the same step
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FilesRebuildArgs {
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Runs an action. Unlike other commands, it does not update the plain files afterwards.
pub(super) fn run(invocation: Invocation<'_>, action: FilesAction) -> Result<ExitCode> {
    match action {
        FilesAction::Rebuild(args) => {
            rebuild(&invocation.open(MemoryUser::Existing)?, args.dry_run).map(|()| ExitCode::SUCCESS)
        }
        FilesAction::Verify => verify(&invocation.open(MemoryUser::Existing)?),
        FilesAction::Restore(args) => restore(&invocation.open(MemoryUser::Named)?, &args).map(|()| ExitCode::SUCCESS),
        FilesAction::Watch(args) => {
            invocation.with_settings(|settings, printer| watch::watch(settings, printer, &args))
        }
    }
}

/// Most paths printed one by one.
const SHOWN: usize = 20;

/// The edits found on pages, and the reviews proposed for them.
pub(super) fn edited(report: &VaultReport) -> String {
    let mut text = String::new();
    for taken in &report.edited {
        let copy = taken.kept.as_ref().map(|kept| format!("; the edited page is kept as {kept}")).unwrap_or_default();
        text.push_str(&format!("{} was edited by hand{copy}\n", taken.page));
        for (id, question) in &taken.proposed {
            text.push_str(&format!("  ? {question}  ({id})\n"));
        }
        if taken.proposed.is_empty() {
            text.push_str("  nothing in it needs a decision\n");
        }
    }
    text
}

fn rebuild(context: &CommandContext<'_>, dry_run: bool) -> Result<()> {
    let report = files::rebuild(&context.engine, &context.user, VaultOptions { dry_run, look: true })?;
    context.printer.report(&report, |report| {
        let (wrote, took) = if dry_run { ("would be written", "would be removed") } else { ("written", "removed") };
        format!("{}{}{}", heading(report), edited(report), listed(report, wrote, took))
    })?;
    if dry_run {
        context.printer.hint("nothing was changed; omit --dry-run to rebuild");
    }
    Ok(())
}

fn heading(report: &VaultReport) -> String {
    let place = report.folder.display();
    let place = if report.folder.as_os_str().is_empty() { "(no folder yet)".to_owned() } else { place.to_string() };
    format!("{place}, version {}: {} files up to date\n", report.version, report.unchanged)
}

fn listed(report: &VaultReport, wrote: &str, took: &str) -> String {
    let mut text = String::new();
    for (paths, what) in [(&report.written, wrote), (&report.removed, took)] {
        if paths.is_empty() {
            continue;
        }
        text.push_str(&format!("  {} {what}\n", paths.len()));
        paths.iter().take(SHOWN).for_each(|path| text.push_str(&format!("    {path}\n")));
        if paths.len() > SHOWN {
            text.push_str(&format!("    and {} more\n", paths.len() - SHOWN));
        }
    }
    text
}

fn verify(context: &CommandContext<'_>) -> Result<ExitCode> {
    let report = files::verify(&context.engine, &context.user)?;
    context.printer.report(&report, |report| {
        let verdict = if report.is_level() { "LEVEL with the ledger\n" } else { "NOT LEVEL with the ledger\n" };
        format!(
            "{}{}{}{verdict}",
            heading(report),
            edited(report),
            listed(report, "missing or different", "that should not be there")
        )
    })?;
    if report.is_level() {
        return Ok(ExitCode::SUCCESS);
    }
    context.printer.hint("`quipu files rebuild` brings them up to date");
    Ok(ExitCode::FAILURE)
}

fn restore(context: &CommandContext<'_>, args: &FilesRestoreArgs) -> Result<()> {
    let bar = context.printer.progress();
    let options = files::RestoreOptions { dry_run: args.dry_run, replace: args.replace };
    let restored = files::restore(&context.engine, &context.user, options, &mut |progress| bar.show(progress))?;
    drop(bar);
    context.printer.report(&restored, render::restored)
}
