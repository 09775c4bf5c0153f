//! Actions of one process on an engine: what a step comes to once its numbers are resolved.

use quipu_core::id::{Seq, UserId};
use quipu_engine::erase::{EraseTarget, delete_user};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    Budget, ContextOptions, CoreEdit, Engine, Error, PatchOptions, RecallOptions, Receipt, RememberOptions, Until,
    Utterance, context, correct_fact, edit_core, erase, process, rebuild, recall, remember, retract, revert, snapshot,
};

use crate::model::Sent;

/// What a process does.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Say { sent: Sent, durable_only: bool },
    Revert(Vec<Seq>),
    Erase(Seq),
    Correct { fact: String, object: String },
    Retract(String),
    SetCore { name: String, value: u32 },
    Process,
    Ask(String),
    Pack(String),
    Snapshot,
    Rebuild,
    Delete,
}

/// What it returned.
#[derive(Debug)]
pub(crate) enum Done {
    Said(Box<Receipt>),
    /// Everything that is shown to the caller.
    Shown(String),
    /// Whether a rebuilt memory has the same bytes.
    Rebuilt(bool),
    Other,
}

/// The result; `None` if the process died.
pub(crate) type Outcome = Option<Result<Done, Error>>;

impl Action {
    /// True if it may append events.
    pub(crate) fn records(&self) -> bool {
        !matches!(self, Self::Ask(_) | Self::Pack(_) | Self::Snapshot | Self::Rebuild)
    }

    /// True if it may append a revert.
    pub(crate) fn reverts(&self) -> bool {
        matches!(self, Self::Revert(_))
    }

    /// True if the facts of the user no longer follow from the messages alone.
    pub(crate) fn edits(&self) -> bool {
        matches!(
            self,
            Self::Revert(_)
                | Self::Erase(_)
                | Self::Correct { .. }
                | Self::Retract(_)
                | Self::SetCore { .. }
                | Self::Delete
        )
    }

    pub(crate) fn perform(&self, engine: &Engine, user: &UserId) -> Result<Done, Error> {
        match self {
            Self::Say { sent, durable_only } => {
                let options = RememberOptions {
                    idempotency_key: sent.key.clone(),
                    durable_only: *durable_only,
                    ..RememberOptions::default()
                };
                let receipt = remember(engine, user, &Utterance::of_user(&sent.text), &options);
                receipt.map(|receipt| Done::Said(Box::new(receipt)))
            }
            Self::Revert(seqs) => {
                let events = Selection::Events(seqs.iter().map(|&seq| EventRef::Seq(seq)).collect());
                revert(engine, user, &events, &RevertOptions::default(), &mut |_| {}).map(|_| Done::Other)
            }
            Self::Erase(seq) => {
                erase(engine, user, &[EraseTarget::Event(*seq)], "asked to", &mut |_| {}).map(|_| Done::Other)
            }
            Self::Correct { fact, object } => correct_fact(engine, user, fact, object).map(|_| Done::Other),
            Self::Retract(fact) => retract(engine, user, fact, "wrong").map(|_| Done::Other),
            Self::SetCore { name, value } => {
                let edit = CoreEdit::Set(format!("/uncategorized/{name}"), (*value).into());
                edit_core(engine, user, &edit, &PatchOptions::default()).map(|_| Done::Other)
            }
            Self::Process => process(engine, user, Until::Everything, &Budget::default()).map(|_| Done::Other),
            Self::Ask(query) => {
                let found = recall(engine, user, &RecallOptions::of(query))?;
                // The question is part of the answer.
                let hits: Vec<&str> = found.hits.iter().map(|hit| hit.text.as_str()).collect();
                Ok(Done::Shown(hits.join("\n")))
            }
            Self::Pack(query) => Ok(Done::Shown(context(engine, user, &ContextOptions::of(query))?.text)),
            Self::Snapshot => snapshot(engine, user).map(|_| Done::Other),
            Self::Rebuild => rebuild(engine, user, &mut |_| {}).map(|rebuilt| Done::Rebuilt(rebuilt.identical)),
            Self::Delete => delete_user(engine, user).map(|_| Done::Other),
        }
    }
}
