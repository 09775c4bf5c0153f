//! Shows topics, and the overview of the whole memory.

use clap::{Args, Subcommand};
use quipu_core::artifact::{TopicMemory, global_page, topic_page, topic_slug};
use quipu_engine::{Error, Result, files};

use crate::commands::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct TopicArgs {
    #[command(subcommand)]
    pub(crate) action: TopicAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TopicAction {
    /// List topics, latest first
    List,
    /// Show the page of a topic
    Show {
        /// The name of the topic, or of its folder
        topic: String,
    },
}

pub(super) fn topic(context: &CommandContext<'_>, action: TopicAction) -> Result<()> {
    let mut topics = files::glance(&context.engine, &context.user)?.topics.clone();
    match action {
        TopicAction::List => {
            topics.sort_by_key(|topic| (std::cmp::Reverse(topic.last_day), topic.topic.clone()));
            context.printer.report(&topics, |topics| topics.iter().map(line).collect())
        }
        TopicAction::Show { topic } => {
            let wanted = topic_slug(&topic);
            let known: Vec<String> = topics.iter().map(|one| one.topic.clone()).collect();
            let found = topics.into_iter().find(|one| one.topic == wanted.as_str() || one.topic == topic);
            let missing = || Error::NotFound(format!("there is no topic {topic:?}; there are: {}", known.join(", ")));
            context.printer.report(&found.ok_or_else(missing)?, topic_page)
        }
    }
}

fn line(topic: &TopicMemory) -> String {
    let facts = topic.facts.len() + topic.facts_left_out;
    let (fact, entry) =
        (if facts == 1 { "fact " } else { "facts" }, if topic.entries == 1 { "entry" } else { "entries" });
    format!("{}  {:<24} {facts:>4} {fact}  {:>4} {entry}\n", topic.last_day, topic.topic, topic.entries)
}

pub(super) fn global(context: &CommandContext<'_>) -> Result<()> {
    let glance = files::glance(&context.engine, &context.user)?;
    context.printer.report(&glance.global, global_page)
}
