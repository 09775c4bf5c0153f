//! Imports files of other programs, exported events and signed bundles.

use std::path::{Path, PathBuf};

use clap::Args;
use quipu_engine::import::{DateOrder, ImportFormat, ReadOptions, Zone};
use quipu_engine::ingest::{IngestOptions, IngestReport};
use quipu_engine::{Error, Result, bundle};
use serde_json::json;

use crate::app;
use crate::commands::{CommandContext, input, render};

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// chatgpt, claude, whatsapp, telegram, mem0, memory-jsonl, folder, text, markdown, openai, locomo, longmemeval,
    /// ledger or bundle
    pub(crate) format: String,
    /// A file; for chatgpt, claude, whatsapp and telegram also a zip archive or its folder; a folder of notes or texts
    pub(crate) path: PathBuf,
    /// Only report what would be imported
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Treat the words in it as your own: they may state who you are and what you like without a review
    #[arg(long)]
    pub(crate) mine: bool,
    /// Store the words only; extract no facts
    #[arg(long)]
    pub(crate) words_only: bool,
    /// Only this conversation of the file
    #[arg(long, value_name = "NAME")]
    pub(crate) conversation: Option<String>,
    /// For whatsapp and telegram: time zone of local times, such as Europe/Lisbon or +02:00 [default: UTC]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(crate) timezone: Option<Zone>,
    /// For whatsapp: whether dates start with the day (dmy) or the month (mdy) [default: inferred]
    #[arg(long, value_name = "ORDER")]
    pub(crate) date_order: Option<DateOrder>,
    /// The public key a bundle must be signed with
    #[arg(long, value_name = "HEX")]
    pub(crate) key: Option<String>,
}

/// Hint after a dry run.
const DRY_RUN: &str = "nothing was changed; omit --dry-run to import";

pub(super) fn import(context: &CommandContext<'_>, args: &ImportArgs) -> Result<()> {
    if args.format == "bundle" {
        return import_bundle(context, args);
    }
    if args.key.is_some() {
        return Err(Error::Invalid(format!("only bundles are signed: omit --key to import {}", args.format)));
    }
    if args.format == "ledger" {
        if args.dry_run || args.mine || args.words_only {
            return Err(Error::Invalid(
                "a ledger is imported as it is: omit --dry-run, --mine and --words-only; `quipu pick --into` can take chosen \
                 events, and `quipu revert` takes an import back"
                    .to_owned(),
            ));
        }
        return import_ledger(context, &args.path);
    }
    let format: ImportFormat = args.format.parse()?;
    let options = IngestOptions {
        dry_run: args.dry_run,
        extract: !args.words_only,
        own_words: args.mine,
        conversation: args.conversation.clone(),
        into: context.settings.user_named.clone(),
        default_user: context.settings.user.clone(),
        read: ReadOptions { timezone: args.timezone.clone(), date_order: args.date_order },
    };
    let bar = context.printer.progress();
    let outcome =
        quipu_engine::ingest(&context.engine, format, &args.path, &options, &mut |progress| bar.show(progress));
    drop(bar);
    let (report, fault) = outcome;
    context.printer.report(&report, summary)?;
    match fault {
        Some(fault) => Err(fault),
        None => {
            if args.dry_run {
                context.printer.hint(DRY_RUN);
            }
            Ok(())
        }
    }
}

/// The report of an import as text.
pub(crate) fn summary(report: &IngestReport) -> String {
    let mut text = String::new();
    for part in &report.conversations {
        let span = match (part.first_said_at, part.last_said_at) {
            (Some(first), Some(last)) => {
                format!("{} to {}", render::time(Some(first)), render::time(Some(last)))
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
            "{} read, {} pending (`quipu review`), {} refused by the gate\n",
            render::counted(report.facts, ["fact", "facts"]),
            render::counted(report.waiting, ["review", "reviews"]),
            report.refused
        ));
    }
    if report.redacted > 0 {
        text.push_str(&format!("secrets were removed from {} sources before they were stored\n", report.redacted));
    }
    for notice in &report.notices {
        text.push_str(&format!("  note  {}: {}\n", notice.place, notice.reason));
    }
    if report.notices_more > 0 {
        text.push_str(&format!("  and {} more notes\n", report.notices_more));
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

fn import_ledger(context: &CommandContext<'_>, path: &Path) -> Result<()> {
    let events = input::read_events(path)?;
    let user = &context.user;
    let bar = context.printer.progress();
    let picked = quipu_engine::pick(&context.engine, &events, user, &mut |progress| bar.show(progress))?;
    drop(bar);
    context.printer.report(&picked, |picked| render::picked(picked, user))
}

/// Imports a bundle as a ledger of its own.
fn import_bundle(context: &CommandContext<'_>, args: &ImportArgs) -> Result<()> {
    let (path, dry_run, key) = (&args.path, args.dry_run, args.key.as_deref());
    let text = input::bundle_in(path)?.ok_or_else(|| Error::Invalid(format!("{} is not a bundle", path.display())))?;
    let bar = context.printer.progress();
    let signer = app::signer(&context.settings);
    let (restored, verdict) =
        bundle::import_bundle(&context.engine, &text, key, &signer, dry_run, &mut |progress| bar.show(progress))?;
    drop(bar);
    context.printer.report(&json!({"restored": restored, "public_key": verdict.public_key}), |_| {
        format!("{}Signed by {}\n", render::restored(&restored), verdict.public_key)
    })?;
    if dry_run {
        context.printer.hint(DRY_RUN);
    }
    Ok(())
}
