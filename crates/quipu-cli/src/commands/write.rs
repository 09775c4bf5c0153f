//! Writing: add, import, core, marks.

use std::io::{BufRead, Read};
use std::path::Path;

use quipu_core::core_document;
use quipu_core::id::UserId;
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::ingest::{IngestOptions, IngestReport};
use quipu_engine::versions::When;
use quipu_engine::{CoreEdit, Error, PatchOptions, Receipt, RememberOptions, Result, Utterance};
use serde_json::Value;

use super::{CommandContext, history, read};
use crate::args::{Add, CoreAction, Import};
use crate::settings::Settings;

pub(super) fn add(session: &CommandContext<'_>, args: Add) -> Result<()> {
    let options = RememberOptions { idempotency_key: args.idempotency_key.clone(), ..RememberOptions::default() };
    let said = |text: String| Utterance {
        text,
        role: args.role,
        author: args.author.clone(),
        session: session.only_session.clone(),
        topic: args.topic.clone(),
        said_at: args.said_at,
        artifacts: Vec::new(),
    };
    if args.lines {
        return add_lines(session, &said, &options);
    }
    let text = match args.text.as_deref() {
        Some("-") | None => {
            let mut bytes = Vec::new();
            // One byte more than is allowed, so that too much is noticed without reading all of it.
            let most = quipu_core::limit::SOURCE_BYTES_MAX as u64 + 1;
            std::io::stdin()
                .take(most)
                .read_to_end(&mut bytes)
                .map_err(|error| Error::Unavailable(error.to_string()))?;
            utf8(bytes)?
        }
        Some(text) => text.to_owned(),
    };
    let receipt = quipu_engine::remember(&session.engine, &session.user, &said(text), &options)?;
    print_receipt(session, &receipt)
}

fn utf8(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        Error::Invalid(format!(
            "the input is not UTF-8: byte {} is wrong; convert it first",
            error.utf8_error().valid_up_to()
        ))
    })
}

/// Each line is durable before its receipt is printed; what cannot be taken stops the work and names the line.
fn add_lines(
    session: &CommandContext<'_>,
    said: &dyn Fn(String) -> Utterance,
    options: &RememberOptions,
) -> Result<()> {
    let mut stdin = std::io::stdin().lock();
    let most = quipu_core::limit::SOURCE_BYTES_MAX as u64 + 2;
    for number in 0.. {
        let mut line = Vec::new();
        // A line over the bound is read no further than it takes to refuse it.
        (&mut stdin).take(most).read_until(b'\n', &mut line).map_err(|error| Error::Unavailable(error.to_string()))?;
        if line.is_empty() {
            break;
        }
        let place = |error: Error| match error {
            Error::Invalid(text) => Error::Invalid(format!("line {}: {text}", number + 1)),
            other => other,
        };
        let line = utf8(line).map_err(place)?;
        let line = line.trim_end_matches(['\n', '\r']).to_owned();
        if line.trim().is_empty() {
            continue;
        }
        let receipt = quipu_engine::remember(&session.engine, &session.user, &said(line), options).map_err(place)?;
        print_receipt(session, &receipt)?;
    }
    Ok(())
}

fn print_receipt(session: &CommandContext<'_>, receipt: &Receipt) -> Result<()> {
    session.printer.report(receipt, |receipt| {
        let items: Vec<String> = receipt.items.iter().map(ToString::to_string).collect();
        let again = if receipt.replayed { " (it was there already)" } else { "" };
        let understood = super::people::understood(&receipt.understood);
        let told: String = receipt.summarized.iter().map(super::sessions::told).collect();
        format!("Event {}: {}{again}\n{understood}{told}", receipt.seq, items.join(", "))
    })?;
    if !receipt.redacted.is_empty() {
        let kinds = receipt.redacted.join(", ").replace('_', " ");
        session.printer.hint(&format!("taken out before anything was stored: {kinds}"));
    }
    session.say_lag(receipt.lag.as_deref());
    Ok(())
}

pub(super) fn mark(session: &CommandContext<'_>, name: &str, pinned: Option<bool>, rating: Option<i8>) -> Result<()> {
    let receipt = quipu_engine::mark(&session.engine, &session.user, name, pinned, rating)?;
    session.printer.report(&receipt, |receipt| format!("Event {}: marked\n", receipt.seq))
}

pub(super) fn core(session: &CommandContext<'_>, settings: &Settings, action: Option<CoreAction>) -> Result<()> {
    let (edit, options) = match action.unwrap_or(CoreAction::Show { pointer: None }) {
        CoreAction::Show { pointer } => {
            let user = crate::app::reader(&session.engine, settings)?;
            let document = quipu_engine::core_at(&session.engine, &user, When::Now)?;
            return read::print_part(session, document, pointer.as_deref());
        }
        CoreAction::Set { pointer, value, because } => {
            let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
            (CoreEdit::Set(pointer, value), PatchOptions { rationale: because, ..PatchOptions::default() })
        }
        CoreAction::Unset { pointer, because } => {
            (CoreEdit::Unset(pointer), PatchOptions { rationale: because, ..PatchOptions::default() })
        }
        CoreAction::Patch { patch, because, idempotency_key } => {
            let options = PatchOptions { rationale: because, idempotency_key, ..PatchOptions::default() };
            (CoreEdit::Patch(core_document::parse(&patch_text(&patch)?)?), options)
        }
    };
    let receipt = quipu_engine::edit_core(&session.engine, &session.user, &edit, &options)?;
    let before = When::Seq(receipt.seq.saturating_sub(1));
    let difference = quipu_engine::diff(&session.engine, &session.user, before, When::Seq(receipt.seq))?;
    session.printer.report(&receipt, |receipt| {
        let again = if receipt.replayed { " (it was made already)" } else { "" };
        format!("Event {}{again}\n{}", receipt.seq, super::render::difference(&difference))
    })?;
    session.say_lag(receipt.lag.as_deref());
    Ok(())
}

