//! Exports a memory as JSON, Markdown, mem0 memories or a signed bundle.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quipu_engine::export::{ExportFormat, export as exported};
use quipu_engine::{Error, Result, bundle};
use serde_json::json;

use crate::app;
use crate::commands::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Format
    #[arg(long, value_enum, default_value_t = ExportForm::Json)]
    pub(crate) format: ExportForm,
    /// Write to this new file, readable only by you [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Only show the size
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// Everything, for programs
    Json,
    /// Pages, for people
    Markdown,
    /// Memories in the format of mem0
    Mem0,
    /// The ledger itself, signed, for `quipu import bundle`
    Bundle,
}

pub(super) fn export(context: &CommandContext<'_>, args: &ExportArgs) -> Result<()> {
    let (engine, user) = (&context.engine, &context.user);
    if args.dry_run && args.format == ExportForm::Bundle {
        // A dry run must not create the signing key.
        let status = quipu_engine::status(engine, user)?;
        return context.printer.report(&json!({"events": status.version, "dry_run": true}), |_| {
            format!("{} events would be exported, signed\n", status.version)
        });
    }
    let text = match args.format {
        ExportForm::Json => exported(engine, user, ExportFormat::Json)?,
        ExportForm::Markdown => exported(engine, user, ExportFormat::Markdown)?,
        ExportForm::Mem0 => exported(engine, user, ExportFormat::Mem0)?,
        ExportForm::Bundle => bundle::bundle(engine, user, &app::signer(&context.settings))?,
    };
    if args.dry_run {
        return context.printer.report(&json!({"bytes": text.len(), "dry_run": true}), |_| {
            format!("{} bytes would be written\n", text.len())
        });
    }
    let Some(path) = &args.to else { return context.printer.out(&text) };
    if path.exists() {
        return Err(Error::Refused(format!("{} exists; give a new file", path.display())));
    }
    quipu_engine::backup::write_privately(path, text.as_bytes())
        .map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", path.display())))?;
    context.printer.report(&json!({"file": path, "bytes": text.len()}), |_| {
        format!("{} bytes in {}\n", text.len(), path.display())
    })?;
    if args.format == ExportForm::Bundle {
        context.printer.hint("it has everything that was said; `quipu import bundle FILE` imports it");
    }
    Ok(())
}
