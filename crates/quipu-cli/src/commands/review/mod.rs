//! Commands with which a person decides and corrects.

mod correct;
mod decide;

use std::process::ExitCode;

use clap::Subcommand;
use quipu_core::item::TaskStatus;
use quipu_engine::Result;

use super::Invocation;
use super::arguments::ItemArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// List pending reviews, or decide them
    Review(decide::ReviewArgs),
    /// Retract an item; it stays in the history
    Retract(correct::RetractArgs),
    /// Set the time until which a fact held
    Close(correct::CloseArgs),
    /// Mark a task, goal or problem as done
    Done(ItemArgs),
    /// Drop a task, goal or problem that will not be done
    Drop(ItemArgs),
    /// Open a task, goal or problem again
    Reopen(ItemArgs),
    /// Merge several items into one
    Merge(correct::MergeArgs),
    /// Give a fact your own score from 0 to 10
    Score(correct::ScoreArgs),
    /// Rate an item from -2 to 2
    Rate(correct::RateArgs),
    /// Pin an item, so that every pack has it
    Pin(ItemArgs),
    /// Unpin an item
    Unpin(ItemArgs),
}

impl ReviewCommand {
    pub(crate) fn run(self, invocation: Invocation<'_>) -> Result<ExitCode> {
        match self {
            Self::Review(args) => invocation.on_existing(|context| decide::review(context, args.action)),
            Self::Retract(args) => invocation.on_existing(|context| correct::retract(context, &args)),
            Self::Close(args) => invocation.on_existing(|context| correct::close(context, &args)),
            Self::Done(task) => {
                invocation.on_existing(|context| correct::set_status(context, &task.id, TaskStatus::Done))
            }
            Self::Drop(task) => {
                invocation.on_existing(|context| correct::set_status(context, &task.id, TaskStatus::Dropped))
            }
            Self::Reopen(task) => {
                invocation.on_existing(|context| correct::set_status(context, &task.id, TaskStatus::Active))
            }
            Self::Merge(args) => invocation.on_existing(|context| correct::merge(context, &args)),
            Self::Score(args) => invocation.on_existing(|context| correct::score(context, &args)),
            Self::Rate(args) => {
                invocation.on_existing(|context| correct::mark(context, &args.id, None, Some(args.rating)))
            }
            Self::Pin(item) => invocation.on_existing(|context| correct::mark(context, &item.id, Some(true), None)),
            Self::Unpin(item) => invocation.on_existing(|context| correct::mark(context, &item.id, Some(false), None)),
        }
    }
}
