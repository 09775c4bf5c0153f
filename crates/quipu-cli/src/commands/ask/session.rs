//! Lists sessions, shows the state of one, and edits its base truth.

use clap::{Args, Subcommand};
use quipu_core::event::Actor;
use quipu_core::item::TruthKind;
use quipu_core::session::BaseTruthSnapshot;
use quipu_engine::versions::When;
use quipu_engine::{Result, SessionContextOptions, SummarizeOptions};

use super::session_text as text;
use crate::commands::arguments::IntentArg;
use crate::commands::{CommandContext, render};
use crate::global::Form;

#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    pub(crate) action: SessionAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionAction {
    /// Show base truth, turn log, raw window, artifacts and turns without a summary
    Show {
        /// The session
        id: String,
    },
    /// Print the context for the next reply: hard exceptions, base truth, turn log, recalled items, raw window
    Context(SessionContextArgs),
    /// List the hard exceptions, or set or remove one
    Exceptions {
        /// The session; it need not exist yet
        id: String,
        /// Set this exception: what must never happen
        #[arg(long, value_name = "TEXT", conflicts_with = "unset")]
        set: Option<String>,
        /// Remove the exception with this id, prefix of an id, or text
        #[arg(long, value_name = "NAME")]
        unset: Option<String>,
    },
    /// Add an entry to the base truth
    Set {
        /// The session; it need not exist yet
        id: String,
        /// exception, constraint, goal, decision, preference, fact, task or question
        #[arg(value_parser = parse_kind)]
        kind: TruthKind,
        /// The text of the entry
        text: String,
    },
    /// Remove an entry from the base truth
    Unset {
        /// The session
        id: String,
        /// The entry's id, a prefix of it, or its text
        name: String,
    },
    /// Summarise the turns without a summary, of one session or of all
    Summarize {
        /// The session [default: all]
        id: Option<String>,
        /// Include turns whose summary was reverted
        #[arg(long)]
        again: bool,
    },
    /// Merge entries of the base truth with the same meaning, after a snapshot
    Consolidate {
        /// The session
        id: String,
    },
    /// Show the snapshots of the base truth from the last consolidations
    Snapshots {
        /// The session
        id: String,
    },
    /// Print the code, drafts and files of a turn, byte for byte
    Artifact {
        /// The session
        id: String,
        /// A turn (3) or one artifact of it (3.1)
        key: String,
    },
    /// End a session: summarise its last turns and record its episodes
    End {
        /// The session
        id: String,
    },
}

impl SessionAction {
    /// True for actions on a session that need not exist yet.
    pub(super) fn may_begin_a_session(&self) -> bool {
        matches!(self, Self::Set { .. } | Self::Exceptions { set: Some(_), .. })
    }
}

#[derive(Debug, Args)]
pub(crate) struct SessionContextArgs {
    /// The session
    pub(crate) id: String,
    /// The next message [default: the last message of the user]
    pub(crate) query: Option<String>,
    /// Token budget; hard exceptions are included even if they exceed it
    #[arg(long, default_value_t = quipu_core::pack::SESSION_TOKENS, value_name = "N")]
    pub(crate) max_tokens: usize,
    /// Tokenizer: o200k_base, cl100k_base, estimate [default: o200k_base]
    #[arg(long, value_name = "NAME")]
    pub(crate) tokenizer: Option<String>,
    /// What the context is used for [default: derived from the message]
    #[arg(long, value_enum)]
    pub(crate) intent: Option<IntentArg>,
}

pub(crate) fn sessions(context: &CommandContext<'_>, at: When) -> Result<()> {
    let found = quipu_engine::sessions(&context.engine, &context.user, at)?;
    let as_table = context.printer.form() == Form::Table;
    context.printer.report(&found, |found| match (found.is_empty(), as_table) {
        (true, _) => "no sessions yet; `quipu add --session NAME` begins one\n".to_owned(),
        (false, true) => text::table(found),
        (false, false) => found.iter().map(text::line).collect(),
    })
}

pub(crate) fn show(context: &CommandContext<'_>, id: &str, at: When) -> Result<()> {
    let state = quipu_engine::session(&context.engine, &context.user, id, at)?;
    context.printer.report(&state, text::state)
}

