//! Plain files: vault rebuild, verify, restore, watch; topic; global.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use quipu_core::artifact::{TopicMemory, folder_of, global_page, topic_page, topic_slug};
use quipu_engine::{Error, Result, VaultOptions, VaultReport, files};

use super::CommandContext;
use crate::app;
use crate::args::vault::{TopicAction, VaultAction, VaultRestore, Watch};
use crate::output::Printer;
use crate::settings::Settings;

/// Paths shown one by one; the rest is counted.
const SHOWN: usize = 20;

pub(super) fn run(session: &CommandContext<'_>, action: VaultAction) -> Result<ExitCode> {
    match action {
        VaultAction::Rebuild(args) => rebuild(session, args.dry_run).map(|()| ExitCode::SUCCESS),
        VaultAction::Verify => verify(session),
        VaultAction::Restore(args) => restore(session, &args).map(|()| ExitCode::SUCCESS),
        VaultAction::Watch(_) => Ok(ExitCode::SUCCESS),
    }
}

/// How often the pages are looked at.
const TICK: Duration = Duration::from_secs(1);
/// Whoever writes a page may write it in several steps: so many looks without a change, and it is taken up.
const QUIET_TICKS: u32 = 2;

/// Looks after the pages of a user. The memory is opened only while something is taken up, so that other commands can work
/// in between.
pub(super) fn watch(settings: &Settings, printer: &Printer, args: &Watch) -> Result<ExitCode> {
    let folder = app::vault_folder(&settings.data_dir, settings).join(folder_of(&settings.user));
    let mut seen = if args.once { None } else { Some(look(&folder)) };
    if !args.once {
        printer.hint(&format!("watching the pages in {}; Ctrl-C ends it", folder.display()));
        take_up(settings, printer, args.dry_run)?;
        seen = Some(look(&folder));
    }
    let mut quiet = 0;
    loop {
        let now = look(&folder);
        if seen.as_ref() != Some(&now) {
            if quiet >= QUIET_TICKS || args.once {
                match take_up(settings, printer, args.dry_run) {
                    // Another command is at work; it is tried again.
                    Err(Error::Unavailable(text)) if !args.once => printer.hint(&text),
                    outcome => {
                        outcome?;
                        seen = Some(look(&folder));
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

/// The pages a person may edit, with what changes when one is written.
fn look(folder: &Path) -> BTreeMap<PathBuf, (u64, Option<SystemTime>)> {
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

fn take_up(settings: &Settings, printer: &Printer, dry_run: bool) -> Result<()> {
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

/// What was found on pages that were edited by hand.
fn edited(report: &VaultReport) -> String {
    let mut text = String::new();
    for taken in &report.edited {
        let kept =
            taken.kept.as_ref().map(|kept| format!("; as it was found it is kept as {kept}")).unwrap_or_default();
        text.push_str(&format!("{} was edited by hand{kept}\n", taken.page));
        for (id, question) in &taken.proposed {
            text.push_str(&format!("  ? {question}  ({id})\n"));
        }
        if taken.proposed.is_empty() {
            text.push_str("  nothing in it asks for a decision\n");
        }
    }
    text
}

fn rebuild(session: &CommandContext<'_>, dry_run: bool) -> Result<()> {
    let report = files::rebuild(&session.engine, &session.user, VaultOptions { dry_run, look: true })?;
    session.printer.report(&report, |report| {
        let (wrote, took) = if dry_run { ("would be written", "would be removed") } else { ("written", "removed") };
        format!("{}{}{}", heading(report), edited(report), listed(report, wrote, took))
    })?;
    if dry_run {
        session.printer.hint("nothing was changed; leave out --dry-run to do it");
    }
    Ok(())
}

fn heading(report: &VaultReport) -> String {
    let place = report.folder.display();
    let place = if report.folder.as_os_str().is_empty() { "(no folder yet)".to_owned() } else { place.to_string() };
    format!("{place}, version {}: {} files as they should be\n", report.version, report.unchanged)
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

fn verify(session: &CommandContext<'_>) -> Result<ExitCode> {
    let report = files::verify(&session.engine, &session.user)?;
    session.printer.report(&report, |report| {
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
    session.printer.hint("`quipu vault rebuild` makes them what they should be");
    Ok(ExitCode::FAILURE)
}

fn restore(session: &CommandContext<'_>, args: &VaultRestore) -> Result<()> {
    let bar = session.printer.progress();
    let options = files::RestoreOptions { dry_run: args.dry_run, replace: args.replace };
    let restored = files::restore(&session.engine, &session.user, options, &mut |progress| bar.show(progress))?;
    drop(bar);
    session.printer.report(&restored, restored_text)
}

pub(super) fn restored_text(restored: &files::RestoredFolder) -> String {
    let done = if restored.dry_run { "would be restored" } else { "restored" };
    let aside = restored.set_aside.as_ref().map(|path| format!("; what was there is now {}", path.display()));
    format!(
        "{}: {} events, every one verified, {done}; head {}…{}\n",
        restored.user_id,
        restored.events,
        &restored.head_hash[..12],
        aside.unwrap_or_default()
    )
}

pub(super) fn topic(session: &CommandContext<'_>, action: TopicAction) -> Result<()> {
    let mut topics = files::glance(&session.engine, &session.user)?.topics.clone();
    match action {
        TopicAction::List => {
            topics.sort_by_key(|topic| (std::cmp::Reverse(topic.last_day), topic.topic.clone()));
            session.printer.report(&topics, |topics| topics.iter().map(line).collect())
        }
        TopicAction::Show { topic } => {
            let wanted = topic_slug(&topic);
            let known: Vec<String> = topics.iter().map(|one| one.topic.clone()).collect();
            let found = topics.into_iter().find(|one| one.topic == wanted.as_str() || one.topic == topic);
            let missing = || Error::NotFound(format!("there is no topic {topic:?}; there are: {}", known.join(", ")));
            session.printer.report(&found.ok_or_else(missing)?, topic_page)
        }
    }
}

fn line(topic: &TopicMemory) -> String {
    let facts = topic.facts.len() + topic.facts_left_out;
    let (fact, entry) =
        (if facts == 1 { "fact " } else { "facts" }, if topic.entries == 1 { "entry" } else { "entries" });
    format!("{}  {:<24} {facts:>4} {fact}  {:>4} {entry}\n", topic.last_day, topic.topic, topic.entries)
}

pub(super) fn global(session: &CommandContext<'_>) -> Result<()> {
    let glance = files::glance(&session.engine, &session.user)?;
    session.printer.report(&glance.global, global_page)
}
