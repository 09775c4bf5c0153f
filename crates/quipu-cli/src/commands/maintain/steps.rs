//! Runs the maintenance steps that are due.

use clap::{Args, ValueEnum};
use quipu_core::limit;
use quipu_engine::{MaintainOptions, MaintenanceReport, MaintenanceStep, Result};

use crate::commands::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct MaintainArgs {
    /// Only show what is due
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only this step; may be repeated [default: all]
    #[arg(long = "step", value_enum, value_name = "STEP")]
    pub(crate) steps: Vec<MaintenanceStepArg>,
    /// Most events of reflection and compaction; the rest is left for the next run
    #[arg(long, value_name = "N")]
    pub(crate) events: Option<usize>,
    /// Most messages the model reads now [default: all pending]
    #[arg(long, value_name = "N")]
    pub(crate) sources: Option<usize>,
    /// Most messages read by rules, and most exchanges summarised [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) items: Option<usize>,
}

/// A step of maintenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MaintenanceStepArg {
    /// Read pending messages by rules.
    Read,
    /// Read pending messages with the extraction model.
    Study,
    /// Summarise exchanges of sessions.
    Summarize,
    /// Record episodes of sessions that are over.
    Episodes,
    /// Count which items were returned.
    Hits,
    /// Propose categories for patterns in the core document.
    Evolve,
    /// Take notes, and propose lines of the self-model.
    Reflect,
    /// Fold duplicates, promote patterns, deactivate unused items.
    Compact,
    /// Update plain files.
    Files,
}

impl From<MaintenanceStepArg> for MaintenanceStep {
    fn from(step: MaintenanceStepArg) -> Self {
        match step {
            MaintenanceStepArg::Read => Self::Read,
            MaintenanceStepArg::Study => Self::Study,
            MaintenanceStepArg::Summarize => Self::Summarize,
            MaintenanceStepArg::Episodes => Self::Episodes,
            MaintenanceStepArg::Hits => Self::Hits,
            MaintenanceStepArg::Evolve => Self::Evolve,
            MaintenanceStepArg::Reflect => Self::Reflect,
            MaintenanceStepArg::Compact => Self::Compact,
            MaintenanceStepArg::Files => Self::Files,
        }
    }
}

pub(super) fn maintain(context: &CommandContext<'_>, args: &MaintainArgs) -> Result<()> {
    let options = MaintainOptions {
        dry_run: args.dry_run,
        steps: args.steps.iter().map(|&step| step.into()).collect(),
        events_max: args.events.unwrap_or(limit::GROWTH_EVENTS_MAX),
        sources_max: args.sources.unwrap_or(usize::MAX),
        items_max: args.items.unwrap_or(usize::MAX),
    };
    let report = quipu_engine::maintain(&context.engine, &context.user, &options)?;
    context.printer.report(&report, outcome)?;
    if let Some(fault) = &report.fault {
        context.printer.hint(&format!("the rest stays due: {fault}"));
    }
    for step in &report.steps {
        if let Some(fault) = &step.fault {
            context.printer.hint(&format!("{} could not be done now and stays due: {fault}", step.step.as_str()));
        }
    }
    Ok(())
}

fn outcome(report: &MaintenanceReport) -> String {
    if report.steps.is_empty() {
        return "nothing is due\n".to_owned();
    }
    let mut text = String::new();
    for step in &report.steps {
        let (word, due) = (step.step.as_str(), step.step.counted(step.due));
        let result = match (&step.fault, step.left) {
            _ if report.dry_run => "due".to_owned(),
            (Some(_), left) => format!("FAILED, {left} left"),
            (None, 0) => "done".to_owned(),
            (None, left) if left == step.due && report.fault.is_some() => "not done".to_owned(),
            (None, left) => format!("{left} left"),
        };
        text.push_str(&format!("{word:<10} {due}: {result}\n"));
        if let Some(reference) = &step.reference {
            text.push_str(&format!("           undo with: quipu revert --source {reference}\n"));
        }
    }
    text
}
