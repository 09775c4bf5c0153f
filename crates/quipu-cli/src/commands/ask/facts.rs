//! Lists facts, and the conflicts between them.

use clap::Args;
use jiff::Timestamp;
use quipu_core::calendar::TimeExpression;
use quipu_core::item::FactStatus;
use quipu_engine::versions::When;
use quipu_engine::{Conflict, FactOptions, FactShown, Result};

use crate::commands::{CommandContext, render};
use crate::global::Form;

#[derive(Debug, Args)]
pub(crate) struct FactsArgs {
    /// Only with this subject: user, or a name
    #[arg(long, value_name = "NAME")]
    pub(crate) subject: Option<String>,
    /// Only this relation, such as lives_in
    #[arg(long, value_name = "RELATION")]
    pub(crate) predicate: Option<String>,
    /// Facts valid at this time, such as `2026-07-15` or `last monday`
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_at: Option<TimeExpression>,
    /// Include facts that are no longer valid, were never valid, or are pending
    #[arg(short, long)]
    pub(crate) all: bool,
}

pub(crate) fn facts(context: &CommandContext<'_>, args: &FactsArgs, at: Option<When>) -> Result<()> {
    let options = FactOptions {
        at,
        valid_at: context.engine.time_of(args.valid_at)?,
        all: args.all,
        subject: args.subject.clone(),
        predicate: args.predicate.clone(),
    };
    let found = quipu_engine::facts(&context.engine, &context.user, &options)?;
    let (form, now) = (context.printer.form(), context.engine.local_now(&context.user)?);
    let lines = |found: &Vec<FactShown>| render::list(found, "no facts", |one| fact(one, now));
    context.printer.report(&found, |found| if form == Form::Table { table(found) } else { lines(found) })
}

pub(crate) fn fact(shown: &FactShown, now: Timestamp) -> String {
    let fact = &shown.fact;
    let status =
        if fact.status == FactStatus::Active { String::new() } else { format!(" · {}", render::word(&fact.status)) };
    let often = if fact.seen_count > 1 { format!(" · said {} times", fact.seen_count) } else { String::new() };
    let times = fact.times(now).map_or_else(String::new, |times| format!(" · {times}"));
    let mut text = format!("{}{times}{status}{often}  {}\n", fact.text, fact.id);
    if let Some((source, question)) = &shown.asked {
        text.push_str(&format!("    asked: “{}”  {source}\n", render::excerpt(question, 90)));
    }
    for (source, quote) in shown.quotes.iter().take(2) {
        text.push_str(&format!("    “{}”  {source}\n", render::excerpt(quote, 90)));
    }
    if shown.quotes.is_empty() {
        text.push_str("    entered by hand\n");
    }
    text
}

fn table(found: &[FactShown]) -> String {
    let day = |time: Option<Timestamp>| time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
    let row = |shown: &FactShown| {
        let fact = &shown.fact;
        let (from, to) = (day(fact.valid_from), day(fact.valid_to));
        let (subject, predicate, object) = (fact.subject.clone(), fact.predicate.clone(), fact.object.clone());
        vec![subject, predicate, object, from, to, render::word(&fact.status), fact.id.to_string()]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    render::table(&["SUBJECT", "PREDICATE", "OBJECT", "FROM", "TO", "STATUS", "ID"], &rows)
}

pub(super) fn conflicts(context: &CommandContext<'_>) -> Result<()> {
    let found = quipu_engine::conflicts(&context.engine, &context.user)?;
    context.printer.report(&found, |found| render::list(found, "no conflicts", conflict))
}

pub(crate) fn conflict(conflict: &Conflict) -> String {
    let side = |shown: &FactShown| {
        let fact = &shown.fact;
        format!("{} ({}, said {})", fact.text, render::word(&fact.source), render::time(fact.first_seen))
    };
    let against: Vec<String> = conflict.against.iter().map(side).collect();
    let question = match (&conflict.question, conflict.review) {
        (Some(question), Some(review)) => format!("    {question}  `quipu review approve|decline {review}`\n"),
        _ => String::new(),
    };
    format!("{}\n    against {}\n{question}", side(&conflict.contested), against.join("; "))
}
