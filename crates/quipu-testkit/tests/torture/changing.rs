//! Operations that change existing items and decide reviews.

use quipu_core::event::{Actor, SourceKind};
use quipu_core::item::{ReviewDecision, TaskStatus};
use quipu_engine::erase::{EraseTarget, delete_user, delete_user_with_keys};
use quipu_engine::fork::{chosen, pick};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    CoreEdit, Error, PatchOptions, PromoteRequest, RecallOptions, Result, WriteRequest, close_fact, correct_fact,
    decide_review, edit_core, erase, evolve, fork, mark, merge, notes as notes_of, preview_erase, preview_revert,
    promote, propose, recall, relay_decision, retract, revert, reword, score_fact, set_task_status, undo_review, write,
};
use serde_json::json;

use crate::verb::{Verb, verb};
use crate::worker::{Worker, none};

pub(crate) const VERBS: &[Verb] = &[
    verb("edit_core", 40, edits),
    verb("mark", 15, |w| {
        let user = w.user();
        let (item, memory) = (w.item(&user)?, w.at(&user)?);
        mark(w.engine, memory, &item.to_string(), Some(w.dice.once_in(2)), Some(w.dice.below(5) as i8)).map(drop)
    }),
    verb("reword", 10, |w| {
        let user = w.user();
        let (item, memory) = (w.item(&user)?, w.at(&user)?);
        reword(w.engine, memory, &item.to_string(), "I said it in other words.").map(drop)
    }),
    verb("retract", 8, |w| {
        let user = w.user();
        let (fact, memory) = (w.fact(&user)?, w.at(&user)?);
        retract(w.engine, memory, &fact.to_string(), "it is wrong").map(drop)
    }),
    verb("close_fact", 6, |w| {
        let user = w.user();
        let (fact, memory) = (w.fact(&user)?, w.at(&user)?);
        close_fact(w.engine, memory, &fact.to_string(), "2026-06-01T00:00:00Z".parse().expect("a time")).map(drop)
    }),
    verb("correct_fact", 8, |w| {
        let user = w.user();
        let (fact, memory) = (w.fact(&user)?, w.at(&user)?);
        correct_fact(w.engine, memory, &fact.to_string(), "Faro").map(drop)
    }),
    verb("score_fact", 6, |w| {
        let user = w.user();
        let (fact, memory) = (w.fact(&user)?, w.at(&user)?);
        score_fact(w.engine, memory, &fact.to_string(), 1 + w.dice.below(5) as u8).map(drop)
    }),
    verb("set_task_status", 8, |w| {
        let user = w.user();
        let tasks = quipu_engine::tasks(w.engine, &user, None, true)?;
        let (task, memory) = (w.dice.pick(&tasks).map(|task| task.id).ok_or_else(none)?, w.at(&user)?);
        let status = [TaskStatus::Done, TaskStatus::Active, TaskStatus::Dropped, TaskStatus::Stalled][w.dice.below(4)];
        set_task_status(w.engine, memory, &task.to_string(), status).map(drop)
    }),
    verb("merge", 6, merges),
    verb("promote", 5, promotes),
    verb("propose", 10, |w| {
        let user = w.user();
        let fact = w.fact(&user)?;
        let wanted = quipu_engine::ProposedAction::Gone;
        propose(w.engine, &user, &fact.to_string(), &wanted, "it is old", "torture").map(drop)
    }),
    verb("decide_review", 15, |w| {
        let user = w.user();
        let (review, memory) = (w.review(&user, false)?, w.at(&user)?);
        let decision = decision(w);
        decide_review(w.engine, memory, &review, &decision, Actor::User, None).map(drop)
    }),
    verb("undo_review", 8, |w| {
        let user = w.user();
        let (review, memory) = (w.review(&user, true)?, w.at(&user)?);
        undo_review(w.engine, memory, &review).map(drop)
    }),
    verb("relay_decision", 10, relays),
    verb("revert", 15, |w| {
        let user = w.user();
        let (selection, memory) = (selection(w, &user)?, w.at(&user)?);
        let (receipt, _) = revert(w.engine, memory, &selection, &RevertOptions::default(), &mut |_| {})?;
        w.acknowledged(&receipt);
        Ok(())
    }),
    verb("preview_revert", 8, |w| {
        let user = w.user();
        let selection = selection(w, &user)?;
        let probes = vec!["Where do I live?".to_owned()];
        preview_revert(w.engine, &user, &selection, &RevertOptions { probes, ..RevertOptions::default() }).map(drop)
    }),
    verb("erase", 20, erases),
    verb("preview_erase", 6, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        preview_erase(w.engine, &user, &[EraseTarget::Item(item)]).map(drop)
    }),
    verb("erase::delete_user", 6, |w| deletes(w, false)),
    verb("erase::delete_user_with_keys", 3, |w| deletes(w, true)),
    verb("fork", 8, |w| {
        let (user, into) = (w.user(), w.copy());
        let at = w.when(&user)?;
        // A name that is in use is refused, so sometimes it is freed first.
        if w.dice.once_in(2) {
            gone(delete_user(w.engine, &into))?;
        }
        let receipt = fork(w.engine, &user, &into, at, &mut |_| {})?;
        w.acknowledged(&receipt);
        Ok(())
    }),
    verb("chosen", 3, |w| {
        let user = w.user();
        let seq = w.seq(&user)?;
        chosen(w.engine, &user, &[EventRef::Seq(seq)]).map(drop)
    }),
    verb("pick", 8, |w| {
        let (user, into) = (w.user(), w.copy());
        let events: Vec<EventRef> = (0..3).map(|_| w.seq(&user).map(EventRef::Seq)).collect::<Result<_>>()?;
        let events = chosen(w.engine, &user, &events)?;
        pick(w.engine, &events, &into, &mut |_| {}).map(drop)
    }),
];

