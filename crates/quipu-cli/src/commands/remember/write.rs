//! Writes facts, notes, tasks and tenets from a JSON file.

use std::path::PathBuf;

use clap::Args;
use quipu_core::event::SourceKind;
use quipu_engine::{Error, Result, WriteRequest};

use crate::commands::{CommandContext, input, render};

/// Format of the file.
const WRITE_HELP: &str = r#"A file has one or more of these lists:
  {"facts": [{"subject": "user", "predicate": "lives_in", "object": "Porto",
              "valid_from": "2025-08-08", "topic": "home", "tags": ["move"]}],
   "notes": [{"text": "A short example helps.", "tags": ["style"]}],
   "tasks": [{"title": "Knee pain on stairs", "kind": "problem",
              "status": "active", "priority": 8,  "due": "2026-03-01",
              "attempts": [{"approach": "Ice", "outcome": "less swelling",
                            "successful": true, "date": "2026-01-09"}]}],
   "tenets": [{"kind": "policy", "text": "No meetings before ten."}]}
A task is a task, goal or problem: active, stalled, done or dropped. A tenet is a value, preference,
policy or goal. Facts and tasks may have "links": [{"rel": "about", "to": "fact_…"}].
Times are dates or RFC 3339. Unknown fields of items are listed as ignored.
Episodes cannot be written: Quipu derives them from turns."#;

#[derive(Debug, Args)]
#[command(after_help = WRITE_HELP)]
pub(crate) struct WriteArgs {
    /// A JSON file with facts, notes, tasks and tenets; `-` reads standard input
    pub(crate) file: PathBuf,
    /// Who wrote it: user, agent, tool, document or web. Only statements of the user about the user need no review
    #[arg(long, default_value = "user", value_parser = parse_writer)]
    pub(crate) from: SourceKind,
    /// Repeating the request with the same key has no effect and returns the first answer
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

pub(super) fn write(context: &CommandContext<'_>, args: &WriteArgs) -> Result<()> {
    let text = input::text_of(&args.file)?;
    let mut request: WriteRequest = serde_json::from_str(&text).map_err(|error| {
        Error::Invalid(format!(
            "{}: not a JSON object with `facts`, `notes`, `tasks` or `tenets`: {error}",
            args.file.display()
        ))
    })?;
    request.idempotency_key = args.idempotency_key.clone().or(request.idempotency_key);
    let report = quipu_engine::write(&context.engine, &context.user, &request, args.from)?;
    context.printer.report(&report, |report| {
        let (accepted, rejected) = (report.accepted.len(), report.rejected.len());
        let again = if report.replayed { " (written before)" } else { "" };
        let ignored = match report.ignored.as_slice() {
            [] => String::new(),
            names => format!("Ignored fields: {}\n", names.join(", ")),
        };
        format!("{accepted} accepted, {rejected} rejected{again}\n{}{ignored}", render::understood(&report.understood))
    })
}

fn parse_writer(text: &str) -> std::result::Result<SourceKind, String> {
    match text {
        "user" => Ok(SourceKind::UserEdited),
        "agent" => Ok(SourceKind::Inferred),
        "tool" => Ok(SourceKind::ToolOutput),
        "document" => Ok(SourceKind::Document),
        "web" => Ok(SourceKind::Web),
        _ => Err("one of user, agent, tool, document, web".to_owned()),
    }
}
