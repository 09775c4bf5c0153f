//! Turns flat summaries into facts, patches of the core document and episodes.

use std::path::PathBuf;

use clap::Args;
use quipu_core::calendar::TimeExpression;
use quipu_engine::{MigrateOptions, Result};

use crate::commands::{CommandContext, input, render};

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// A text file with summaries; `-` reads standard input
    pub(crate) file: PathBuf,
    /// Time the summaries were written, such as `2026-07-15` or `last monday` [default: unknown]
    #[arg(long, value_name = "TIME")]
    pub(crate) said_at: Option<TimeExpression>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Repeating the request with the same key has no effect and returns the first answer
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

pub(super) fn migrate(context: &CommandContext<'_>, args: &MigrateArgs) -> Result<()> {
    let text = input::text_of(&args.file)?;
    let options = MigrateOptions {
        said_at: context.engine.moment_of(args.said_at)?,
        dry_run: args.dry_run,
        idempotency_key: args.idempotency_key.clone(),
    };
    let found = quipu_engine::migrate(&context.engine, &context.user, &text, &options)?;
    context.printer.report(&found, |found| {
        let mut lines = render::understood(&found.understood);
        for (sentence, paths) in &found.episodes {
            let influenced = if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") };
            lines.push_str(&format!("  “{}” → {influenced}\n", render::excerpt(sentence, 90)));
        }
        for sentence in &found.not_understood {
            lines.push_str(&format!("  not understood: “{}”\n", render::excerpt(sentence, 90)));
        }
        let core = serde_json::to_string_pretty(&found.core).unwrap_or_default();
        format!("{lines}The core document{}:\n{core}\n", if found.dry_run { " would be" } else { "" })
    })?;
    if args.dry_run {
        context.printer.hint("nothing was changed; omit --dry-run to migrate");
    }
    Ok(())
}
