//! Copies events: chosen ones into another memory or a file, or all up to a version to a new user.

use std::path::Path;

use clap::Args;
use quipu_core::id::UserId;
use quipu_core::ledger;
use quipu_engine::versions::VersionExpression;
use quipu_engine::{Error, Result};
use serde_json::json;

use super::revert::named;
use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct PickArgs {
    /// Positions (`3`, `3-7`) or ids of events
    #[arg(required = true)]
    pub(crate) events: Vec<String>,
    /// A user id, or a file ending in .jsonl
    #[arg(long, value_name = "USER|FILE")]
    pub(crate) into: String,
}

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// The new user id
    pub(crate) into: String,
    /// Up to this version: a position, or a time such as `2026-07-15` or `yesterday` (its end)
    #[arg(long, default_value = "now")]
    pub(crate) at: VersionExpression,
}

pub(super) fn pick(context: &CommandContext<'_>, args: &PickArgs) -> Result<()> {
    let events = named(&args.events)?;
    let chosen = quipu_engine::chosen(&context.engine, &context.user, &events)?;
    let path = Path::new(&args.into);
    if path.extension().is_some_and(|ending| ending == "jsonl") {
        let mut lines = String::new();
        for event in &chosen {
            lines.push_str(&ledger::write_line(event).map_err(Error::from)?);
            lines.push('\n');
        }
        if path.exists() {
            return Err(Error::Refused(format!("{} exists; give a new file", path.display())));
        }
        quipu_engine::backup::write_durably(path, lines.as_bytes())
            .map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", path.display())))?;
        return context.printer.report(&json!({"file": path, "events": chosen.len()}), |_| {
            format!(
                "{} in {}; `{}` replays them\n",
                render::counted(chosen.len(), ["event", "events"]),
                path.display(),
                context.settings.command.with(&["import", "ledger", &args.into])
            )
        });
    }
    let into = UserId::parse(&args.into)?;
    let bar = context.printer.progress();
    let picked = quipu_engine::pick(&context.engine, &chosen, &into, &mut |progress| bar.show(progress))?;
    drop(bar);
    context.printer.report(&picked, |picked| render::picked(picked, &into))
}

pub(super) fn fork(context: &CommandContext<'_>, args: &ForkArgs) -> Result<()> {
    let into = UserId::parse(&args.into)?;
    let bar = context.printer.progress();
    let at = args.at.at(&context.engine)?;
    let receipt = quipu_engine::fork(&context.engine, &context.user, &into, at, &mut |progress| bar.show(progress))?;
    drop(bar);
    context.printer.report(&receipt, |receipt| {
        format!(
            "{into} shares events 1 to {} with {}; from event {} on they differ\n",
            receipt.seq - 1,
            context.user,
            receipt.seq
        )
    })
}