pub(super) fn run(context: &CommandContext<'_>, action: SessionAction) -> Result<()> {
    let (engine, user) = (&context.engine, &context.user);
    match action {
        SessionAction::Show { id } => show(context, &id, When::Now),
        SessionAction::Context(args) => print_context(context, &args),
        SessionAction::Exceptions { id, set: Some(text), .. } => set(context, &id, TruthKind::Exception, &text),
        SessionAction::Exceptions { id, unset: Some(name), .. } => unset(context, &id, &name),
        SessionAction::Exceptions { id, .. } => {
            let mut found = quipu_engine::session(engine, user, &id, When::Now)?.base_truth;
            found.retain(|one| one.kind == TruthKind::Exception);
            context.printer.report(&found, |found| match found.is_empty() {
                true => "no hard exceptions; --set TEXT sets one\n".to_owned(),
                false => found.iter().map(text::truth).collect(),
            })
        }
        SessionAction::Set { id, kind, text } => set(context, &id, kind, &text),
        SessionAction::Unset { id, name } => unset(context, &id, &name),
        SessionAction::Summarize { id, again } => {
            let report = quipu_engine::summarize(engine, user, &SummarizeOptions { session: id, again })?;
            context.printer.report(&report, text::summarized)
        }
        SessionAction::Consolidate { id } => {
            let done = quipu_engine::consolidate(engine, user, &id)?;
            context.printer.report(&done, text::consolidated)
        }
        SessionAction::Snapshots { id } => {
            let found = quipu_engine::session_snapshots(engine, user, &id)?;
            context.printer.report(&found, |found| {
                let line = |one: &BaseTruthSnapshot| {
                    let truths =
                        one.truths.iter().map(|truth| format!("    {} ({})\n", truth.text, truth.kind.as_str()));
                    format!("turn {} · event {}\n{}", one.turn, one.seq, truths.collect::<String>())
                };
                let none = || "no snapshots yet; `quipu session consolidate` makes one\n".to_owned();
                if found.is_empty() { none() } else { found.iter().map(line).collect() }
            })
        }
        SessionAction::Artifact { id, key } => {
            let found = quipu_engine::session_artifacts(engine, user, &id, &key, When::Now)?;
            context.printer.report(&found, |found| found.iter().map(|one| one.text.as_str()).collect())
        }
        SessionAction::End { id } => {
            let end = quipu_engine::end_session(engine, user, &id)?;
            context.printer.report(&end, |end| {
                let episodes = render::counted(end.episodes, ["episode", "episodes"]);
                let summarized = text::summarized(&end.told);
                format!("Event {}: {id} is over, {episodes} recorded\n{summarized}", end.receipt.seq)
            })?;
            context.print_lag(end.receipt.lag.as_deref());
            Ok(())
        }
    }
}

fn set(context: &CommandContext<'_>, id: &str, kind: TruthKind, text: &str) -> Result<()> {
    let receipt = quipu_engine::set_base_truth(&context.engine, &context.user, id, (kind, text), Actor::User)?;
    context.print_changes(&receipt)
}

fn unset(context: &CommandContext<'_>, id: &str, name: &str) -> Result<()> {
    let receipt = quipu_engine::unset_base_truth(&context.engine, &context.user, id, name, Actor::User)?;
    context.print_changes(&receipt)
}

fn print_context(context: &CommandContext<'_>, args: &SessionContextArgs) -> Result<()> {
    let options = SessionContextOptions {
        session: args.id.clone(),
        query: args.query.clone(),
        max_tokens: args.max_tokens,
        at: When::Now,
        intent: args.intent.map(Into::into),
        now: None,
        profile: None,
        tokenizer: args.tokenizer.clone(),
        deadline: None,
    };
    let made = quipu_engine::session_context(&context.engine, &context.user, &options)?;
    context.printer.report(&made, |made| made.text.clone())?;
    let left_out = made.omitted.len() + made.omitted_turns.len();
    let over = if made.over_budget { ", over budget: the required parts need that many" } else { "" };
    context.printer.hint(&format!("{} tokens ({}), {left_out} left out{over}", made.tokens, made.counted_by));
    if !made.unsummarized.is_empty() {
        let turns: Vec<String> = made.unsummarized.iter().map(ToString::to_string).collect();
        context.printer.hint(&format!("not summarised yet: turns {}", turns.join(", ")));
    }
    Ok(())
}

fn parse_kind(text: &str) -> std::result::Result<TruthKind, String> {
    let words = || TruthKind::ALL.map(TruthKind::as_str).join(", ");
    TruthKind::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| format!("it is one of: {}", words()))
}
