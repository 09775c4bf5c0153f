//! Categories the core document grows.

use quipu_core::evolve::{DueStatus, PromotionThresholds};
use quipu_engine::versions::When;
use quipu_engine::{
    CategoryShown, Evolution, EvolveOptions, Pattern, PromoteReport, PromoteRequest, PromotionPreview, Result,
};

use super::{CommandContext, render};
use crate::args::Form;
use crate::args::evolve::{Evolve, SchemaAction};

pub(super) fn evolve(session: &CommandContext<'_>, args: &Evolve) -> Result<()> {
    let thresholds = PromotionThresholds {
        instances: args.instances,
        days: args.days,
        recent_days: args.recent_days,
        links: args.links,
    };
    let options = EvolveOptions { thresholds, dry_run: args.dry_run, apply: args.apply, ..EvolveOptions::default() };
    let found = quipu_engine::evolve(&session.engine, &session.user, &options)?;
    session.printer.report(&found, evolution)?;
    session.say_lag(found.lag.as_deref());
    for fault in &found.faults {
        session.printer.hint(&format!("named by rule, for the model gave no name that can be used: {fault}"));
    }
    let due = found.patterns.iter().filter(|one| one.survey.is_due()).count();
    if args.dry_run && due > 0 {
        session.printer.hint("nothing was changed; leave out --dry-run to be asked, or use --apply to promote at once");
    } else if !args.apply && due > 0 {
        session.printer.hint("`quipu review` lists what waits for you; approve, decline, or edit to give another name");
    }
    Ok(())
}

fn evolution(found: &Evolution) -> String {
    if found.patterns.is_empty() {
        return "nothing recurs in uncategorized and dynamicCategories\n".to_owned();
    }
    found.patterns.iter().map(|one| pattern(one, found)).collect()
}

fn pattern(one: &Pattern, found: &Evolution) -> String {
    let support = &one.survey.candidate.support;
    let name = one.survey.proposed.as_ref().map(|proposed| format!(" → {}", proposed.name)).unwrap_or_default();
    let last = support.last_seen.map(|time| format!(", last {}", time.strftime("%Y-%m-%d"))).unwrap_or_default();
    let links = if support.links > 0 { format!(", episodes {}", support.links) } else { String::new() };
    let standing = match (&one.survey.standing, one.event_seq, &one.refused) {
        (_, _, Some(reason)) => format!("not possible: {reason}"),
        (_, Some(seq), _) if found.applied => format!("promoted by event {seq}"),
        (_, Some(seq), _) => {
            let review = one.review.map(|id| format!("{id}, ")).unwrap_or_default();
            format!("proposed: {review}event {seq}")
        }
        (DueStatus::Due, ..) => "would be proposed".to_owned(),
        (DueStatus::Waiting { review }, ..) => format!("waits for you: {review}"),
        (DueStatus::Declined { again_at, .. }, ..) => {
            format!("you declined it; asked again from {again_at} instances on")
        }
        (DueStatus::TakenBack { again_at }, ..) => {
            format!("you took it back; asked again from {again_at} instances on")
        }
        (DueStatus::Below { missing }, ..) => format!("not yet: {missing}"),
        (DueStatus::Nameless, ..) => {
            format!("no name is free; `quipu schema promote {} NAME` gives it one", one.survey.candidate.key)
        }
    };
    let moves = one.preview.as_ref().map(preview).unwrap_or_default();
    format!(
        "{}{name}  (instances {}, days {}{last}{links})\n    {standing}\n{moves}",
        one.survey.candidate.key, support.instances, support.days
    )
}

/// Places shown one by one.
const MOVES_SHOWN_MAX: usize = 12;

/// What moves where.
pub(super) fn preview(preview: &PromotionPreview) -> String {
    let moves = preview.moves.iter().take(MOVES_SHOWN_MAX);
    let mut lines: String = moves.map(|one| format!("    {} → {}\n", one.from, one.to)).collect();
    if preview.moves.len() > MOVES_SHOWN_MAX {
        lines.push_str(&format!("    … and {} places more\n", preview.moves.len() - MOVES_SHOWN_MAX));
    }
    lines
}

pub(super) fn schema(session: &CommandContext<'_>, action: Option<SchemaAction>) -> Result<()> {
    match action.unwrap_or(SchemaAction::List) {
        SchemaAction::List => {
            let found = quipu_engine::schema(&session.engine, &session.user, When::Now)?;
            let form = session.printer.form();
            session.printer.report(&found, |found| if form == Form::Table { table(found) } else { list(found) })
        }
        SchemaAction::Promote { candidate, name, rationale, dry_run, idempotency_key } => {
            let request = PromoteRequest { candidate, proposed_name: name, rationale, idempotency_key, dry_run };
            let done = quipu_engine::promote(&session.engine, &session.user, &request)?;
            session.printer.report(&done, promoted)?;
            session.say_lag(done.receipt.as_ref().and_then(|receipt| receipt.lag.as_deref()));
            match &done.receipt {
                None => session.printer.hint("nothing was changed; leave out --dry-run to promote"),
                Some(receipt) => {
                    session.printer.hint(&format!("`quipu revert {}` takes the category back", receipt.seq));
                }
            }
            Ok(())
        }
    }
}

fn promoted(done: &PromoteReport) -> String {
    let Some(made) = &done.promotion else {
        return "the same request was answered before, and what it promoted counts no longer\n".to_owned();
    };
    let head = match &done.receipt {
        None => format!("{} would become {}", made.candidate, made.name),
        Some(receipt) if receipt.replayed => {
            format!("Event {}  {} became {} before", receipt.seq, made.candidate, made.name)
        }
        Some(receipt) => format!("Event {}  {} is now {}", receipt.seq, made.candidate, made.name),
    };
    let moves = done.preview.as_ref().map(preview).unwrap_or_default();
    let category = done.preview.as_ref().map_or_else(String::new, |preview| {
        format!("{}\n", serde_json::to_string_pretty(&preview.category).unwrap_or_default())
    });
    format!("{head}: {} — {}\n{moves}{category}", made.description, made.rationale)
}

fn list(found: &[CategoryShown]) -> String {
    let line = |one: &CategoryShown| {
        let grown = one.promoted_by.first().map(|seq| format!("  promoted by event {seq}")).unwrap_or_default();
        let members = if one.members > 0 { format!("  ({})", one.members) } else { String::new() };
        format!("{}{members}{grown}\n    {}\n", one.name, one.description)
    };
    found.iter().map(line).collect()
}

fn table(found: &[CategoryShown]) -> String {
    let row = |one: &CategoryShown| {
        let promoted = one.promoted_by.first().map(ToString::to_string).unwrap_or_default();
        vec![one.name.clone(), one.members.to_string(), promoted, render::excerpt(&one.description, 60)]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    render::table(&["NAME", "MEMBERS", "EVENT", "DESCRIPTION"], &rows)
}
