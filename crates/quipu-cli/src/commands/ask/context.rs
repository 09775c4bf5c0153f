//! Makes a pack of memory for a prompt.

use clap::Args;
use quipu_engine::versions::When;
use quipu_engine::{ContextOptions, Result};

use crate::commands::CommandContext;
use crate::commands::arguments::{DeadlineArgs, IntentArg};

#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    /// The question or task of the prompt
    #[arg(required_unless_present = "id")]
    pub(crate) query: Option<String>,
    /// Reproduce a pack from its id, as of the time it was made
    #[arg(long, value_name = "PACK", conflicts_with_all = ["query", "intent", "max_tokens"])]
    pub(crate) id: Option<String>,
    /// Only what was said in this session
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    pub(crate) session: Option<String>,
    /// Label lines with item ids instead of numbers
    #[arg(long, conflicts_with = "id")]
    pub(crate) ids: bool,
    /// Ask the model to cite the lines it uses
    #[arg(long, conflicts_with = "id")]
    pub(crate) cite: bool,
    /// Token budget of the block
    #[arg(long, default_value_t = quipu_core::pack::DEFAULT_TOKENS, value_name = "N")]
    pub(crate) max_tokens: usize,
    /// Tokenizer: o200k_base, cl100k_base, estimate [default: o200k_base]
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    pub(crate) tokenizer: Option<String>,
    #[command(flatten)]
    pub(crate) deadline: DeadlineArgs,
    /// What the pack is used for [default: derived from the query]
    #[arg(long, value_enum)]
    pub(crate) intent: Option<IntentArg>,
}

pub(crate) fn context(context: &CommandContext<'_>, args: &ContextArgs, at: When) -> Result<()> {
    if let Some(id) = &args.id {
        let made = quipu_engine::reproduce(&context.engine, &context.user, id)?;
        context.printer.report(&made, |made| made.pack.text.clone())?;
        context.printer.hint(match made.identical {
            true => "identical to the original",
            false => {
                "not identical: an item was erased since, weights or model changed, or another quipu version made it"
            }
        });
        return Ok(());
    }
    let options = ContextOptions {
        max_tokens: args.max_tokens,
        session: args.session.clone(),
        at,
        intent: args.intent.map(Into::into),
        tokenizer: args.tokenizer.clone(),
        ids: args.ids,
        cite: args.cite,
        deadline: args.deadline.deadline(),
        ..ContextOptions::of(args.query.as_deref().unwrap_or_default())
    };
    let pack = quipu_engine::context(&context.engine, &context.user, &options)?;
    context.printer.report(&pack, |pack| pack.text.clone())?;
    context.keep_hits(at);
    context.printer.hint(&format!(
        "for {}: {} tokens ({}), {} items, {} left out; id {}",
        pack.intent.as_str(),
        pack.tokens,
        pack.counted_by,
        pack.citations.len(),
        pack.omitted.len(),
        pack.id
    ));
    Ok(())
}
