//! Imports files of other programs, exported events and signed bundles.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use quipu_engine::import::{DateOrder, ImportFormat, ReadOptions, Zone};
use quipu_engine::ingest::{IngestOptions, IngestReport};
use quipu_engine::{Error, Result, bundle};
use serde_json::json;

use super::find;
use crate::app;
use crate::commands::{CommandContext, input, render};
use crate::shell::CommandPrefix;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// chatgpt, claude, whatsapp, telegram, mem0, memory-jsonl, folder, text, markdown, html, docx, epub, pdf, mbox, openai,
    /// locomo, longmemeval, ledger or bundle
    #[arg(required_unless_present = "find")]
    pub(crate) format: Option<String>,
    /// A file; for chatgpt, claude, whatsapp and telegram also a zip archive or its folder; a folder of notes,
    /// texts or documents
    #[arg(required_unless_present = "find")]
    pub(crate) path: Option<PathBuf>,
    /// List the exports of other programs in the download folder, or in FOLDER, with the commands that import them
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, conflicts_with_all = ["format", "path"])]
    pub(crate) find: Option<Option<PathBuf>>,
    /// Only report what would be imported
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Treat the words in it as your own: they may state who you are and what you like without a review
    #[arg(long)]
    pub(crate) mine: bool,
    /// Which author you are, in a chat between people: the words of NAME are your own, those of the others are not
    #[arg(long, value_name = "NAME", conflicts_with = "not_mine")]
    pub(crate) me: Option<String>,
    /// Do not treat them so, and do not ask
    #[arg(long, conflicts_with = "mine")]
    pub(crate) not_mine: bool,
    /// For chatgpt: also conversations that are marked not to be remembered
    #[arg(long)]
    pub(crate) do_not_remember: bool,
    /// Store the words only; extract no facts
    #[arg(long)]
    pub(crate) words_only: bool,
    /// Only this conversation of the file
    #[arg(long, value_name = "NAME")]
    pub(crate) conversation: Option<String>,
    /// Time zone of the speakers, such as Europe/Lisbon or +02:00: of local times in whatsapp and telegram, and of the
    /// days that a text names [default: UTC]
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
    if let Some(folder) = &args.find {
        return find::find(context, folder.as_deref());
    }
    let (Some(format), Some(path)) = (args.format.as_deref(), args.path.as_deref()) else {
        return Err(Error::Invalid(
            "give a format and a file; `quipu import --find` lists what can be imported".to_owned(),
        ));
    };
    if format == "bundle" && context.settings.user_named.is_some() {
        return Err(Error::Invalid(
            "a bundle is restored as the user it was made of: omit -u and QUIPU_USER, and use `quipu fork` for a copy under another name".to_owned(),
        ));
    }
    if format == "bundle" {
        return import_bundle(context, args, path);
    }
    if args.key.is_some() {
        return Err(Error::Invalid(format!("only bundles are signed: omit --key to import {format}")));
    }
    if format == "ledger" {
        if args.dry_run || args.mine || args.me.is_some() || args.words_only {
            return Err(Error::Invalid(
                "a ledger is imported as it is: omit --dry-run, --mine and --words-only; `quipu pick --into` can take chosen \
                 events, and `quipu revert` takes an import back"
                    .to_owned(),
            ));
        }
        return import_ledger(context, path);
    }
    let format: ImportFormat = format.parse()?;
    if format == ImportFormat::Mbox && (args.mine || args.me.is_some()) {
        return Err(Error::Invalid("e-mail is by many people: omit --mine".to_owned()));
    }
    let options = IngestOptions {
        dry_run: args.dry_run,
        extract: !args.words_only,
        own_words: args.mine || args.me.is_some() || (!args.not_mine && is_own_export(context, format)?),
        me: args.me.clone(),
        conversation: args.conversation.clone(),
        into: context.settings.user_named.clone(),
        default_user: context.settings.user.clone(),
        read: ReadOptions {
            timezone: args.timezone.clone(),
            date_order: args.date_order,
            do_not_remember: args.do_not_remember,
        },
    };
    let bar = context.printer.progress();
    let outcome = quipu_engine::ingest(&context.engine, format, path, &options, &mut |progress| bar.show(progress));
    drop(bar);
    let (report, fault) = outcome;
    context.printer.report(&report, |report| summary(report, &context.settings.command))?;
    match fault {
        Some(fault) => Err(fault),
        None => {
            if args.dry_run {
                context.printer.hint(DRY_RUN);
            }
            if is_export_of_one(format) && !options.own_words && !args.not_mine {
                context.printer.hint("the words in it do not count as yours; if it is your own export, undo this and import it with --mine");
            }
            if format.document().is_some() && !options.own_words && !args.words_only {
                context.printer.hint(
                    "no facts are read from documents; if you wrote this yourself, undo this and import it with --mine",
                );
            }
            Ok(())
        }
    }
}

/// Exports whose user is one person.
fn is_export_of_one(format: ImportFormat) -> bool {
    matches!(format, ImportFormat::ChatGpt | ImportFormat::Claude)
}

/// Asks whether an export is the user's own. With `--yes` it is; without a terminal to ask on it is not.
fn is_own_export(context: &CommandContext<'_>, format: ImportFormat) -> Result<bool> {
    if !is_export_of_one(format) {
        return Ok(false);
    }
    if context.yes || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(context.yes);
    }
    input::confirm_usual("Is this your own export? Then what you wrote in it counts as your own words. [Y/n]")
}

/// The report of an import as text.
pub(crate) fn summary(report: &IngestReport, command: &CommandPrefix) -> String {
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
        let undo = command.user(&user).with(&["revert", "--source", &report.reference]);
        text.push_str(&format!("Undo with `{undo}`\n"));
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
fn import_bundle(context: &CommandContext<'_>, args: &ImportArgs, path: &Path) -> Result<()> {
    let (dry_run, key) = (args.dry_run, args.key.as_deref());
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
