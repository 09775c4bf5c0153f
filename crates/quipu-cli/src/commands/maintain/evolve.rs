//! Proposes categories for the core document.

use clap::Args;
use quipu_core::evolve::{DueStatus, PromotionThresholds};
use quipu_engine::{Evolution, EvolveOptions, Pattern, Result};

use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct EvolveArgs {
    /// Only show the patterns and what would be proposed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Promote what is due instead of proposing it
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) apply: bool,
    /// Instances a pattern needs
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) instances: u32,
    /// Days with an instance a pattern needs
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) days: u32,
    /// Days within which the last instance must be
    #[arg(long, value_name = "N", default_value_t = 365)]
    pub(crate) recent_days: u32,
    /// Episodes about it a pattern needs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) links: u32,
}

pub(super) fn evolve(context: &CommandContext<'_>, args: &EvolveArgs) -> Result<()> {
    let thresholds = PromotionThresholds {
        instances: args.instances,
        days: args.days,
        recent_days: args.recent_days,
        links: args.links,
    };
    let options = EvolveOptions { thresholds, dry_run: args.dry_run, apply: args.apply, ..EvolveOptions::default() };
    let found = quipu_engine::evolve(&context.engine, &context.user, &options)?;
    context.printer.report(&found, evolution)?;
    context.print_lag(found.lag.as_deref());
    for fault in &found.faults {
        context.printer.hint(&format!("named by rule, because the model gave no usable name: {fault}"));
    }
    let due = found.patterns.iter().filter(|one| one.survey.is_due()).count();
    if args.dry_run && due > 0 {
        context.printer.hint("nothing was changed; omit --dry-run to propose it, or use --apply to promote it");
    } else if !args.apply && due > 0 {
        context.printer.hint("`quipu review` lists the proposals; approve, decline, or edit to give another name");
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
    let status = match (&one.survey.standing, one.event_seq, &one.refused) {
        (_, _, Some(reason)) => format!("not possible: {reason}"),
        (_, Some(seq), _) if found.applied => format!("promoted by event {seq}"),
        (_, Some(seq), _) => {
            let review = one.review.map(|id| format!("{id}, ")).unwrap_or_default();
            format!("proposed: {review}event {seq}")
        }
        (DueStatus::Due, ..) => "would be proposed".to_owned(),
        (DueStatus::Waiting { review }, ..) => format!("pending: {review}"),
        (DueStatus::Declined { again_at, .. }, ..) => {
            format!("declined; proposed again from {again_at} instances on")
        }
        (DueStatus::TakenBack { again_at }, ..) => {
            format!("reverted; proposed again from {again_at} instances on")
        }
        (DueStatus::Below { missing }, ..) => format!("not yet: {missing}"),
        (DueStatus::Nameless, ..) => {
            format!("no name is free; `quipu schema promote {} NAME` gives it one", one.survey.candidate.key)
        }
    };
    let moves = one.preview.as_ref().map(render::promotion).unwrap_or_default();
    format!(
        "{}{name}  (instances {}, days {}{last}{links})\n    {status}\n{moves}",
        one.survey.candidate.key, support.instances, support.days
    )
}
