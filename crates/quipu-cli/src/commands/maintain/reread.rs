//! Reads recorded messages again: with the current rules, or with the configured model.

use std::io::IsTerminal;

use clap::Args;
use quipu_engine::ports::Usage;
use quipu_engine::{Budget, Error, ExtractWithModelOptions, Processed, ReadingCost, Result, Until};

use super::catch_up::in_words;
use crate::commands::{CommandContext, input, render};
use crate::settings::{ModelRole, Settings};

#[derive(Debug, Args)]
pub(crate) struct RereadArgs {
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with_all = ["unread", "with_model"])]
    pub(crate) dry_run: bool,
    /// Only messages that were never read because a command was interrupted
    #[arg(long)]
    pub(crate) unread: bool,
    /// Let the configured model read all messages. The cost is shown first; after an interruption it continues
    #[arg(long, conflicts_with = "unread")]
    pub(crate) with_model: bool,
    /// Most messages the model reads now [default: all]
    #[arg(long, value_name = "N", requires = "with_model")]
    pub(crate) sources: Option<usize>,
}

pub(super) fn reread(context: &CommandContext<'_>, args: &RereadArgs) -> Result<()> {
    let (engine, user) = (&context.engine, &context.user);
    if args.dry_run {
        let preview = quipu_engine::preview_reread(engine, user)?;
        return context.printer.report(&preview, |preview| {
            let sources = render::counted(preview.sources as usize, ["source", "sources"]);
            format!(
                "{sources} would be read again. The memory would differ:\n{}",
                render::difference(&preview.difference)
            )
        });
    }
    let found = if args.unread {
        let done = quipu_engine::process(engine, user, Until::Extracted, &Budget::default())?;
        for fault in &done.failed {
            context.printer.hint(fault);
        }
        done.read
    } else {
        quipu_engine::reread(engine, user)?
    };
    let how = if args.unread { "read" } else { "read again" };
    context
        .printer
        .report(&found, |found| format!("{} sources {how}\n{}", found.sources, render::understood(&found.understood)))
}

/// Lets the model read all messages, after the user has agreed to the cost.
pub(super) fn reread_with_model(context: &CommandContext<'_>, args: &RereadArgs) -> Result<()> {
    let (engine, user) = (&context.engine, &context.user);
    let sources_max = args.sources.unwrap_or(usize::MAX);
    let options = ExtractWithModelOptions { sources_max, from_the_start: true };
    let cost = quipu_engine::reading_cost(engine, user, &options)?;
    let cost_line = cost_text(&cost, &context.settings);
    if !context.yes && cost.requests > 0 {
        if !std::io::stdin().is_terminal() {
            return Err(Error::Invalid(format!("{cost_line}. Nothing was sent: confirm with --yes")));
        }
        if !input::confirm(&format!("{cost_line}. Continue?"))? {
            context.printer.hint("nothing was sent");
            return Ok(());
        }
    }
    let read = quipu_engine::extract_with_model(engine, user, &options)?;
    let fault = read.fault.clone();
    context.printer.report(&Processed { studied: Some(read), ..Processed::default() }, in_words)?;
    if let Some(fault) = fault {
        context.printer.hint(&format!("not everything could be read now: {fault}; the same command continues"));
    }
    Ok(())
}

/// The cost of reading as text, with its price if the settings have prices.
fn cost_text(cost: &ReadingCost, settings: &Settings) -> String {
    let set = settings.models.iter().find(|set| set.role == ModelRole::Extractor);
    let usage = Usage { input_tokens: cost.prompt_tokens, output_tokens: cost.answer_tokens, estimated: true };
    let money = set.map(|set| set.endpoint.prices.of(&usage)).filter(|money| *money > 0.0);
    let money = money.map_or_else(
        || "; the settings have no prices, so the price is unknown".to_owned(),
        |money| format!("; {money:.2} at the prices of the settings"),
    );
    format!(
        "{} would read {} in {}: about {} tokens of prompts, most of them a prefix common to all requests, \
         and about {} tokens of answers{money}",
        cost.reader,
        render::counted(cost.sources, ["message", "messages"]),
        render::counted(cost.requests, ["request", "requests"]),
        cost.prompt_tokens,
        cost.answer_tokens
    )
}
