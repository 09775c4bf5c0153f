//! Verifies a ledger, a file of events or a signed bundle.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use quipu_core::event::Hash;
use quipu_core::ledger::{self, Pin};
use quipu_engine::verify::verify_headers;
use quipu_engine::{Error, Result, VerifyReport, bundle};

use crate::app;
use crate::commands::{CommandContext, input};
use crate::encryption;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A head recorded earlier, which the ledger must still have
    #[arg(long = "pin", value_name = "SEQ:HASH")]
    pub(crate) pins: Vec<String>,
    /// Check headers and their chain only, which needs no key of an encrypted memory
    #[arg(long, conflicts_with = "file")]
    pub(crate) headers: bool,
    /// Check a file of events (.jsonl), or a bundle, instead of a ledger
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The public key a bundle must be signed with
    #[arg(long, value_name = "HEX", requires = "file")]
    pub(crate) key: Option<String>,
}

pub(super) fn verify(context: &CommandContext<'_>, args: &VerifyArgs) -> Result<ExitCode> {
    let pins = args.pins.iter().map(|pin| parse_pin(pin)).collect::<Result<Vec<_>>>()?;
    if let Some(path) = &args.file
        && let Some(code) = verify_bundle(context, path, args.key.as_deref(), &pins)?
    {
        return Ok(code);
    }
    if args.headers {
        let store = encryption::raw_store(&context.settings)?;
        let checked = verify_headers(store.open(&context.user, false)?.as_mut(), &context.user, &pins)?;
        let report = VerifyReport { ledger: checked, medium: Vec::new() };
        context.printer.report(&report, verdict)?;
        context.printer.hint("payloads were not checked");
        return Ok(if report.is_intact() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let report = match &args.file {
        Some(path) => {
            let events = input::read_events(path)?;
            let owner =
                events.last().map(ledger::open_header).transpose()?.map_or(context.user.clone(), |header| header.user);
            let ledger = quipu_engine::verify::verify_events(&owner, events.iter(), &pins);
            VerifyReport { ledger, medium: Vec::new() }
        }
        None => {
            let bar = context.printer.progress();
            quipu_engine::verify(&context.engine, &context.user, &pins, &mut |progress| bar.show(progress))?
        }
    };
    context.printer.report(&report, verdict)?;
    Ok(if report.is_intact() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Verifies a bundle; `None` if the file is not one.
fn verify_bundle(
    context: &CommandContext<'_>,
    path: &Path,
    key: Option<&str>,
    pins: &[Pin],
) -> Result<Option<ExitCode>> {
    let Some(text) = input::bundle_in(path)? else {
        return match key {
            Some(_) => Err(Error::Invalid(format!("{} is not a bundle and has no signature", path.display()))),
            None => Ok(None),
        };
    };
    let checked = bundle::verify_bundle(&text, key, &app::signer(&context.settings), pins)?;
    context.printer.report(&checked, |checked| {
        let holds = if checked.signature_holds { "the signature holds" } else { "the SIGNATURE DOES NOT HOLD" };
        let whose = match checked.expected_key {
            Some(true) => ", the expected key",
            Some(false) => ", NOT the expected key",
            None => "",
        };
        let ledger = VerifyReport { ledger: checked.ledger.clone(), medium: Vec::new() };
        format!("{}Signed by {}{whose}; {holds}\n", verdict(&ledger), checked.public_key)
    })?;
    Ok(Some(if checked.is_intact() { ExitCode::SUCCESS } else { ExitCode::FAILURE }))
}

fn parse_pin(text: &str) -> Result<Pin> {
    let wrong =
        || Error::Invalid(format!("{text:?} is not a pin; a pin looks like 12:9f86d081… with the complete hash"));
    let (seq, hash) = text.split_once(':').ok_or_else(wrong)?;
    Ok(Pin { seq: seq.parse().map_err(|_| wrong())?, hash: Hash::from_hex(hash).map_err(|_| wrong())? })
}

pub(crate) fn verdict(report: &VerifyReport) -> String {
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