fn edits(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let pointer = format!("/uncategorized/sleep_note_{}", w.dice.below(8));
    let edit = if w.dice.once_in(5) { CoreEdit::Unset(pointer) } else { CoreEdit::Set(pointer, json!(w.word())) };
    let memory = w.at(&user)?;
    let receipt = edit_core(w.engine, memory, &edit, &PatchOptions::default())?;
    w.acknowledged(&receipt);
    Ok(())
}

/// Merges two notes with the same content.
fn merges(w: &mut Worker<'_>) -> Result<()> {
    let (user, word) = (w.user(), w.word());
    let notes = [format!("The user keeps {word} in the attic"), format!("A bicycle of {word} belongs to the user")];
    let request = json!({"notes": notes.map(|text| json!({"text": text}))});
    let request: WriteRequest = serde_json::from_value(request).expect("a request");
    write(w.engine, &user, &request, SourceKind::UserSaid)?;
    let notes = notes_of(w.engine, &user, None)?;
    let [.., one, other] = notes.as_slice() else { return Err(none()) };
    let memory = w.at(&user)?;
    merge(w.engine, memory, &[one.id.to_string()], &other.id.to_string()).map(drop)
}

/// An agent makes a request and then passes on that the user declines it.
fn relays(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let fact = w.fact(&user)?;
    let wanted = quipu_engine::ProposedAction::Gone;
    let review = propose(w.engine, &user, &fact.to_string(), &wanted, "it is old", "torture")?;
    relay_decision(w.engine, &user, &review.id.to_string(), &ReviewDecision::Declined, "leave it").map(drop)
}

fn promotes(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let dry = quipu_engine::EvolveOptions { dry_run: true, ..Default::default() };
    let found = evolve(w.engine, &user, &dry)?;
    let candidate = w.dice.pick(&found.patterns).map(|one| one.survey.candidate.key.clone()).ok_or_else(none)?;
    let memory = w.at(&user)?;
    promote(w.engine, memory, &PromoteRequest { candidate, ..PromoteRequest::default() }).map(drop)
}

fn decision(w: &mut Worker<'_>) -> ReviewDecision {
    match w.dice.below(3) {
        0 => ReviewDecision::Approved,
        1 => ReviewDecision::Edited { text: "Faro".to_owned() },
        _ => ReviewDecision::Declined,
    }
}

fn selection(w: &mut Worker<'_>, user: &quipu_core::id::UserId) -> Result<Selection> {
    Ok(match w.dice.below(12) {
        0 => Selection::Session(w.session()),
        1 => Selection::Reference("migrate".to_owned()),
        _ => Selection::Events(vec![EventRef::Seq(w.seq(user)?)]),
    })
}

/// Erases a word and searches for it in all engines at once.
fn erases(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let nth = w.dice.below(1 << 20);
    let word = w.world.said.register().take(&user, nth).ok_or_else(none)?;
    let memory = w.at(&user)?;
    let receipt = match erase(w.engine, memory, &[EraseTarget::Item(word.item)], "asked to", &mut |_| {}) {
        Ok(receipt) => receipt,
        Err(error) => {
            // Nothing was erased, so the word must still be present at the end.
            w.world.said.register().kept.push(word);
            return Err(error);
        }
    };
    w.lags(receipt.lag.as_deref());
    for engine in [w.engine, w.other] {
        let found = match recall(engine, &user, &RecallOptions::of(&word.word)) {
            Err(Error::NotFound(_)) => continue,
            outcome => outcome?,
        };
        let told = found.hits.iter().find(|hit| word.is_in(&hit.text)).map(|hit| &hit.text);
        assert_eq!(told, None, "{user}: {} is found after it was erased", word.word);
    }
    w.world.said.register().erased.push(word);
    Ok(())
}

fn deletes(w: &mut Worker<'_>, with_keys: bool) -> Result<()> {
    let user = w.user();
    let memory = w.at(&user)?;
    let began = w.world.said.step();
    if with_keys {
        delete_user_with_keys(w.engine, &w.world.keys, memory)?;
    } else {
        delete_user(w.engine, memory)?;
    }
    let ended = w.world.said.step();
    w.world.said.register().deleted.entry(user).or_default().push((began, ended));
    Ok(())
}

/// Accepts `NotFound`: deleting something that does not exist is fine.
pub(crate) fn gone<T>(outcome: Result<T>) -> Result<()> {
    match outcome {
        Err(Error::NotFound(_)) | Ok(_) => Ok(()),
        Err(other) => Err(other),
    }
}
