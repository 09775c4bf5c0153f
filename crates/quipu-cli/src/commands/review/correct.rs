//! Corrects items by hand: retract, close, merge, score, pin and rate.

use clap::Args;
use quipu_core::calendar::TimeExpression;
use quipu_core::item::TaskStatus;
use quipu_engine::Result;

use crate::commands::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct RetractArgs {
    /// An item id, or a prefix of one
    pub(crate) id: String,
    /// Reason, for the record
    #[arg(long, default_value = "taken back by the user")]
    pub(crate) because: String,
}

#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// A fact's id, or a prefix of one
    pub(crate) id: String,
    /// The time until which it held, such as `2026-07-15`, `yesterday` or `last monday`
    pub(crate) valid_to: TimeExpression,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Items to merge into the other one
    #[arg(required = true)]
    pub(crate) from: Vec<String>,
    /// The item that remains
    #[arg(long, value_name = "ID")]
    pub(crate) into: String,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// A fact's id, or a prefix of one
    pub(crate) id: String,
    /// From 0 to 10
    pub(crate) score: u8,
}

#[derive(Debug, Args)]
pub(crate) struct RateArgs {
    /// An item id, a prefix of one, or the name the item had where it was imported from
    pub(crate) id: String,
    /// From -2 to 2; 0 removes the rating
    #[arg(allow_hyphen_values = true)]
    pub(crate) rating: i8,
}

pub(super) fn retract(context: &CommandContext<'_>, args: &RetractArgs) -> Result<()> {
    let receipt = quipu_engine::retract(&context.engine, &context.user, &args.id, &args.because)?;
    context.print_changes(&receipt)
}

pub(super) fn close(context: &CommandContext<'_>, args: &CloseArgs) -> Result<()> {
    let valid_to = context.engine.time_for(&context.user, args.valid_to)?;
    let receipt = quipu_engine::close_fact(&context.engine, &context.user, &args.id, valid_to)?;
    context.print_changes(&receipt)
}

/// Ticks a task off, drops it, or opens it again.
pub(super) fn set_status(context: &CommandContext<'_>, name: &str, status: TaskStatus) -> Result<()> {
    let receipt = quipu_engine::set_task_status(&context.engine, &context.user, name, status)?;
    context.print_changes(&receipt)
}

pub(super) fn merge(context: &CommandContext<'_>, args: &MergeArgs) -> Result<()> {
    let receipt = quipu_engine::merge(&context.engine, &context.user, &args.from, &args.into)?;
    context.print_changes(&receipt)
}

pub(super) fn score(context: &CommandContext<'_>, args: &ScoreArgs) -> Result<()> {
    let receipt = quipu_engine::score_fact(&context.engine, &context.user, &args.id, args.score)?;
    context.printer.report(&receipt, |receipt| format!("Event {}: score {}\n", receipt.seq, args.score))
}

/// Pins, unpins or rates an item.
pub(super) fn mark(context: &CommandContext<'_>, name: &str, pinned: Option<bool>, rating: Option<i8>) -> Result<()> {
    let receipt = quipu_engine::mark(&context.engine, &context.user, name, pinned, rating)?;
    context.printer.report(&receipt, |receipt| format!("Event {}: marked\n", receipt.seq))
}
