//! Quipu in the settings of other programs: entered, shown, and taken out again. Nothing but its own entry is touched.

mod clients;
mod entry;
mod file;
mod json;
mod toml;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use quipu_engine::{Error, Result};
use serde::Serialize;
use similar::TextDiff;

use crate::args::clients::{ClientLocation, Install};
use crate::output::Printer;
use crate::settings::Settings;

use clients::KnownClient;
use entry::Entry;
use file::SettingsFile;

/// Lines shown around a change. Few: what stands there may be somebody's key.
const AROUND: usize = 1;

/// What was changed, or would be.
#[derive(Serialize)]
struct Report {
    client: &'static str,
    config: PathBuf,
    changed: bool,
    dry_run: bool,
    diff: String,
    /// Where the file as it was is kept until Quipu is taken out again.
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
}

/// Enters Quipu in a client's settings.
///
/// # Errors
/// `Refused` for a file that cannot be read as what it should be: it is left as it is. `Unavailable` if it cannot be written.
pub(super) fn install(settings: &Settings, printer: &Printer, args: Install) -> Result<ExitCode> {
    let known = KnownClient::of(args.place.client);
    let entry = Entry::of(settings, &args, &known)?;
    let mut file = SettingsFile::open(path_of(&args.place, &known)?)?;
    // What was there before this, and before any earlier entry of ours.
    let before = without(&known, &file)?;
    let after = known.with(before.as_deref(), &entry, file.path())?;
    let report = report(&known, &file, Some(after.as_str()), args.place.dry_run);
    if report.changed && !args.place.dry_run {
        file.keep(before.as_deref())?;
        file.write(&after)?;
    }
    let backup = (report.changed && before.is_some()).then(|| file.backup().to_owned());
    let next = report.changed.then_some(known.next);
    printer.report(&Report { backup, next, ..report }, render)?;
    Ok(ExitCode::SUCCESS)
}

/// Takes Quipu out of a client's settings. A file that was not changed since is what it was before, byte for byte.
///
/// # Errors
/// As for entering it.
pub(super) fn uninstall(printer: &Printer, place: &ClientLocation) -> Result<ExitCode> {
    let known = KnownClient::of(place.client);
    let mut file = SettingsFile::open(path_of(place, &known)?)?;
    let before = without(&known, &file)?;
    let report = report(&known, &file, before.as_deref(), place.dry_run);
    if !place.dry_run {
        match &before {
            Some(before) if report.changed => file.write(before)?,
            None if report.changed => file.remove()?,
            _ => {}
        }
        file.forget()?;
    }
    let next = report.changed.then_some(known.next);
    printer.report(&Report { next, ..report }, render)?;
    Ok(ExitCode::SUCCESS)
}

fn path_of(place: &ClientLocation, known: &KnownClient) -> Result<PathBuf> {
    match &place.config {
        Some(path) => Ok(path.clone()),
        None => (known.place)(),
    }
}

/// The file without an entry of ours: as it was kept, if nothing else was changed since; none if there was no file.
fn without(known: &KnownClient, file: &SettingsFile) -> Result<Option<String>> {
    let Some(now) = file.text() else { return Ok(None) };
    let Some(entry) = known.entry(now, file.path())? else { return Ok(Some(now.to_owned())) };
    for kept in [file.kept().map(Some), Some(None)].into_iter().flatten() {
        // Had there been no file, ours would be all there is.
        let again = known.with(kept, &entry, file.path());
        if again.is_ok_and(|again| again == now) {
            return Ok(kept.map(str::to_owned));
        }
    }
    known.without(now, file.path()).map(Some)
}

fn report(known: &KnownClient, file: &SettingsFile, after: Option<&str>, dry_run: bool) -> Report {
    let (old, new) = (file.text().unwrap_or_default(), after.unwrap_or_default());
    let shown = file.path().display().to_string();
    let mut diff =
        TextDiff::from_lines(old, new).unified_diff().context_radius(AROUND).header(&shown, &shown).to_string();
    if old == new {
        diff.clear();
    }
    Report {
        client: known.name,
        config: file.path().to_owned(),
        changed: file.text() != after,
        dry_run,
        diff,
        backup: None,
        next: None,
    }
}

fn render(report: &Report) -> String {
    if !report.changed {
        return format!("{}: nothing to change in {}\n", report.client, report.config.display());
    }
    let mut text = report.diff.clone();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let did = if report.dry_run { "would be changed" } else { "is changed" };
    text.push_str(&format!("\n{}: {} {did}", report.client, report.config.display()));
    if let Some(backup) = report.backup.as_ref().filter(|_| !report.dry_run) {
        text.push_str(&format!("; as it was it is kept in {}", backup.display()));
    }
    text.push_str(".\n");
    if let Some(next) = report.next.filter(|_| !report.dry_run) {
        text.push_str(&format!("{next}\n"));
    }
    text
}

/// An error about a file that is left as it is.
fn refused(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::Refused(format!("{}: {why}. It is left as it is", path.display()))
}
