//! Records a text, or every line of standard input.

use std::io::{BufRead, Read};

use clap::Args;
use quipu_core::calendar::TimeExpression;
use quipu_core::source::Role;
use quipu_engine::{Error, Receipt, RememberOptions, Result, Utterance};

use crate::commands::{CommandContext, input, render};

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The text [default: standard input, also for `-`]
    pub(crate) text: Option<String>,
    /// Role of the speaker: user, assistant, system or tool
    #[arg(long, default_value = "user", value_parser = parse_role)]
    pub(crate) role: Role,
    /// Name of the speaker
    #[arg(long)]
    pub(crate) author: Option<String>,
    /// The session (conversation) that the message belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Topic of the message
    #[arg(long)]
    pub(crate) topic: Option<String>,
    /// Time of the message, such as `yesterday`, `2026-07-15 14:00` or `2 hours ago`, on the clock of `timezone`
    /// [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) said_at: Option<TimeExpression>,
    /// Record each line of standard input as a message, and print a receipt for each
    #[arg(long, conflicts_with = "text")]
    pub(crate) lines: bool,
    /// Repeating the request with the same key has no effect
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

pub(super) fn add(context: &CommandContext<'_>, args: AddArgs) -> Result<()> {
    let options = RememberOptions { idempotency_key: args.idempotency_key.clone(), ..RememberOptions::default() };
    let said = |text: String| {
        let (author, session, topic) = (args.author.clone(), args.session.clone(), args.topic.clone());
        Utterance { role: args.role, author, session, topic, ..Utterance::of_user(text) }
            .at(&context.engine, args.said_at)
    };
    if args.lines {
        return add_lines(context, &said, &options);
    }
    let text = match args.text.as_deref() {
        Some("-") | None => {
            let mut bytes = Vec::new();
            // One byte more than allowed, so that a longer text is refused without reading all of it.
            let most = quipu_core::limit::SOURCE_BYTES_MAX as u64 + 1;
            std::io::stdin()
                .take(most)
                .read_to_end(&mut bytes)
                .map_err(|error| Error::Unavailable(error.to_string()))?;
            if bytes.len() as u64 == most {
                let text = format!(
                    "standard input has more than {} bytes, the most of one message: `quipu import text FILE` splits it",
                    most - 1
                );
                return Err(Error::Invalid(text));
            }
            input::utf8(bytes)?
        }
        Some(text) => text.to_owned(),
    };
    let receipt = quipu_engine::remember(&context.engine, &context.user, &said(text)?, &options)?;
    print_receipt(context, &receipt)
}

/// Records each line; it is durable before its receipt is printed. An error names its line and stops the command.
fn add_lines(
    context: &CommandContext<'_>,
    said: &dyn Fn(String) -> Result<Utterance>,
    options: &RememberOptions,
) -> Result<()> {
    let mut stdin = std::io::stdin().lock();
    let most = quipu_core::limit::SOURCE_BYTES_MAX as u64 + 2;
    for number in 0.. {
        let mut line = Vec::new();
        // A line over the limit is read only as far as needed to refuse it.
        (&mut stdin).take(most).read_until(b'\n', &mut line).map_err(|error| Error::Unavailable(error.to_string()))?;
        if line.is_empty() {
            break;
        }
        let place = |error: Error| match error {
            Error::Invalid(text) => Error::Invalid(format!("line {}: {text}", number + 1)),
            other => other,
        };
        let line = input::utf8(line).map_err(place)?;
        let line = line.trim_end_matches(['\n', '\r']).to_owned();
        if line.trim().is_empty() {
            continue;
        }
        let receipt = quipu_engine::remember(&context.engine, &context.user, &said(line)?, options).map_err(place)?;
        print_receipt(context, &receipt)?;
    }
    Ok(())
}

fn print_receipt(context: &CommandContext<'_>, receipt: &Receipt) -> Result<()> {
    context.printer.report(receipt, |receipt| {
        let items: Vec<String> = receipt.items.iter().map(ToString::to_string).collect();
        let again = if receipt.replayed { " (recorded before)" } else { "" };
        let understood = render::understood(&receipt.understood);
        let summarized: String = receipt.summarized.iter().map(render::summarized).collect();
        format!("Event {}: {}{again}\n{understood}{summarized}", receipt.seq, items.join(", "))
    })?;
    if !receipt.redacted.is_empty() {
        let kinds = receipt.redacted.join(", ").replace('_', " ");
        context.printer.hint(&format!("removed before anything was stored: {kinds}"));
    }
    context.print_lag(receipt.lag.as_deref());
    Ok(())
}

fn parse_role(text: &str) -> std::result::Result<Role, String> {
    [Role::User, Role::Assistant, Role::System, Role::Tool]
        .into_iter()
        .find(|role| role.as_str() == text)
        .ok_or_else(|| "a role is user, assistant, system or tool".to_owned())
}
