//! History: log, show, blame, diff, revert, pick, fork, erase, verify, snapshot, rebuild.

use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use quipu_core::event::{Change, Event};
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::{self, Pin, SealedEvent};
use quipu_engine::erase::EraseTarget;
use quipu_engine::fork::Picked;
use quipu_engine::log::ranges;
use quipu_engine::revert::{RevertOptions, RevertPreview, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    Announced, Announcement, Error, LogOptions, MemoryRef, Result, VerifyReport, announce_deletion, announce_erasure,
};
use serde_json::{Value, json};

use super::{CommandContext, render};
use crate::app;
use crate::args;
use crate::settings::Settings;

pub(super) fn log(session: &CommandContext<'_>, args: &args::Log) -> Result<()> {
    let options = LogOptions { before: args.before, limit: args.limit, reference: args.source.clone() };
    let entries = quipu_engine::log(&session.engine, &session.user, &options)?;
    session.printer.report(&entries, |entries| entries.iter().map(render::entry).collect())?;
    if let Some(last) = entries.last().filter(|last| last.seq > 1 && entries.len() == args.limit) {
        session.printer.hint(&format!("go on with --before {}", last.seq));
    }
    Ok(())
}

pub(super) fn show(session: &CommandContext<'_>, event: &str) -> Result<()> {
    let event = quipu_engine::show(&session.engine, &session.user, event.parse()?)?;
    session.printer.report(&event_value(&event), |value| format!("{value:#}\n"))
}

fn event_value(event: &Event) -> Value {
    let header = &event.header;
    json!({
        "seq": header.seq,
        "id": header.id.to_string(),
        "user_id": header.user.as_str(),
        "recorded_at": header.recorded_at.to_string(),
        "actor": header.actor,
        "source": {
            "kind": header.origin.kind,
            "ref": header.origin.reference,
            "session_id": header.origin.session,
            "author": header.origin.author,
        },
        "trust": header.trust,
        "confidence": header.confidence,
        "rationale": header.rationale,
        "caused_by": header.caused_by.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "idempotency_key": header.idempotency.as_ref().map(|used| used.key.as_str()),
        "prev": header.prev.to_hex().to_string(),
        "hash": event.hash.to_hex().to_string(),
        "changes": event.changes.iter().map(change_value).collect::<Vec<_>>(),
    })
}

fn change_value(change: &Option<Change>) -> Value {
    let Some(change) = change else { return json!({"type": "erased_payload"}) };
    let mut value = match change {
        Change::SourceRecorded(source) => json!({
            "id": source.id, "session_id": source.session.as_deref(), "topic": source.topic.as_deref(),
            "role": source.role, "author": source.author.as_deref(),
            "said_at": source.said_at.map(|time| time.to_string()), "text": source.text,
            "artifacts": source.artifacts, "native_id": source.native_id,
        }),
        Change::CorePatched(patch) => json!({"patch": patch}),
        Change::Drawn(drawn) => return serde_json::to_value(drawn).unwrap_or_default(),
        Change::ItemMarked(mark) => json!({"item": mark.item, "pinned": mark.pinned, "rating": mark.rating}),
        Change::Reverted { events } => json!({"events": events}),
        Change::Erased { targets, reason } => json!({"targets": targets, "reason": reason}),
        Change::Forked { from, at, head } => {
            json!({"from": from.as_str(), "at": at, "head": head.to_hex().to_string()})
        }
    };
    value["type"] = change.as_str().into();
    value
}

pub(super) fn blame(session: &CommandContext<'_>, what: &str) -> Result<()> {
    let steps = quipu_engine::blame(&session.engine, &session.user, what)?;
    session.printer.report(&steps, |steps| {
        let shown = |value: &Option<Value>| {
            value.as_ref().map_or_else(|| "nothing".to_owned(), |v| render::excerpt(&v.to_string(), 100))
        };
        steps
            .iter()
            .map(|step| {
                format!("{}       {} → {}\n", render::entry(&step.event), shown(&step.before), shown(&step.after))
            })
            .collect()
    })
}

pub(super) fn diff(session: &CommandContext<'_>, args: &args::Diff) -> Result<()> {
    let difference = quipu_engine::diff(&session.engine, &session.user, args.from, args.to)?;
    session.printer.report(&difference, |difference| {
        format!("From version {} to {}\n{}", difference.from, difference.to, render::difference(difference))
    })
}

