//! Erases the payload of events, or a whole memory, after a confirmation.

use std::io::{ErrorKind, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use quipu_core::id::Seq;
use quipu_engine::erase::{EraseTarget, KeyErasure};
use quipu_engine::versions::When;
use quipu_engine::{
    Announced, Announcement, ErasurePreview, Error, MemoryRef, Result, announce_deletion, announce_erasure,
};

use crate::app;
use crate::commands::{CommandContext, input, render};

#[derive(Debug, Args)]
pub(crate) struct EraseArgs {
    /// Changes (12.0), events (12) or item ids; everything derived from them is erased too
    #[arg(required_unless_present = "everything")]
    pub(crate) targets: Vec<String>,
    /// The user's whole memory
    #[arg(long, conflicts_with = "targets")]
    pub(crate) everything: bool,
    /// Reason, without the erased words; it stays on record
    #[arg(long, default_value = "asked by the user")]
    pub(crate) because: String,
    /// The token that a refused erasure printed: erase if the memory has not changed since
    #[arg(long, value_name = "TOKEN")]
    pub(crate) confirm: Option<String>,
    /// Only show what would be destroyed
    #[arg(long, conflicts_with = "confirm")]
    pub(crate) dry_run: bool,
    /// Write the receipt to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
}

pub(super) fn erase(context: &CommandContext<'_>, args: &EraseArgs) -> Result<()> {
    if args.everything {
        return erase_everything(context, args);
    }
    let targets = args.targets.iter().map(|target| parsed(context, target)).collect::<Result<Vec<EraseTarget>>>()?;
    if args.dry_run || (!context.yes && std::io::stdin().is_terminal()) {
        let preview = quipu_engine::preview_erase(&context.engine, &context.user, &targets)?;
        if args.dry_run {
            context.printer.report(&preview, extent)?;
            context.printer.hint("nothing was erased; omit --dry-run to erase");
            return Ok(());
        }
        eprint!("{}", extent(&preview));
    }
    let announced = announce_erasure(&context.engine, &context.user, &targets, args.confirm.as_deref())?;
    let Some(version) = agreed(announced, context.yes, args.confirm.is_some(), &args.targets)? else {
        context.printer.hint("nothing was erased");
        return Ok(());
    };
    reserve_receipt(args)?;
    let bar = context.printer.progress();
    let memory = MemoryRef::of(&context.user).at_version(version);
    let watch = &mut |progress| bar.show(progress);
    let receipt = quipu_engine::erase(&context.engine, memory, &targets, &args.because, watch)
        .inspect_err(|_| give_up_receipt(args))?;
    drop(bar);
    keep_receipt(args, &receipt)?;
    context.printer.report(&receipt, |receipt| {
        let names: Vec<String> = receipt.erased.iter().map(ToString::to_string).collect();
        let mut text = format!(
            "Event {} records that {} is gone; rebuilt without it: {}\n",
            receipt.event_seq,
            names.join(", "),
            receipt.rebuilt.join(", ")
        );
        for orphan in &receipt.orphans_new {
            text.push_str(&format!("  ! event {} no longer applies: {}\n", orphan.seq, orphan.reason));
        }
        for source in &receipt.sources_left {
            text.push_str(&format!(
                "  it was read from {source}, which still has the words, as have the summaries of it\n"
            ));
        }
        if !receipt.files.is_empty() {
            text.push_str(&format!("  {} plain files rewritten or removed\n", receipt.files.len()));
        }
        if let Some(KeyErasure { rotation, unreadable }) = &receipt.keys {
            let resealed = render::counted(rotation.changes_resealed, ["change", "changes"]);
            let destroyed = render::counted(rotation.keys_destroyed, ["key", "keys"]);
            text.push_str(&format!("  {resealed} sealed again, {destroyed} destroyed: {unreadable}\n"));
        }
        text.push_str(&render::understood(&receipt.understood));
        text
    })?;
    context.print_lag(receipt.lag.as_deref());
    context.printer.hint(match receipt.keys {
        Some(_) => "earlier backups of this user cannot be restored any more: make a new one",
        None => "earlier backups still have it",
    });
    Ok(())
}

/// Parses a target: besides what [`EraseTarget`] parses, the beginning of an item's id, or the id it was imported with.
fn parsed(context: &CommandContext<'_>, target: &str) -> Result<EraseTarget> {
    target.parse().or_else(|invalid| match quipu_engine::get(&context.engine, &context.user, target, When::Now) {
        Ok(item) => Ok(EraseTarget::Item(item.id)),
        Err(Error::NotFound(_)) => Err(invalid),
        Err(error) => Err(error),
    })
}

fn erase_everything(context: &CommandContext<'_>, args: &EraseArgs) -> Result<()> {
    let keys = app::keys(&context.settings)?;
    let announced = announce_deletion(&context.engine, &keys, &context.user, args.confirm.as_deref())?;
    if let (true, Announced::Unconfirmed(announcement)) = (args.dry_run, &announced) {
        context.printer.report(announcement, |announcement| format!("{}\n", counts(announcement)))?;
        context.printer.hint("nothing was erased; omit --dry-run to erase");
        return Ok(());
    }
    let whole = [format!("everything of user {}", context.user)];
    let Some(version) = agreed(announced, context.yes, args.confirm.is_some(), &whole)? else {
        context.printer.hint("nothing was erased");
        return Ok(());
    };
    reserve_receipt(args)?;
    let memory = MemoryRef::of(&context.user).at_version(version);
    let receipt = quipu_engine::erase::delete_user_with_keys(&context.engine, &keys, memory)
        .inspect_err(|_| give_up_receipt(args))?;
    keep_receipt(args, &receipt)?;
    context.printer.report(&receipt, |receipt| {
        format!(
            "everything of user {} is gone: {} events, {} items; cleaned: {}\n",
            receipt.user_id,
            receipt.events,
            receipt.items,
            receipt.cleaned.join(", ")
        )
    })?;
    context.printer.hint(receipt.unreadable.as_deref().unwrap_or("earlier backups still have it"));
    Ok(())
}

/// What an erasure would destroy, a line for each change.
fn extent(preview: &ErasurePreview) -> String {
    let mut text = String::from("It would destroy\n");
    for one in &preview.going {
        let why = if one.asked_for { "" } else { " (read from it)" };
        text.push_str(&format!("  {}  {}{why}\n", one.change, one.summary));
    }
    for source in &preview.sources_left {
        text.push_str(&format!("{source}, from which some of it was read, would keep the words\n"));
    }
    text
}

/// Makes the file of the receipt, so that nothing is erased without one.
fn reserve_receipt(args: &EraseArgs) -> Result<()> {
    let Some(path) = &args.receipt else { return Ok(()) };
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    made.map(drop).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Error::Refused(format!(
            "{} exists and is kept. Nothing was erased; name another file for the receipt",
            path.display()
        )),
        _ => Error::Unavailable(format!("cannot write the receipt to {}: {error}. Nothing was erased", path.display())),
    })
}

/// Removes the file that was made for the receipt of an erasure that failed.
fn give_up_receipt(args: &EraseArgs) {
    if let Some(path) = &args.receipt {
        // The error of the erasure is what matters.
        let _ = std::fs::remove_file(path);
    }
}

fn keep_receipt(args: &EraseArgs, receipt: &impl serde::Serialize) -> Result<()> {
    let Some(path) = &args.receipt else { return Ok(()) };
    let page = serde_json::to_vec_pretty(receipt).map_err(|error| Error::Bug(error.to_string()))?;
    quipu_engine::backup::write_durably(path, &page)
        .map_err(|error| Error::Unavailable(format!("erased, but cannot write {}: {error}", path.display())))
}

/// The version the erasure requires (`Some(None)`: any), or `None` if the user declined.
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
    let agreed = input::confirm(&format!("Erase {} permanently? This cannot be undone.", targets.join(", ")))?;
    let version = announcement.map(|announcement| announcement.version);
    Ok(agreed.then_some(version))
}

fn counts(announcement: &Announcement) -> String {
    let Announcement { events, items, files, keys, version, .. } = announcement;
    format!("At version {version}: events {events}, items {items}, plain files {files}, keys {keys}")
}
