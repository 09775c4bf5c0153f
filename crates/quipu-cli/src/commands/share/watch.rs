//! Watches the plain files of a memory for edits by hand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Args;
use quipu_core::artifact::folder_of;
use quipu_engine::{Error, Result, VaultOptions, files};

use super::files::edited;
use crate::app;
use crate::output::Printer;
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Check once, then exit
    #[arg(long)]
    pub(crate) once: bool,
    /// Only show what would be proposed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Interval between two checks of the pages.
const TICK: Duration = Duration::from_secs(1);

/// Checks without a further change before an edit is processed, as an editor may write a page in several steps.
const QUIET_TICKS: u32 = 2;

/// Watches the pages of a user. The memory is open only while an edit is processed, so that other commands can work in
/// between.
pub(super) fn watch(settings: &Settings, printer: &Printer, args: &WatchArgs) -> Result<ExitCode> {
    let folder = app::files_folder(&settings.data_dir, settings).join(folder_of(&settings.user));
    let mut seen = if args.once { None } else { Some(snapshot(&folder)) };
    if !args.once {
        printer.hint(&format!("watching the pages in {}; Ctrl-C stops", folder.display()));
        process_edits(settings, printer, args.dry_run)?;
        seen = Some(snapshot(&folder));
    }
    let mut quiet = 0;
    loop {
        let now = snapshot(&folder);
        if seen.as_ref() != Some(&now) {
            if quiet >= QUIET_TICKS || args.once {
                match process_edits(settings, printer, args.dry_run) {
                    // Another command uses the memory; retry at the next tick.
                    Err(Error::Unavailable(text)) if !args.once => printer.hint(&text),
                    outcome => {
                        outcome?;
                        seen = Some(snapshot(&folder));
                    }
                }
                quiet = 0;
            } else {
                quiet += 1;
            }
        }
        if args.once {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(TICK);
    }
}

/// The editable pages that exist, with size and time of the last change.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u64, Option<SystemTime>)> {
    let mut pages = vec![folder.join("GLOBAL_MEMORY.md"), folder.join("GLOBAL_MEMORY.json")];
    let topics = std::fs::read_dir(folder.join("topics")).into_iter().flatten().flatten();
    for topic in topics {
        pages.push(topic.path().join("topic_memory.md"));
        pages.push(topic.path().join("topic_memory.json"));
    }
    let found = |page: PathBuf| {
        let found = std::fs::symlink_metadata(&page).ok()?;
        Some((page, (found.len(), found.modified().ok())))
    };
    pages.into_iter().filter_map(found).collect()
}

fn process_edits(settings: &Settings, printer: &Printer, dry_run: bool) -> Result<()> {
    let engine = app::open(settings)?;
    let user = app::reader(&engine, settings)?;
    let report = files::level(&engine, &user, VaultOptions { dry_run, look: true })?;
    if report.edited.is_empty() {
        return Ok(());
    }
    printer.report(&report, edited)?;
    if report.edited.iter().any(|taken| !taken.proposed.is_empty()) && !dry_run {
        printer.hint("`quipu review` shows them and decides");
    }
    Ok(())
}
