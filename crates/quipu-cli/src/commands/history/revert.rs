//! Reverts events, or shows what reverting them would change.

use clap::Args;
use quipu_engine::Result;
use quipu_engine::log::ranges;
use quipu_engine::revert::{RevertOptions, RevertPreview, Selection};
use quipu_engine::versions::{EventRef, VersionExpression};
use serde_json::json;

use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct RevertArgs {
    /// Positions (`3`, `3-7`) or ids of events
    #[arg(required_unless_present_any = ["source", "since", "session"])]
    pub(crate) events: Vec<String>,
    /// Every event of this import, file or message
    #[arg(long, value_name = "REF", conflicts_with = "events")]
    pub(crate) source: Option<String>,
    /// Every event after this version: a position, or a time such as `yesterday` (its end)
    #[arg(long, value_name = "WHEN", conflicts_with_all = ["events", "source"])]
    pub(crate) since: Option<VersionExpression>,
    /// Every event of this session
    #[arg(long, value_name = "ID", conflicts_with_all = ["events", "source", "since"])]
    pub(crate) session: Option<String>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: a query to compare before and after
    #[arg(long = "probe", value_name = "QUERY", requires = "dry_run")]
    pub(crate) probes: Vec<String>,
    /// Reason, for the record
    #[arg(long)]
    pub(crate) because: Option<String>,
}

pub(super) fn revert(context: &CommandContext<'_>, args: RevertArgs) -> Result<()> {
    let selection = match (args.source, args.since, args.session) {
        (Some(reference), _, _) => Selection::Reference(reference),
        (None, Some(when), _) => Selection::Since(when.at(&context.engine)?),
        (None, None, Some(name)) => Selection::Session(name),
        (None, None, None) => Selection::Events(named(&args.events)?),
    };
    let options = RevertOptions { rationale: args.because, probes: args.probes };
    if args.dry_run {
        let preview = quipu_engine::preview_revert(&context.engine, &context.user, &selection, &options)?;
        context.printer.report(&preview, preview_text)?;
        context.printer.hint("nothing was changed; omit --dry-run to revert");
        return Ok(());
    }
    let bar = context.printer.progress();
    let (receipt, difference) =
        quipu_engine::revert(&context.engine, &context.user, &selection, &options, &mut |progress| bar.show(progress))?;
    drop(bar);
    context.printer.report(&json!({"receipt": receipt, "difference": difference}), |_| {
        format!("Event {} takes them back:\n{}", receipt.seq, render::difference(&difference))
    })?;
    context.print_lag(receipt.lag.as_deref());
    context.printer.hint(&format!("`{}` brings them back", context.command(&["revert", &receipt.seq.to_string()])));
    Ok(())
}

pub(crate) fn preview_text(preview: &RevertPreview) -> String {
    let mut text =
        format!("Reverting {} would change\n{}", ranges(&preview.events), render::difference(&preview.difference));
    for probe in &preview.probes {
        let shown = |answer: &Option<(String, String)>| {
            answer
                .as_ref()
                .map_or_else(|| "nothing".to_owned(), |(id, words)| format!("{id}  {}", render::excerpt(words, 80)))
        };
        let verdict = if probe.before == probe.after { "the same" } else { "DIFFERENT" };
        text.push_str(&format!(
            "  ? {}: {verdict}\n      now   {}\n      then  {}\n",
            probe.query,
            shown(&probe.before),
            shown(&probe.after)
        ));
    }
    text
}

/// Parses positions, ranges and ids of events, also separated by commas.
pub(super) fn named(words: &[String]) -> Result<Vec<EventRef>> {
    let words = words.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty());
    let all: Vec<Vec<EventRef>> = words.map(EventRef::several).collect::<Result<_>>()?;
    Ok(all.concat())
}