/// The events that words name.
fn named(words: &[String]) -> Result<Vec<EventRef>> {
    let words = words.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty());
    let all: Vec<Vec<EventRef>> = words.map(EventRef::several).collect::<Result<_>>()?;
    Ok(all.concat())
}

pub(super) fn revert(session: &CommandContext<'_>, args: args::Revert) -> Result<()> {
    let selection = match (args.source, args.since, &session.only_session) {
        (Some(reference), _, _) => Selection::Reference(reference),
        (None, Some(when), _) => Selection::Since(when),
        (None, None, Some(name)) if args.events.is_empty() => Selection::Session(name.clone()),
        _ => Selection::Events(named(&args.events)?),
    };
    let options = RevertOptions { rationale: args.because, probes: args.probes };
    if args.dry_run {
        let preview = quipu_engine::preview_revert(&session.engine, &session.user, &selection, &options)?;
        session.printer.report(&preview, preview_text)?;
        session.printer.hint("nothing was changed; leave out --dry-run to do it");
        return Ok(());
    }
    let bar = session.printer.progress();
    let (receipt, difference) =
        quipu_engine::revert(&session.engine, &session.user, &selection, &options, &mut |progress| bar.show(progress))?;
    drop(bar);
    session.printer.report(&json!({"receipt": receipt, "difference": difference}), |_| {
        format!("Event {} takes them back:\n{}", receipt.seq, render::difference(&difference))
    })?;
    session.say_lag(receipt.lag.as_deref());
    session.printer.hint(&format!("`quipu revert {}` brings them back", receipt.seq));
    Ok(())
}

pub(super) fn preview_text(preview: &RevertPreview) -> String {
    let mut text =
        format!("Reverting {} would change\n{}", ranges(&preview.events), render::difference(&preview.difference));
    for probe in &preview.probes {
        let shown = |answer: &Option<(String, String)>| {
            answer
                .as_ref()
                .map_or_else(|| "nothing".to_owned(), |(id, words)| format!("{id}  {}", render::excerpt(words, 80)))
        };
        let verdict = if probe.before == probe.after { "the same" } else { "DIFFERENT" };
        text.push_str(&format!(
            "  ? {}: {verdict}\n      now   {}\n      then  {}\n",
            probe.query,
            shown(&probe.before),
            shown(&probe.after)
        ));
    }
    text
}

pub(super) fn pick(session: &CommandContext<'_>, args: &args::Pick) -> Result<()> {
    let events = named(&args.events)?;
    let chosen = quipu_engine::chosen(&session.engine, &session.user, &events)?;
    let path = Path::new(&args.into);
    if path.extension().is_some_and(|ending| ending == "jsonl") {
        let mut lines = String::new();
        for event in &chosen {
            lines.push_str(&ledger::write_line(event).map_err(Error::from)?);
            lines.push('\n');
        }
        if path.exists() {
            return Err(Error::Refused(format!("{} exists; choose a new file", path.display())));
        }
        quipu_engine::backup::write_durably(path, lines.as_bytes())
            .map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", path.display())))?;
        return session.printer.report(&json!({"file": path, "events": chosen.len()}), |_| {
            format!(
                "{} events in {}; `quipu import ledger {}` replays them\n",
                chosen.len(),
                path.display(),
                path.display()
            )
        });
    }
    let into = UserId::parse(&args.into)?;
    let bar = session.printer.progress();
    let picked = quipu_engine::pick(&session.engine, &chosen, &into, &mut |progress| bar.show(progress))?;
    drop(bar);
    session.printer.report(&picked, |picked| picked_text(picked, &into))
}

pub(super) fn picked_text(picked: &Picked, into: &UserId) -> String {
    let mut text = format!("{} events replayed into {into}\n", picked.receipts.len());
    for (seq, reason) in &picked.left_out {
        text.push_str(&format!("  left out {seq}: {reason}\n"));
    }
    text
}

pub(super) fn fork(session: &CommandContext<'_>, args: &args::Fork) -> Result<()> {
    let into = UserId::parse(&args.into)?;
    let bar = session.printer.progress();
    let receipt =
        quipu_engine::fork(&session.engine, &session.user, &into, args.at, &mut |progress| bar.show(progress))?;
    drop(bar);
    session.printer.report(&receipt, |receipt| {
        format!(
            "{into} shares events 1 to {} with {}; from event {} on it goes its own way\n",
            receipt.seq - 1,
            session.user,
            receipt.seq
        )
    })
}

