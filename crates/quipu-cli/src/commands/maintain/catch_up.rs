//! Lets rules and language models process what is pending.

use clap::Args;
use quipu_engine::{Budget, ExtractWithModelOptions, Processed, Result, Until};

use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct CatchUpArgs {
    /// Most messages the model reads now [default: all pending]
    #[arg(long, value_name = "N")]
    pub(crate) sources: Option<usize>,
    /// Only messages of this session
    #[arg(long, value_name = "ID", conflicts_with = "from_the_start")]
    pub(crate) session: Option<String>,
    /// Let the model read all messages, not only those since it was configured
    #[arg(long)]
    pub(crate) from_the_start: bool,
}

pub(super) fn catch_up(context: &CommandContext<'_>, args: &CatchUpArgs) -> Result<()> {
    let (engine, user) = (&context.engine, &context.user);
    let sources_max = args.sources.unwrap_or(usize::MAX);
    let mut report = Processed::default();
    if args.from_the_start {
        report.studied = Some(quipu_engine::extract_with_model(
            engine,
            user,
            &ExtractWithModelOptions { sources_max, from_the_start: true },
        )?);
    } else {
        let budget = Budget { sources_max, session: args.session.clone(), ..Budget::default() };
        report = quipu_engine::process(engine, user, Until::Everything, &budget)?;
    }
    context.printer.report(&report, in_words)?;
    for fault in report.faults() {
        context.printer.hint(&format!("not everything could be processed now: {fault}"));
    }
    Ok(())
}

pub(super) fn in_words(report: &Processed) -> String {
    let mut text = String::new();
    if report.read.sources > 0 {
        text.push_str(&format!(
            "{} read by rules\n{}",
            render::counted(report.read.sources, ["message", "messages"]),
            render::understood(&report.read.understood)
        ));
    }
    if let Some(summaries) = &report.told {
        text.push_str(&format!(
            "{} summarised\n",
            render::counted(summaries.summarized.len(), ["exchange", "exchanges"])
        ));
    }
    if let Some(extracted) = &report.studied {
        text.push_str(&format!(
            "{} read by {}",
            render::counted(extracted.sources, ["message", "messages"]),
            extracted.reader
        ));
        for (count, what) in [(extracted.given_up.len(), "unreadable"), (extracted.waiting, "still pending")] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text.push('\n');
        text.push_str(&render::understood(&extracted.understood));
    }
    text
}
