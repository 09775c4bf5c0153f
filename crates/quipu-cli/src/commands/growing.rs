//! Commands for what a memory makes of itself: reflect, compact, and maintain, which does everything that is due.

use quipu_core::growth::ActiveIndex;
use quipu_core::limit;
use quipu_engine::{CompactReport, ConsolidateOptions, ConsolidateReport, MaintainOptions, MaintenanceReport, Result};

use super::{CommandContext, render};
use crate::args::growing::{Grow, Maintain};

/// Lines shown of what was done; the rest is counted.
const LINES_MAX: usize = 40;
/// Longest text in a line, in characters.
const TEXT_CHARS: usize = 100;

fn options(args: &Grow) -> ConsolidateOptions {
    ConsolidateOptions { dry_run: args.dry_run, events_max: args.events.unwrap_or(limit::GROWTH_EVENTS_MAX) }
}

pub(super) fn reflect(session: &CommandContext<'_>, args: &Grow) -> Result<()> {
    let report = quipu_engine::reflect(&session.engine, &session.user, &options(args))?;
    session.printer.report(&report, |report| done(report, "there is nothing to note"))?;
    if let Some(fault) = &report.fault {
        session.printer.hint(&format!("the model that looks back did not answer, and is asked another time: {fault}"));
    }
    Ok(())
}

pub(super) fn compact(session: &CommandContext<'_>, args: &Grow) -> Result<()> {
    let report = quipu_engine::compact(&session.engine, &session.user, &options(args))?;
    session.printer.report(&report, compacted)
}

fn compacted(report: &CompactReport) -> String {
    let mut text = done(&report.grown, "there is nothing to compact");
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
        text.push_str("nothing was changed: this is what it would do\n");
    }
    for one in &report.refused {
        text.push_str(&format!("not noted: {} ({})\n", render::excerpt(&one.item, TEXT_CHARS), one.reason));
    }
    if report.left > 0 {
        text.push_str(&format!("{} left for the next time\n", report.left));
    }
    if let Some(reference) = &report.reference {
        text.push_str(&format!("take it back with: quipu revert --source {reference}\n"));
    }
    text
}

pub(super) fn tend(session: &CommandContext<'_>, args: &Maintain) -> Result<()> {
    let options = MaintainOptions {
        dry_run: args.dry_run,
        steps: args.steps.iter().map(|&step| step.into()).collect(),
        events_max: args.events.unwrap_or(limit::GROWTH_EVENTS_MAX),
        sources_max: args.sources.unwrap_or(usize::MAX),
        items_max: args.items.unwrap_or(usize::MAX),
    };
    let report = quipu_engine::maintain(&session.engine, &session.user, &options)?;
    session.printer.report(&report, tended)?;
    if let Some(fault) = &report.fault {
        session.printer.hint(&format!("what is left stays due: {fault}"));
    }
    for step in &report.steps {
        if let Some(fault) = &step.fault {
            session.printer.hint(&format!("{} could not be done now and stays due: {fault}", step.step.as_str()));
        }
    }
    Ok(())
}

fn tended(report: &MaintenanceReport) -> String {
    if report.steps.is_empty() {
        return "nothing is due\n".to_owned();
    }
    let mut text = String::new();
    for step in &report.steps {
        let (word, due) = (step.step.as_str(), step.step.counted(step.due));
        let outcome = match (&step.fault, step.left) {
            _ if report.dry_run => "due".to_owned(),
            (Some(_), left) => format!("FAILED, {left} left"),
            (None, 0) => "done".to_owned(),
            (None, left) if left == step.due && report.fault.is_some() => "not done".to_owned(),
            (None, left) => format!("{left} left"),
        };
        text.push_str(&format!("{word:<10} {due}: {outcome}\n"));
        if let Some(reference) = &step.reference {
            text.push_str(&format!("           take it back with: quipu revert --source {reference}\n"));
        }
    }
    text
}
