//! Handing a memory on: export, and bundles.

use std::path::Path;
use std::process::ExitCode;

use quipu_core::ledger::Pin;
use quipu_engine::export::{ExportFormat, export as exported};
use quipu_engine::{Error, Result, VerifyReport, bundle};
use serde_json::json;

use super::{CommandContext, history, vault, write};
use crate::app;
use crate::args::Import;
use crate::args::vault::{Export, Shape};
use crate::settings::Settings;

pub(super) fn export(session: &CommandContext<'_>, settings: &Settings, args: &Export) -> Result<()> {
    let (engine, user) = (&session.engine, &session.user);
    if args.dry_run && args.format == Shape::Bundle {
        // Making a key is more than a trial may do.
        let status = quipu_engine::status(engine, user)?;
        return session.printer.report(&json!({"events": status.version, "dry_run": true}), |_| {
            format!("{} events would be handed on, signed\n", status.version)
        });
    }
    let text = match args.format {
        Shape::Json => exported(engine, user, ExportFormat::Json)?,
        Shape::Markdown => exported(engine, user, ExportFormat::Markdown)?,
        Shape::Mem0 => exported(engine, user, ExportFormat::Mem0)?,
        Shape::Bundle => bundle::bundle(engine, user, &app::signer(settings))?,
    };
    if args.dry_run {
        return session.printer.report(&json!({"bytes": text.len(), "dry_run": true}), |_| {
            format!("{} bytes would be written\n", text.len())
        });
    }
    let Some(path) = &args.to else { return session.printer.out(&text) };
    if path.exists() {
        return Err(Error::Refused(format!("{} exists; choose a new file", path.display())));
    }
    quipu_engine::backup::write_privately(path, text.as_bytes())
        .map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", path.display())))?;
    session.printer.report(&json!({"file": path, "bytes": text.len()}), |_| {
        format!("{} bytes in {}\n", text.len(), path.display())
    })?;
    if args.format == Shape::Bundle {
        session.printer.hint("it holds everything that was said; `quipu import bundle FILE` takes it up elsewhere");
    }
    Ok(())
}

/// The text of a bundle, if the file is one.
fn bundle_in(path: &Path) -> Result<Option<String>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::NotFound(format!("cannot read {}: {error}", path.display())))?;
    Ok(quipu_core::ledger::is_bundle(&text).then_some(text))
}

/// Checks a file if it is a bundle; `None` if it is not one.
pub(super) fn verify(
    session: &CommandContext<'_>,
    settings: &Settings,
    path: &Path,
    key: Option<&str>,
    pins: &[Pin],
) -> Result<Option<ExitCode>> {
    let Some(text) = bundle_in(path)? else {
        return match key {
            Some(_) => Err(Error::Invalid(format!("{} is no bundle and bears no signature", path.display()))),
            None => Ok(None),
        };
    };
    let verdict = bundle::verify_bundle(&text, key, &app::signer(settings), pins)?;
    session.printer.report(&verdict, |verdict| {
        let holds = if verdict.signature_holds { "the signature holds" } else { "the SIGNATURE DOES NOT HOLD" };
        let whose = match verdict.expected_key {
            Some(true) => ", which is the key you expected",
            Some(false) => ", which is NOT the key you expected",
            None => "",
        };
        let ledger = VerifyReport { ledger: verdict.ledger.clone(), medium: Vec::new() };
        format!("{}Signed by {}{whose}; {holds}\n", history::verdict(&ledger), verdict.public_key)
    })?;
    Ok(Some(if verdict.is_intact() { ExitCode::SUCCESS } else { ExitCode::FAILURE }))
}

/// Takes up a bundle as a ledger of its own.
pub(super) fn import(session: &CommandContext<'_>, settings: &Settings, args: &Import) -> Result<()> {
    let (path, dry_run, key) = (&args.path, args.dry_run, args.key.as_deref());
    let text = bundle_in(path)?.ok_or_else(|| Error::Invalid(format!("{} is no bundle", path.display())))?;
    let bar = session.printer.progress();
    let signer = app::signer(settings);
    let (restored, verdict) =
        bundle::import_bundle(&session.engine, &text, key, &signer, dry_run, &mut |progress| bar.show(progress))?;
    drop(bar);
    session.printer.report(&json!({"restored": restored, "public_key": verdict.public_key}), |_| {
        format!("{}Signed by {}\n", vault::restored_text(&restored), verdict.public_key)
    })?;
    if dry_run {
        session.printer.hint(write::DRY_RUN);
    }
    Ok(())
}
