//! Consolidates a memory: notes and lines of the self-model, duplicates, patterns and unused items.

use clap::Args;
use quipu_core::growth::ActiveIndex;
use quipu_core::limit;
use quipu_engine::{CompactReport, ConsolidateOptions, ConsolidateReport, Result};

use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct ConsolidateArgs {
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Most events recorded; the rest is left for the next run
    #[arg(long, value_name = "N")]
    pub(crate) events: Option<usize>,
}

/// Most changes printed one by one.
const LINES_MAX: usize = 40;

/// Longest excerpt, in characters.
const TEXT_CHARS: usize = 100;

fn options(args: &ConsolidateArgs) -> ConsolidateOptions {
    ConsolidateOptions { dry_run: args.dry_run, events_max: args.events.unwrap_or(limit::GROWTH_EVENTS_MAX) }
}

pub(super) fn reflect(context: &CommandContext<'_>, args: &ConsolidateArgs) -> Result<()> {
    let report = quipu_engine::reflect(&context.engine, &context.user, &options(args))?;
    context.printer.report(&report, |report| done(report, "nothing to note"))?;
    if let Some(fault) = &report.fault {
        context.printer.hint(&format!("the reflection model did not answer; the next run retries: {fault}"));
    }
    Ok(())
}

pub(super) fn compact(context: &CommandContext<'_>, args: &ConsolidateArgs) -> Result<()> {
    let report = quipu_engine::compact(&context.engine, &context.user, &options(args))?;
    context.printer.report(&report, compacted)
}

fn compacted(report: &CompactReport) -> String {
    let mut text = done(&report.grown, "nothing to compact");
    let share = |of: ActiveIndex| format!("{} of {} items", of.active, of.items);
    match report.before == report.after {
        true => text.push_str(&format!("active index: {}\n", share(report.after))),
        false => text.push_str(&format!("active index: {}, before {}\n", share(report.after), share(report.before))),
    }
    text
}

fn done(report: &ConsolidateReport, nothing: &str) -> String {
    let mut text = String::new();
    for one in report.done.iter().take(LINES_MAX) {
        let seq = one.event_seq.map(|seq| format!("{seq:>5}  ")).unwrap_or_default();
        let (what, said) = (one.what.as_str(), render::excerpt(&one.text, TEXT_CHARS));
        text.push_str(&format!("{seq}{what}: {said} ({})\n", one.because));
    }
    if report.done.len() > LINES_MAX {
        text.push_str(&format!("       and {} more\n", report.done.len() - LINES_MAX));
    }
    if report.done.is_empty() {
        text.push_str(&format!("{nothing}\n"));
    }
    if report.dry_run && !report.done.is_empty() {
        text.push_str("nothing was changed: this is what would be recorded\n");
    }
    for one in &report.refused {
        text.push_str(&format!("not noted: {} ({})\n", render::excerpt(&one.item, TEXT_CHARS), one.reason));
    }
    if report.left > 0 {
        text.push_str(&format!("{} left for the next run\n", report.left));
    }
    if let Some(reference) = &report.reference {
        text.push_str(&format!("undo with: quipu revert --source {reference}\n"));
    }
    text
}