pub(super) fn erase(session: &CommandContext<'_>, settings: &Settings, args: &args::Erase, yes: bool) -> Result<()> {
    if args.everything {
        return erase_everything(session, settings, args, yes);
    }
    let targets = args.targets.iter().map(|target| target.parse()).collect::<Result<Vec<EraseTarget>>>()?;
    let announced = announce_erasure(&session.engine, &session.user, &targets, args.confirm.as_deref())?;
    let Some(version) = agreed(announced, yes, args.confirm.is_some(), &args.targets)? else {
        session.printer.hint("nothing was erased");
        return Ok(());
    };
    let bar = session.printer.progress();
    let memory = MemoryRef::of(&session.user).at_version(version);
    let watch = &mut |progress| bar.show(progress);
    let receipt = quipu_engine::erase(&session.engine, memory, &targets, &args.because, watch)?;
    drop(bar);
    keep_receipt(args, &receipt)?;
    session.printer.report(&receipt, |receipt| {
        let names: Vec<String> = receipt.erased.iter().map(ToString::to_string).collect();
        let mut text = format!(
            "Event {} records that {} is gone; made again without it: {}\n",
            receipt.event_seq,
            names.join(", "),
            receipt.rebuilt.join(", ")
        );
        for orphan in &receipt.orphans_new {
            text.push_str(&format!("  ! event {} no longer applies: {}\n", orphan.seq, orphan.reason));
        }
        for source in &receipt.sources_left {
            text.push_str(&format!("  it was read from {source}, which still holds the words\n"));
        }
        if !receipt.files.is_empty() {
            text.push_str(&format!("  {} plain files written anew or taken away\n", receipt.files.len()));
        }
        text.push_str(&super::people::understood(&receipt.understood));
        text
    })?;
    session.say_lag(receipt.lag.as_deref());
    session.printer.hint("backups made before still hold it");
    Ok(())
}

fn keep_receipt(args: &args::Erase, receipt: &impl serde::Serialize) -> Result<()> {
    let Some(path) = &args.receipt else { return Ok(()) };
    let page = serde_json::to_vec_pretty(receipt).map_err(|error| Error::Bug(error.to_string()))?;
    quipu_engine::backup::write_durably(path, &page)
        .map_err(|error| Error::Unavailable(format!("erased, but cannot write {}: {error}", path.display())))
}

fn erase_everything(session: &CommandContext<'_>, settings: &Settings, args: &args::Erase, yes: bool) -> Result<()> {
    let keys = app::keys(settings)?;
    let announced = announce_deletion(&session.engine, &keys, &session.user, args.confirm.as_deref())?;
    let whole = [format!("everything of user {}", session.user)];
    let Some(version) = agreed(announced, yes, args.confirm.is_some(), &whole)? else {
        session.printer.hint("nothing was erased");
        return Ok(());
    };
    let memory = MemoryRef::of(&session.user).at_version(version);
    let receipt = quipu_engine::erase::delete_user_with_keys(&session.engine, &keys, memory)?;
    keep_receipt(args, &receipt)?;
    session.printer.report(&receipt, |receipt| {
        format!(
            "everything of user {} is gone: {} events, {} items; cleaned: {}\n",
            receipt.user_id,
            receipt.events,
            receipt.items,
            receipt.cleaned.join(", ")
        )
    })?;
    session.printer.hint("backups made before still hold it");
    Ok(())
}

/// The version on which a destruction is done: none, where any will do. Nothing if whoever was asked says no.
fn agreed(announced: Announced, yes: bool, has_token: bool, targets: &[String]) -> Result<Option<Option<Seq>>> {
    if yes {
        return Ok(Some(None));
    }
    let announcement = match announced {
        Announced::Confirmed(version) if has_token => return Ok(Some(version)),
        Announced::Confirmed(_) => None,
        Announced::Unconfirmed(announcement) => Some(announcement),
        stale @ Announced::Stale(_) => return stale.version().map(Some),
    };
    if !std::io::stdin().is_terminal() {
        return Err(Error::Invalid(match announcement {
            Some(announcement) => format!("{announcement} as `--confirm`, or with --yes"),
            None => "erasing cannot be undone; give --yes".to_owned(),
        }));
    }
    if let Some(announcement) = &announcement {
        eprintln!("{}", counts(announcement));
    }
    let agreed = says_yes(&format!("Erase {} for good? This cannot be undone.", targets.join(", ")))?;
    let version = announcement.map(|announcement| announcement.version);
    Ok(agreed.then_some(version))
}

