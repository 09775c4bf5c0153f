//! Commands that read a memory.

pub(crate) mod context;
pub(crate) mod derived;
pub(crate) mod facts;
pub(crate) mod items;
pub(crate) mod recall;
pub(crate) mod session;
mod session_text;
mod topic;

use std::process::ExitCode;

use clap::Subcommand;
use quipu_engine::Result;
use quipu_engine::versions::When;

use super::Invocation;
use super::arguments::{AllArgs, ItemArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum AskCommand {
    /// Search the memory
    Recall(recall::RecallArgs),
    /// Print a pack: a block of memory to put into a prompt
    Context(context::ContextArgs),
    /// Show one item
    Get(ItemArgs),
    /// List items
    List(items::ListArgs),
    /// Show where an item comes from
    Why(ItemArgs),
    /// List facts with the words they were read from
    Facts(facts::FactsArgs),
    /// List tasks, goals and problems with the attempts at them
    Tasks(AllArgs),
    /// List episodes, the summaries of what happened
    Episodes,
    /// List notes
    Notes,
    /// List tenets, the lines of the self-model
    Tenets(AllArgs),
    /// List facts that contradict each other
    Conflicts,
    /// List topics, or show one
    Topic(topic::TopicArgs),
    /// Show an overview: lasting facts and current matters
    Global,
    /// List sessions (conversations)
    Sessions,
    /// Show or edit a session: show, context, exceptions, summarize, consolidate, end
    Session(session::SessionArgs),
}

impl AskCommand {
    pub(crate) fn run(self, invocation: Invocation<'_>) -> Result<ExitCode> {
        match self {
            Self::Recall(args) => invocation.on_existing(|context| recall::recall(context, &args, When::Now)),
            Self::Context(args) => invocation.on_existing(|context| context::context(context, &args, When::Now)),
            Self::Get(item) => invocation.on_existing(|context| items::get(context, &item.id, When::Now)),
            Self::List(args) => invocation.on_existing(|context| items::list(context, &args, When::Now)),
            Self::Why(item) => invocation.on_existing(|context| items::why(context, &item.id)),
            Self::Facts(args) => invocation.on_existing(|context| facts::facts(context, &args, None)),
            Self::Tasks(args) => invocation.on_existing(|context| derived::tasks(context, None, args.all)),
            Self::Episodes => invocation.on_existing(|context| derived::episodes(context, None)),
            Self::Notes => invocation.on_existing(|context| derived::notes(context, None)),
            Self::Tenets(args) => invocation.on_existing(|context| derived::tenets(context, None, args.all)),
            Self::Conflicts => invocation.on_existing(facts::conflicts),
            Self::Topic(args) => invocation.on_existing(|context| topic::topic(context, args.action)),
            Self::Global => invocation.on_existing(topic::global),
            Self::Sessions => invocation.on_existing(|context| session::sessions(context, When::Now)),
            Self::Session(args) if args.action.may_begin_a_session() => {
                invocation.on_named(|context| session::run(context, args.action))
            }
            Self::Session(args) => invocation.on_existing(|context| session::run(context, args.action)),
        }
    }
}
