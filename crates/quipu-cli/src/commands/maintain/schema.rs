//! Lists the categories of the core document, and promotes a pattern to one.

use clap::{Args, Subcommand};
use quipu_engine::versions::When;
use quipu_engine::{CategoryShown, PromoteReport, PromoteRequest, Result};

use crate::commands::{CommandContext, render};
use crate::global::Form;

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    #[command(subcommand)]
    pub(crate) action: Option<SchemaAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SchemaAction {
    /// List the categories; promoted ones come last
    List,
    /// Promote a pattern to a category, even if it is not due
    Promote {
        /// A dynamic category, or a term or key of uncategorized
        candidate: String,
        /// Name of the category [default: by rule]
        name: Option<String>,
        /// Reason [default: the support of the pattern]
        #[arg(long, alias = "because", value_name = "TEXT")]
        rationale: Option<String>,
        /// Only show what would move
        #[arg(long)]
        dry_run: bool,
        /// Repeating the request with the same key has no effect
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
}

pub(super) fn schema(context: &CommandContext<'_>, action: Option<SchemaAction>) -> Result<()> {
    match action.unwrap_or(SchemaAction::List) {
        SchemaAction::List => {
            let found = quipu_engine::schema(&context.engine, &context.user, When::Now)?;
            let form = context.printer.form();
            context.printer.report(&found, |found| if form == Form::Table { table(found) } else { list(found) })
        }
        SchemaAction::Promote { candidate, name, rationale, dry_run, idempotency_key } => {
            let request = PromoteRequest { candidate, proposed_name: name, rationale, idempotency_key, dry_run };
            let done = quipu_engine::promote(&context.engine, &context.user, &request)?;
            context.printer.report(&done, promoted)?;
            context.print_lag(done.receipt.as_ref().and_then(|receipt| receipt.lag.as_deref()));
            match &done.receipt {
                None => context.printer.hint("nothing was changed; omit --dry-run to promote"),
                Some(receipt) => {
                    let undo = context.command(&["revert", &receipt.seq.to_string()]);
                    context.printer.hint(&format!("`{undo}` removes the category again"));
                }
            }
            Ok(())
        }
    }
}

fn promoted(done: &PromoteReport) -> String {
    let Some(made) = &done.promotion else {
        return "the request is a repetition, and its promotion was reverted since\n".to_owned();
    };
    let head = match &done.receipt {
        None => format!("{} would become {}", made.candidate, made.name),
        Some(receipt) if receipt.replayed => {
            format!("Event {}  {} became {} before", receipt.seq, made.candidate, made.name)
        }
        Some(receipt) => format!("Event {}  {} is now {}", receipt.seq, made.candidate, made.name),
    };
    let moves = done.preview.as_ref().map(render::promotion).unwrap_or_default();
    let category = done.preview.as_ref().map_or_else(String::new, |preview| {
        format!("{}\n", serde_json::to_string_pretty(&preview.category).unwrap_or_default())
    });
    format!("{head}: {} — {}\n{moves}{category}", made.description, made.rationale)
}

fn list(found: &[CategoryShown]) -> String {
    let line = |one: &CategoryShown| {
        let grown = one.promoted_by.first().map(|seq| format!("  promoted by event {seq}")).unwrap_or_default();
        let members = if one.members > 0 { format!("  ({})", one.members) } else { String::new() };
        format!("{}{members}{grown}\n    {}\n", one.name, one.description)
    };
    found.iter().map(line).collect()
}

fn table(found: &[CategoryShown]) -> String {
    let row = |one: &CategoryShown| {
        let promoted = one.promoted_by.first().map(ToString::to_string).unwrap_or_default();
        vec![one.name.clone(), one.members.to_string(), promoted, render::excerpt(&one.description, 60)]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    render::table(&["NAME", "MEMBERS", "EVENT", "DESCRIPTION"], &rows)
}