/// Asks on the terminal. Anything but "yes" is a no.
pub(super) fn says_yes(question: &str) -> Result<bool> {
    eprint!("{question} Type yes: ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(|error| Error::Unavailable(error.to_string()))?;
    Ok(answer.trim() == "yes")
}

fn counts(announcement: &Announcement) -> String {
    let Announcement { events, items, files, keys, version, .. } = announcement;
    format!("At version {version}: events {events}, items {items}, plain files {files}, keys {keys}")
}

pub(super) fn verify(session: &CommandContext<'_>, settings: &Settings, args: &args::Verify) -> Result<ExitCode> {
    let pins = args.pins.iter().map(|pin| parse_pin(pin)).collect::<Result<Vec<_>>>()?;
    if let Some(path) = &args.file
        && let Some(code) = super::export::verify(session, settings, path, args.key.as_deref(), &pins)?
    {
        return Ok(code);
    }
    let report = match &args.file {
        Some(path) => {
            let events = read_events(path)?;
            let owner =
                events.last().map(ledger::open_header).transpose()?.map_or(session.user.clone(), |header| header.user);
            let ledger = quipu_engine::verify::verify_events(&owner, events.iter(), &pins);
            VerifyReport { ledger, medium: Vec::new() }
        }
        None => {
            let bar = session.printer.progress();
            quipu_engine::verify(&session.engine, &session.user, &pins, &mut |progress| bar.show(progress))?
        }
    };
    session.printer.report(&report, verdict)?;
    Ok(if report.is_intact() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads a file of sealed events.
pub(super) fn read_events(path: &Path) -> Result<Vec<SealedEvent>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::NotFound(format!("cannot read {}: {error}", path.display())))?;
    let line = |(number, line): (usize, &str)| {
        ledger::read_line(line)
            .map_err(|error| Error::Invalid(format!("{} line {}: {error}", path.display(), number + 1)))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(line).collect()
}

fn parse_pin(text: &str) -> Result<Pin> {
    let wrong = || Error::Invalid(format!("{text:?} is no pin; one looks like 12:9f86d081… with the whole hash"));
    let (seq, hash) = text.split_once(':').ok_or_else(wrong)?;
    Ok(Pin {
        seq: seq.parse().map_err(|_| wrong())?,
        hash: quipu_core::event::Hash::from_hex(hash).map_err(|_| wrong())?,
    })
}

pub(super) fn verdict(report: &VerifyReport) -> String {
    let ledger = &report.ledger;
    let mut text =
        format!("User {}: {} events, {} changes intact\n", ledger.user_id, ledger.events, ledger.changes_intact);
    for gone in &ledger.erased {
        text.push_str(&format!("  erased   {} by event {}\n", gone.target, gone.by));
    }
    for damage in &ledger.damage {
        let place = damage.change.map_or_else(|| damage.seq.to_string(), |change| format!("{}.{change}", damage.seq));
        text.push_str(&format!("  DAMAGED  {place}: {}\n", damage.reason));
    }
    for fault in &report.medium {
        text.push_str(&format!("  DAMAGED  the database: {fault}\n"));
    }
    for pin in &ledger.pins {
        let outcome = pin.reason.as_deref().unwrap_or("holds");
        text.push_str(&format!("  pin      {}: {outcome}\n", pin.seq));
    }
    let result = if report.is_intact() { "INTACT" } else { "NOT INTACT" };
    text.push_str(&format!("{result}. Head, to pin: {}:{}\n", ledger.head_seq, ledger.head_hash));
    text
}

pub(super) fn snapshot(session: &CommandContext<'_>) -> Result<()> {
    let seq = quipu_engine::snapshot(&session.engine, &session.user)?;
    session.printer.report(&json!({"seq": seq}), |_| format!("Snapshot at version {seq}\n"))
}

pub(super) fn rebuild(session: &CommandContext<'_>) -> Result<()> {
    let bar = session.printer.progress();
    let rebuilt = quipu_engine::rebuild(&session.engine, &session.user, &mut |progress| bar.show(progress))?;
    drop(bar);
    session.printer.report(&rebuilt, |rebuilt| {
        format!(
            "{} events replayed, {} items, {} passages embedded again; the memory has the same bytes as before ({}…)\n",
            rebuilt.events,
            rebuilt.items,
            rebuilt.passages_embedded,
            &rebuilt.memory_hash[..16]
        )
    })
}
