//! Lists events, and all events of one item.

use clap::Args;
use quipu_engine::{ItemHistory, LogOptions, Result};

use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Most events
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only events before this position
    #[arg(long, value_name = "SEQ")]
    pub(crate) before: Option<u64>,
    /// Only events of this import, file or message
    #[arg(long, value_name = "REF")]
    pub(crate) source: Option<String>,
}

pub(super) fn log(context: &CommandContext<'_>, args: &LogArgs) -> Result<()> {
    let options = LogOptions { before: args.before, limit: args.limit, reference: args.source.clone() };
    let entries = quipu_engine::log(&context.engine, &context.user, &options)?;
    context.printer.report(&entries, |entries| entries.iter().map(render::entry).collect())?;
    if let Some(last) = entries.last().filter(|last| last.seq > 1 && entries.len() == args.limit) {
        context.printer.hint(&format!("continue with --before {}", last.seq));
    }
    Ok(())
}

pub(super) fn history(context: &CommandContext<'_>, name: &str) -> Result<()> {
    let story = quipu_engine::history(&context.engine, &context.user, name)?;
    context.printer.report(&story, |story: &ItemHistory| {
        let quotes: String =
            story.quotes.iter().map(|(id, quote)| format!("    “{}”  {id}\n", render::excerpt(quote, 90))).collect();
        let events: String = story.events.iter().map(render::entry).collect();
        format!("{}  {} · {}\n{quotes}{events}", story.id, story.text, story.standing)
    })
}
