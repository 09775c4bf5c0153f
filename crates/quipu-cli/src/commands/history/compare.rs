//! Compares versions: what changed a path or an item, and what differs between two versions.

use clap::Args;
use quipu_engine::Result;
use quipu_engine::versions::VersionExpression;
use serde_json::Value;

use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct BlameArgs {
    /// A path such as /location/city, or an item id
    pub(crate) what: String,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The earlier version: a position, or a time such as `2026-07-15` or `yesterday` (its end)
    pub(crate) from: VersionExpression,
    /// The later version
    #[arg(default_value = "now")]
    pub(crate) to: VersionExpression,
}

pub(super) fn blame(context: &CommandContext<'_>, what: &str) -> Result<()> {
    let steps = quipu_engine::blame(&context.engine, &context.user, what)?;
    context.printer.report(&steps, |steps| {
        let shown = |value: &Option<Value>| {
            value.as_ref().map_or_else(|| "nothing".to_owned(), |v| render::excerpt(&v.to_string(), 100))
        };
        steps
            .iter()
            .map(|step| {
                format!("{}       {} → {}\n", render::entry(&step.event), shown(&step.before), shown(&step.after))
            })
            .collect()
    })
}

pub(super) fn diff(context: &CommandContext<'_>, args: &DiffArgs) -> Result<()> {
    let engine = &context.engine;
    let difference = quipu_engine::diff(engine, &context.user, args.from.at(engine)?, args.to.at(engine)?)?;
    context.printer.report(&difference, |difference| {
        format!("From version {} to {}\n{}", difference.from, difference.to, render::difference(difference))
    })
}
