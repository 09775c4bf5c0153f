//! Shows items: one, a page of them, or one with its receipts.

use clap::Args;
use quipu_core::id::ItemKind;
use quipu_engine::versions::When;
use quipu_engine::{Error, ItemPage, ItemReceipts, ListOptions, Result};

use crate::commands::{CommandContext, render};
use crate::global::Form;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only turn, entry, doc or import
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only items of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Most items
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
    /// Items to skip
    #[arg(long, default_value_t = 0)]
    pub(crate) offset: usize,
}

pub(crate) fn get(context: &CommandContext<'_>, name: &str, at: When) -> Result<()> {
    let item = quipu_engine::get(&context.engine, &context.user, name, at)?;
    context.printer.report(&item, render::item)
}

pub(crate) fn list(context: &CommandContext<'_>, args: &ListArgs, at: When) -> Result<()> {
    let kind = args.kind.as_deref().map(parse_kind);
    let options = ListOptions {
        at,
        session: args.session.clone(),
        kind: kind.transpose()?,
        offset: args.offset,
        limit: args.limit,
    };
    let page = quipu_engine::list(&context.engine, &context.user, &options)?;
    context.printer.report(&page, |page| listing(page, context.printer.form()))?;
    let shown = options.offset + page.items.len();
    if shown < page.total {
        context.printer.hint(&format!("{} of {}; continue with --offset {shown}", page.items.len(), page.total));
    }
    Ok(())
}

fn listing(page: &ItemPage, form: Form) -> String {
    if form != Form::Table {
        return page.items.iter().map(render::item).collect();
    }
    let row = |item: &quipu_engine::Item| {
        vec![
            item.id.to_string(),
            render::time(item.said_at),
            item.author.clone().unwrap_or_else(|| item.role.as_str().to_owned()),
            render::excerpt(&item.text, 70),
        ]
    };
    render::table(&["id", "said", "who", "text"], &page.items.iter().map(row).collect::<Vec<_>>())
}

pub(super) fn why(context: &CommandContext<'_>, name: &str) -> Result<()> {
    let why = quipu_engine::why(&context.engine, &context.user, name)?;
    context.printer.report(&why, explanation)
}

fn explanation(why: &ItemReceipts) -> String {
    let mut text = render::item(&why.item);
    text.push_str("\nRecorded by\n");
    text.push_str(&render::entry(&why.event));
    let state = if why.intact { "intact: the stored bytes match it" } else { "DAMAGED: run `quipu verify`" };
    text.push_str(&format!(
        "       change {}.{}, digest {}…, {state}\n",
        why.event.seq,
        why.change,
        &why.digest[..16.min(why.digest.len())]
    ));
    if !why.evidence.is_empty() {
        text.push_str("\nRead from\n");
        why.evidence.iter().for_each(|item| text.push_str(&render::item(item)));
    }
    if let Some(before) = &why.before {
        text.push_str(&format!("\nSaid before it\n{}", render::item(before)));
    }
    if let Some(after) = &why.after {
        text.push_str(&format!("\nSaid after it\n{}", render::item(after)));
    }
    if !why.later.is_empty() {
        text.push_str("\nLater\n");
        why.later.iter().for_each(|entry| text.push_str(&render::entry(entry)));
    }
    text
}

pub(super) fn parse_kind(word: &str) -> Result<ItemKind> {
    let found = ItemKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    found.ok_or_else(|| {
        let known: Vec<&str> = ItemKind::ALL.iter().map(|kind| kind.as_str()).collect();
        Error::Invalid(format!("{word:?} is not a kind; kinds are {}", known.join(", ")))
    })
}
