//! Adds Quipu to the settings of other programs, and removes it. Only its own entry is changed.

mod clients;
mod entry;
mod file;
mod json;
mod toml;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use quipu_engine::{Error, Result};
use quipu_server::Toolset;
use serde::Serialize;
use similar::TextDiff;

use crate::output::Printer;
use crate::settings::Settings;

use clients::KnownClient;
use entry::Entry;
pub(super) use file::SettingsFile;

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) place: ClientArgs,
    /// Connect it to a running server, such as http://127.0.0.1:7077
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// With --server: the environment variable that has the key
    #[arg(long, value_name = "NAME", requires = "server")]
    pub(crate) key_env: Option<String>,
    /// Additional tools: graph, files, admin
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) toolsets: Vec<Toolset>,
    /// The program to start [default: this one]
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    pub(crate) program: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ClientArgs {
    /// The client
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// Its settings file [default: the client's own]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A program that speaks MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "kebab-case")]
pub(crate) enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code, for every project.
    ClaudeCode,
    /// Cursor, for every project.
    Cursor,
    /// Codex.
    Codex,
    /// Visual Studio Code, for every workspace.
    #[value(name = "vscode")]
    VsCode,
}

/// Lines of context in a diff. Few, as they may contain keys.
const AROUND: usize = 1;

/// The result of a change, or of a dry run.
#[derive(Serialize)]
pub(super) struct Report {
    client: &'static str,
    config: PathBuf,
    changed: bool,
    dry_run: bool,
    diff: String,
    /// The copy of the file before the change, kept until Quipu is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
}

/// Adds Quipu to a client's settings.
///
/// # Errors
/// `Refused` for a file that cannot be parsed; it is not changed. `Unavailable` if it cannot be written.
pub(super) fn install(settings: &Settings, printer: &Printer, args: InstallArgs) -> Result<ExitCode> {
    printer.report(&entered(settings, &args)?, render)?;
    Ok(ExitCode::SUCCESS)
}

/// Adds Quipu to a client's own settings, as a program to start.
///
/// # Errors
/// As for [`install`].
pub(super) fn connect(settings: &Settings, client: Client, dry_run: bool) -> Result<Report> {
    let place = ClientArgs { client, config: None, dry_run };
    entered(settings, &InstallArgs { place, server: None, key_env: None, toolsets: Vec::new(), program: None })
}

/// The clients on this machine: those with settings, or with a folder for them.
pub(super) fn found() -> Vec<Client> {
    Client::value_variants().iter().copied().filter(|client| KnownClient::of(*client).is_there()).collect()
}

/// Whether a client has an entry of Quipu. False for settings that cannot be read.
pub(super) fn is_connected(client: Client) -> bool {
    let known = KnownClient::of(client);
    let file = (known.place)().and_then(SettingsFile::open);
    let entry = file.and_then(|file| match file.text() {
        Some(text) => known.entry(text, file.path()),
        None => Ok(None),
    });
    entry.is_ok_and(|entry| entry.is_some())
}

fn entered(settings: &Settings, args: &InstallArgs) -> Result<Report> {
    let known = KnownClient::of(args.place.client);
    let entry = Entry::of(settings, args, &known)?;
    let mut file = SettingsFile::open(path_of(&args.place, &known)?)?;
    // The file without any earlier entry of Quipu.
    let before = without(&known, &file)?;
    let after = known.with(before.as_deref(), &entry, file.path())?;
    let report = report(&known, &file, Some(after.as_str()), args.place.dry_run);
    if report.changed && !args.place.dry_run {
        file.keep(before.as_deref())?;
        file.write(&after)?;
    }
    let backup = (report.changed && before.is_some()).then(|| file.backup().to_owned());
    let next = report.changed.then_some(known.next);
    Ok(Report { backup, next, ..report })
}

/// Removes Quipu from a client's settings. A file without other changes is restored byte for byte.
///
/// # Errors
/// As for [`install`].
pub(super) fn uninstall(printer: &Printer, place: &ClientArgs) -> Result<ExitCode> {
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

fn path_of(place: &ClientArgs, known: &KnownClient) -> Result<PathBuf> {
    match &place.config {
        Some(path) => Ok(path.clone()),
        None => (known.place)(),
    }
}

/// The file without the entry of Quipu: the kept copy, if nothing else was changed since; `None` if there was no file.
fn without(known: &KnownClient, file: &SettingsFile) -> Result<Option<String>> {
    let Some(now) = file.text() else { return Ok(None) };
    let Some(entry) = known.entry(now, file.path())? else { return Ok(Some(now.to_owned())) };
    for kept in [file.kept().map(Some), Some(None)].into_iter().flatten() {
        // `None` stands for a file that did not exist before.
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

pub(super) fn render(report: &Report) -> String {
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
        text.push_str(&format!("; the previous version is kept in {}", backup.display()));
    }
    text.push_str(".\n");
    if let Some(next) = report.next.filter(|_| !report.dry_run) {
        text.push_str(&format!("{next}\n"));
    }
    text
}

/// An error about a file, which is not changed.
pub(super) fn refused(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::Refused(format!("{}: {why}. The file is unchanged", path.display()))
}
