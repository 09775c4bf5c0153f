//! Runs a reading command as of an earlier version.

use clap::{Args, Subcommand};
use quipu_engine::Result;
use quipu_engine::log::LogOptions;
use quipu_engine::versions::{VersionExpression, When};

use crate::commands::arguments::{AllArgs, ItemArgs};
use crate::commands::ask::context::ContextArgs;
use crate::commands::ask::facts::FactsArgs;
use crate::commands::ask::items::ListArgs;
use crate::commands::ask::recall::RecallArgs;
use crate::commands::ask::{context, derived, facts, items, recall, session};
use crate::commands::remember::core;
use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct AtArgs {
    /// The version: a position, or a time such as `2026-07-15`, `yesterday` (its end) or `2 hours ago`
    pub(crate) when: VersionExpression,
    #[command(subcommand)]
    pub(crate) read: ReadCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReadCommand {
    /// Search the memory
    Recall(RecallArgs),
    /// Print a pack: a block of memory to put into a prompt
    Context(ContextArgs),
    /// Show one item
    Get(ItemArgs),
    /// List items
    List(ListArgs),
    /// List the facts known then
    Facts(FactsArgs),
    /// List tasks, goals and problems
    Tasks(AllArgs),
    /// List episodes
    Episodes,
    /// List notes
    Notes,
    /// List tenets, the lines of the self-model
    Tenets(AllArgs),
    /// List sessions
    Sessions,
    /// Show the state of a session
    Session {
        /// The session
        id: String,
    },
    /// Show the core document, or the part at a JSON pointer
    Core {
        /// A pointer such as /location/city
        pointer: Option<String>,
    },
}

pub(super) fn at(context: &CommandContext<'_>, args: &AtArgs) -> Result<()> {
    let when = args.when.at(&context.engine)?;
    if let When::Time(time) = when {
        let first = LogOptions { before: Some(2), limit: 1, reference: None };
        let first = quipu_engine::log(&context.engine, &context.user, &first)?.into_iter().next();
        if let Some(first) = first.filter(|first| first.recorded_at > time) {
            let since = render::time(Some(first.recorded_at));
            context.printer.hint(&format!(
                "nothing was recorded by then, the first event is of {since}: `at` reads what was known. For what held on a day, use \
                 `facts --valid-at` or `recall --valid-at`"
            ));
        }
    }
    match &args.read {
        ReadCommand::Recall(args) => recall::recall(context, args, when),
        ReadCommand::Context(args) => context::context(context, args, when),
        ReadCommand::Get(item) => items::get(context, &item.id, when),
        ReadCommand::List(args) => items::list(context, args, when),
        ReadCommand::Facts(args) => facts::facts(context, args, Some(when)),
        ReadCommand::Tasks(args) => derived::tasks(context, Some(when), args.all),
        ReadCommand::Episodes => derived::episodes(context, Some(when)),
        ReadCommand::Notes => derived::notes(context, Some(when)),
        ReadCommand::Tenets(args) => derived::tenets(context, Some(when), args.all),
        ReadCommand::Sessions => session::sessions(context, when),
        ReadCommand::Session { id } => session::show(context, id, when),
        ReadCommand::Core { pointer } => core::core_at(context, pointer.as_deref(), when),
    }
}
