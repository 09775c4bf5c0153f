//! Lists pending reviews and decides them.

use clap::{Args, Subcommand};
use quipu_core::event::Actor;
use quipu_core::item::ReviewDecision;
use quipu_engine::{Result, Waiting};

use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    pub(crate) action: Option<ReviewAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewAction {
    /// List pending reviews
    List {
        /// Include decided reviews
        #[arg(short, long)]
        all: bool,
    },
    /// Approve a proposal as it is
    Approve(DecideArgs),
    /// Approve a proposal with another value
    Edit {
        /// The id of the review, or of the item it is about
        id: String,
        /// The right value
        value: String,
        /// Reason, for the record
        #[arg(long)]
        because: Option<String>,
    },
    /// Decline a proposal
    Decline(DecideArgs),
    /// Undo a decision
    Undo {
        /// The id of the review
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DecideArgs {
    /// The id of the review, or of the item it is about
    pub(crate) id: String,
    /// Reason, for the record
    #[arg(long)]
    pub(crate) because: Option<String>,
}

pub(super) fn review(context: &CommandContext<'_>, action: Option<ReviewAction>) -> Result<()> {
    let (id, decision, because) = match action.unwrap_or(ReviewAction::List { all: false }) {
        ReviewAction::List { all } => {
            let found = quipu_engine::reviews(&context.engine, &context.user, all)?;
            return context.printer.report(&found, |found| render::list(found, "nothing waits for you", waiting));
        }
        ReviewAction::Approve(decide) => (decide.id, ReviewDecision::Approved, decide.because),
        ReviewAction::Decline(decide) => (decide.id, ReviewDecision::Declined, decide.because),
        ReviewAction::Edit { id, value, because } => (id, ReviewDecision::Edited { text: value }, because),
        ReviewAction::Undo { id } => {
            let receipt = quipu_engine::undo_review(&context.engine, &context.user, &id)?;
            return context.print_changes(&receipt);
        }
    };
    let (engine, user) = (&context.engine, &context.user);
    let receipt = quipu_engine::decide_review(engine, user, &id, &decision, Actor::User, because.as_deref())?;
    context.print_changes(&receipt)
}

fn waiting(one: &Waiting) -> String {
    let review = &one.review;
    let rival = one.rival.as_ref().map(|rival| format!("    against: {rival}\n")).unwrap_or_default();
    let quotes: String =
        one.quotes.iter().map(|(id, quote)| format!("    “{}”  {id}\n", render::excerpt(quote, 90))).collect();
    let decided = match &review.decided {
        Some((decision, seq)) => {
            let what = match decision {
                ReviewDecision::Approved => "approved".to_owned(),
                ReviewDecision::Edited { text } => format!("edited to {text:?}"),
                ReviewDecision::Declined => "declined".to_owned(),
            };
            format!("    {what} by event {seq}\n")
        }
        None => String::new(),
    };
    let moves = one.preview.as_ref().map(render::promotion).unwrap_or_default();
    let (id, question) = (review.id, &review.question);
    format!("{id}  {question}\n    {} — {}\n{rival}{quotes}{moves}{decided}", one.text, review.reason)
}