/// The text of a file, or of standard input for `-`.
pub(super) fn text_of(path: &Path) -> Result<String> {
    let most = 4 * quipu_core::limit::SOURCE_BYTES_MAX as u64;
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().take(most).read_to_end(&mut bytes)
    } else {
        let unreadable = |error| Error::NotFound(format!("cannot read {}: {error}", path.display()));
        std::fs::File::open(path).map_err(unreadable)?.take(most).read_to_end(&mut bytes)
    }
    .map_err(|error| Error::Unavailable(error.to_string()))?;
    if bytes.len() as u64 == most {
        return Err(Error::Invalid(format!("{} has more than {} bytes; split it", path.display(), most - 1)));
    }
    utf8(bytes)
}

/// A patch as typed, from `@FILE`, or from standard input.
fn patch_text(given: &str) -> Result<String> {
    let most = 4 * quipu_core::limit::CORE_BYTES_MAX as u64;
    let mut bytes = Vec::new();
    match given.strip_prefix('@') {
        Some(path) => {
            let file =
                std::fs::File::open(path).map_err(|error| Error::NotFound(format!("cannot read {path}: {error}")))?;
            file.take(most).read_to_end(&mut bytes)
        }
        None if given == "-" => std::io::stdin().take(most).read_to_end(&mut bytes),
        None => return Ok(given.to_owned()),
    }
    .map_err(|error| Error::Unavailable(error.to_string()))?;
    utf8(bytes)
}

pub(super) fn import(session: &CommandContext<'_>, settings: &Settings, args: &Import) -> Result<()> {
    if args.format == "bundle" {
        return super::export::import(session, settings, args);
    }
    if args.key.is_some() {
        return Err(Error::Invalid(format!("only a bundle is signed: leave out --key to import {}", args.format)));
    }
    if args.format == "ledger" {
        return import_ledger(session, &args.path);
    }
    let format: ImportFormat = args.format.parse()?;
    let options = IngestOptions {
        dry_run: args.dry_run,
        extract: !args.words_only,
        own_words: args.mine,
        conversation: args.conversation.clone(),
        into: settings.user_named.clone(),
        default_user: settings.user.clone(),
        read: ReadOptions { timezone: args.timezone.clone(), date_order: args.date_order },
    };
    let bar = session.printer.progress();
    let outcome =
        quipu_engine::ingest(&session.engine, format, &args.path, &options, &mut |progress| bar.show(progress));
    drop(bar);
    let (report, fault) = outcome;
    session.printer.report(&report, summary)?;
    match fault {
        Some(fault) => Err(fault),
        None => {
            if args.dry_run {
                session.printer.hint(DRY_RUN);
            }
            Ok(())
        }
    }
}

pub(super) fn summary(report: &IngestReport) -> String {
    let mut text = String::new();
    for part in &report.conversations {
        let span = match (part.first_said_at, part.last_said_at) {
            (Some(first), Some(last)) => {
                format!("{} to {}", super::render::time(Some(first)), super::render::time(Some(last)))
            }
            _ => "times unknown".to_owned(),
        };
        text.push_str(&format!(
            "{} → user {}: {} new, {} known already, {} sessions, {span}\n",
            part.name, part.user_id, part.new, part.known, part.sessions
        ));
    }
    if report.facts + report.waiting + report.refused > 0 {
        text.push_str(&format!(
            "{} facts read, {} wait for you (`quipu review`), {} did not pass the gate\n",
            report.facts, report.waiting, report.refused
        ));
    }
    if report.redacted > 0 {
        text.push_str(&format!("secrets were taken out of {} sources before they were stored\n", report.redacted));
    }
    for notice in &report.notices {
        text.push_str(&format!("  note  {}: {}\n", notice.place, notice.reason));
    }
    if report.notices_more > 0 {
        text.push_str(&format!("  and {} notes more\n", report.notices_more));
    }
    for (reason, count) in &report.left_out {
        text.push_str(&format!("  left out  {count} {reason}\n"));
    }
    if !report.dry_run && report.conversations.iter().any(|part| part.new > 0) {
        let changed = report.conversations.iter().filter(|part| part.new > 0).map(|part| part.user_id.as_str());
        let users: std::collections::BTreeSet<&str> = changed.collect();
        let user = if users.len() == 1 { users.into_iter().collect() } else { "USER".to_owned() };
        text.push_str(&format!("Undo with `quipu -u {user} revert --source {}`\n", report.reference));
    }
    text
}

/// Said after a trial of an import.
pub(super) const DRY_RUN: &str = "nothing was changed; leave out --dry-run to import";

fn import_ledger(session: &CommandContext<'_>, path: &Path) -> Result<()> {
    let events = history::read_events(path)?;
    let user: &UserId = &session.user;
    let bar = session.printer.progress();
    let picked = quipu_engine::pick(&session.engine, &events, user, &mut |progress| bar.show(progress))?;
    drop(bar);
    session.printer.report(&picked, |picked| history::picked_text(picked, user))
}
