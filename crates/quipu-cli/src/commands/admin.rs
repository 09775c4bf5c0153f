//! Looking after the folder: status, doctor, backup, restore.

use std::process::ExitCode;

use quipu_core::id::UserId;
use quipu_engine::{Engine, Error, MaintenanceStep, Result, Status};

use super::{models, render};
use crate::args::{Backup, Restore};
use crate::output::Printer;
use crate::settings::Settings;

pub(super) fn status(engine: &Engine, settings: &Settings, printer: &Printer) -> Result<ExitCode> {
    let users = match &settings.user_named {
        Some(user) => vec![user.clone()],
        None => quipu_engine::users(engine)?,
    };
    let all = users.iter().map(|user| quipu_engine::status(engine, user)).collect::<Result<Vec<_>>>()?;
    printer.report(&all, |all| {
        let mut text = format!("Data folder {}\n", settings.data_dir.display());
        if all.is_empty() {
            text.push_str("Nothing is remembered here yet; try `quipu demo`, `quipu add` or `quipu import`\n");
        }
        all.iter().for_each(|status| text.push_str(&in_words(status)));
        text
    })?;
    Ok(ExitCode::SUCCESS)
}

fn in_words(status: &Status) -> String {
    let between = status.said_between.map_or_else(
        || "times unknown".to_owned(),
        |(first, last)| format!("{} to {}", render::time(Some(first)), render::time(Some(last))),
    );
    let mut text = format!(
        "\n{}\n  version {}, head {}…\n  {} in {}, {between}\n",
        status.user_id,
        status.version,
        &status.head[..12],
        counted(status.items, ["item", "items"]),
        counted(status.sessions, ["session", "sessions"])
    );
    for (count, what, hint) in [
        (status.reverted, ["event reverted", "events reverted"], ""),
        (status.orphans, ["event that no longer applies", "events that no longer apply"], ""),
        (status.erased, ["payload erased on record", "payloads erased on record"], ""),
        (
            status.passages_waiting,
            ["passage waits for its vector", "passages wait for their vectors"],
            " (`quipu rebuild` or the next `add` makes what is missing)",
        ),
    ] {
        if count > 0 {
            text.push_str(&format!("  {}{hint}\n", counted(count, what)));
        }
    }
    if let Some(waiting @ 1..) = status.unstudied {
        let waiting = counted(waiting, ["message waits", "messages wait"]);
        text.push_str(&format!("  {waiting} for the model that reads (`quipu catch-up`)\n"));
    }
    if let Some(given_up @ 1..) = status.given_up {
        let (messages, them) = if given_up == 1 { ("message", "it") } else { ("messages", "them") };
        text.push_str(&format!("  {given_up} {messages} that model could not read; the rules have read {them}\n"));
    }
    if status.unsummarized > 0 {
        let exchanges = counted(status.unsummarized, ["exchange", "exchanges"]);
        text.push_str(&format!("  {exchanges} not summarised (`quipu catch-up` or `quipu session summarize`)\n"));
    }
    let due = status.due.iter().filter(|due| !matches!(due.step, MaintenanceStep::Study | MaintenanceStep::Summarize));
    let due: Vec<String> = due.map(|due| due.step.counted(due.count)).collect();
    if !due.is_empty() {
        text.push_str(&format!("  due: {} (`quipu maintain`)\n", due.join(", ")));
    }
    if let Some(at) = status.maintained_at {
        text.push_str(&format!("  maintained {}\n", render::time(Some(at))));
    }
    let index = status.active_index;
    if index.active < index.items {
        text.push_str(&format!("  {} of {} items in the active index\n", index.active, index.items));
    }
    text.push_str(&format!(
        "  {} on disk, {} in memory, model {}\n",
        size(status.bytes_on_disk),
        size(status.bytes_in_memory as u64),
        status.model
    ));
    text
}

/// A number with its noun, which is given for one and for several.
fn counted(count: usize, [one, many]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A number of bytes in words.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

pub(super) fn doctor(engine: &Engine, settings: &Settings, printer: &Printer) -> Result<ExitCode> {
    let mut findings = quipu_engine::doctor(engine);
    findings.extend(models::examine(settings)?);
    let well = findings.iter().all(|finding| finding.ok);
    printer.report(&findings, |findings| {
        let line = |finding: &quipu_engine::status::Finding| {
            format!("{} {}\n", if finding.ok { "ok  " } else { "LOOK" }, finding.text)
        };
        findings.iter().map(line).collect()
    })?;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(super) fn backup(engine: &Engine, settings: &Settings, printer: &Printer, args: &Backup) -> Result<ExitCode> {
    let users = match &settings.user_named {
        Some(user) => vec![user.clone()],
        None => quipu_engine::users(engine)?,
    };
    if users.is_empty() {
        return Err(Error::NotFound("there is nothing to back up".to_owned()));
    }
    let manifest = quipu_engine::backup::backup(engine, &users, &args.folder)?;
    printer.report(&manifest, |manifest| {
        let line = |held: &quipu_engine::backup::BackedUp| {
            format!(
                "{}  {} events, {}, head {}… in {}\n",
                held.user_id,
                held.head_seq,
                size(held.bytes),
                &held.head_hash[..12],
                held.file
            )
        };
        manifest.users.iter().map(line).collect()
    })?;
    printer.hint(&format!("`quipu restore {}` puts them back", args.folder.display()));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn restore(engine: &Engine, settings: &Settings, printer: &Printer, args: &Restore) -> Result<ExitCode> {
    let users: Option<Vec<UserId>> = settings.user_named.clone().map(|user| vec![user]);
    let restored = quipu_engine::backup::restore(engine, &args.folder, users.as_deref(), args.replace)?;
    printer.report(&restored, |restored| {
        let line = |one: &quipu_engine::backup::Restored| {
            let aside = one
                .set_aside
                .as_ref()
                .map(|path| format!("; what was there is now {}", path.display()))
                .unwrap_or_default();
            format!(
                "{}  {} events, every one verified, head {}…{aside}\n",
                one.user_id,
                one.head_seq,
                &one.head_hash[..12]
            )
        };
        restored.iter().map(line).collect()
    })?;
    Ok(ExitCode::SUCCESS)
}
