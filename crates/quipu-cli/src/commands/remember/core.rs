//! Shows and edits the core document.

use std::io::Read;

use clap::{Args, Subcommand};
use quipu_core::core_document;
use quipu_engine::versions::When;
use quipu_engine::{CoreEdit, Error, PatchOptions, Result};
use serde_json::Value;

use crate::app;
use crate::commands::{CommandContext, input, render};

#[derive(Debug, Args)]
pub(crate) struct CoreArgs {
    #[command(subcommand)]
    pub(crate) action: Option<CoreAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CoreAction {
    /// Print the document, or the part at a JSON pointer
    Show {
        /// A pointer such as /location/city
        pointer: Option<String>,
    },
    /// Set the value at a JSON pointer
    Set {
        /// A pointer such as /location/city
        pointer: String,
        /// JSON, or else text: such as Porto, 42 or {"name": "Marta"}
        value: String,
        /// Reason, for the record
        #[arg(long)]
        because: Option<String>,
    },
    /// Remove the value at a JSON pointer
    Unset {
        /// A pointer such as /location/city
        pointer: String,
        /// Reason, for the record
        #[arg(long)]
        because: Option<String>,
    },
    /// Apply an RFC 6902 patch: JSON, @FILE, or - for standard input
    Patch {
        /// The patch
        patch: String,
        /// Reason, for the record
        #[arg(long)]
        because: Option<String>,
        /// Repeating the patch with the same key has no effect
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
}

pub(super) fn core(context: &CommandContext<'_>, action: Option<CoreAction>) -> Result<()> {
    let (edit, options) = match action.unwrap_or(CoreAction::Show { pointer: None }) {
        CoreAction::Show { pointer } => {
            let user = app::reader(&context.engine, &context.settings)?;
            let document = quipu_engine::core_at(&context.engine, &user, When::Now)?;
            return print_part(context, document, pointer.as_deref());
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
    let receipt = quipu_engine::edit_core(&context.engine, &context.user, &edit, &options)?;
    let before = When::Seq(receipt.seq.saturating_sub(1));
    let difference = quipu_engine::diff(&context.engine, &context.user, before, When::Seq(receipt.seq))?;
    context.printer.report(&receipt, |receipt| {
        let again = if receipt.replayed { " (made before)" } else { "" };
        format!("Event {}{again}\n{}", receipt.seq, render::difference(&difference))
    })?;
    context.print_lag(receipt.lag.as_deref());
    Ok(())
}

pub(crate) fn core_at(context: &CommandContext<'_>, pointer: Option<&str>, at: When) -> Result<()> {
    let document = quipu_engine::core_at(&context.engine, &context.user, at)?;
    print_part(context, document, pointer)
}

/// Prints a document, or the part of it at a pointer.
fn print_part(context: &CommandContext<'_>, document: Value, pointer: Option<&str>) -> Result<()> {
    let part = match pointer {
        None => document,
        Some(pointer) => document
            .pointer(pointer)
            .cloned()
            .ok_or_else(|| Error::NotFound(format!("the core document has nothing at {pointer:?}")))?,
    };
    context.printer.report(&part, |part| format!("{part:#}\n"))
}

/// The text of a patch: as typed, from `@FILE`, or from standard input for `-`.
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
    input::utf8(bytes)
}
