//! Commands about events and versions.

mod at;
mod compare;
mod copy;
mod erase;
mod log;
pub(crate) mod revert;
mod show;
pub(crate) mod verify;

use std::process::ExitCode;

use clap::Subcommand;
use quipu_engine::Result;

use super::Invocation;
use super::arguments::ItemArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// List events, newest first
    Log(log::LogArgs),
    /// Show one event
    Show(show::ShowArgs),
    /// List every event of an item
    History(ItemArgs),
    /// Show which events changed a path of the core document, or an item
    Blame(compare::BlameArgs),
    /// Show the differences between two versions
    Diff(compare::DiffArgs),
    /// Run a reading command as of an earlier version
    At(at::AtArgs),
    /// Revert events; nothing is deleted
    #[command(alias = "undo")]
    Revert(revert::RevertArgs),
    /// Replay chosen events into another memory or a file
    Pick(copy::PickArgs),
    /// Copy a memory, up to a version, to a new user
    Fork(copy::ForkArgs),
    /// Destroy the payload of events permanently
    Erase(erase::EraseArgs),
    /// Verify that the ledger is intact
    Verify(verify::VerifyArgs),
}

impl HistoryCommand {
    pub(crate) fn run(self, invocation: Invocation<'_>) -> Result<ExitCode> {
        match self {
            Self::Log(args) => invocation.on_existing(|context| log::log(context, &args)),
            Self::Show(args) => invocation.on_existing(|context| show::show(context, &args.event)),
            Self::History(item) => invocation.on_existing(|context| log::history(context, &item.id)),
            Self::Blame(args) => invocation.on_existing(|context| compare::blame(context, &args.what)),
            Self::Diff(args) => invocation.on_existing(|context| compare::diff(context, &args)),
            Self::At(args) => invocation.on_existing(|context| at::at(context, &args)),
            Self::Revert(args) => invocation.on_existing(|context| revert::revert(context, args)),
            Self::Pick(args) => invocation.on_existing(|context| copy::pick(context, &args)),
            Self::Fork(args) => invocation.on_existing(|context| copy::fork(context, &args)),
            Self::Erase(args) => invocation.on_existing(|context| erase::erase(context, &args)),
            Self::Verify(args) if args.file.is_some() => invocation.on_named(|context| verify::verify(context, &args)),
            Self::Verify(args) => invocation.on_existing(|context| verify::verify(context, &args)),
        }
    }
}
