//! Executes the steps of a script.

use std::fmt::Debug;

use quipu_core::core_document;
use quipu_core::id::UserId;
use quipu_engine::erase::EraseTarget;
use quipu_engine::log::EventStatus;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    CoreEdit, Error, PatchOptions, PromoteRequest, RecallOptions, RememberOptions, Utterance, chosen, core_at,
    edit_core, erase, fork, mark, pick, promote, rebuild, recall, remember, revert, snapshot, status, verify,
};

use super::growing;
use super::words::LineRest;
use super::world::World;

pub(super) type Outcome = Result<(), String>;

/// Executes one step.
pub(super) fn take(world: &mut World, words: &mut LineRest<'_>) -> Outcome {
    if !words.takes("refused") {
        return step(world, words)?.map_err(|error| format!("was refused: {error:?}"));
    }
    let wanted = words.need("the kind of refusal")?.to_owned();
    let user = UserId::parse("me").expect("a user id");
    let picture =
        |world: &World| (status(&world.engine, &user).map(|now| (now.version, now.head)).ok(), core_now(world, &user));
    let before = picture(world);
    let outcome = step(world, words)?;
    let found = match &outcome {
        Ok(()) => "no error".to_owned(),
        Err(error) => format!("{error:?}").split('(').next().unwrap_or_default().to_owned(),
    };
    same("the refusal", &found, &wanted).map_err(|reason| format!("{reason} ({outcome:?})"))?;
    same("what was there before the refusal", &picture(world), &before)
}

fn core_now(world: &World, user: &UserId) -> Option<serde_json::Value> {
    core_at(&world.engine, user, When::Now).ok()
}

pub(super) fn same<T: PartialEq + Debug>(what: &str, found: &T, wanted: &T) -> Outcome {
    if found == wanted { Ok(()) } else { Err(format!("{what}: found {found:?}, expected {wanted:?}")) }
}

/// The outer error is one of the script, the inner one of the engine.
pub(super) type Step = Result<Result<(), Error>, String>;

fn step(world: &mut World, words: &mut LineRest<'_>) -> Step {
    let name = if words.takes("of") { words.need("a user")? } else { "me" };
    let user = UserId::parse(name).map_err(|refusal| refusal.to_string())?;
    let at = if words.takes("at") { When::Seq(words.number()?) } else { When::Now };
    let verb = words.need("a verb")?;
    match verb {
        "said" | "set" | "unset" | "patch" | "promote" | "pin" | "unpin" | "rate" | "revert" => {
            act(world, &user, verb, words).map(|done| done.map(|receipt| world.receipt = Some(receipt)))
        }
        "erase" | "fork" | "pick" | "reopen" | "rebuild" | "snapshot" => work(world, &user, verb, words),
        "asked" | "kept" | "counted" | "told" | "compacted" => growing::grow(world, &user, verb, words),
        _ => look(world, &user, at, verb, words).map(Ok),
    }
}

fn act(
    world: &World,
    user: &UserId,
    verb: &str,
    words: &mut LineRest<'_>,
) -> Result<Result<quipu_engine::Receipt, Error>, String> {
    let engine = &world.engine;
    let edit = |edit: CoreEdit| edit_core(engine, user, &edit, &PatchOptions::default());
    Ok(match verb {
        "said" => {
            let mut said = Utterance::of_user(words.quoted()?);
            if words.takes("in") {
                said.session = Some(words.need("a session")?.to_owned());
            }
            if words.takes("on") {
                let day = words.need("a day")?;
                said.said_at = Some(format!("{day}T12:00:00Z").parse().map_err(|_| format!("{day:?} is no day"))?);
            }
            let key = if words.takes("key") { Some(words.need("a key")?.to_owned()) } else { None };
            remember(engine, user, &said, &RememberOptions { idempotency_key: key, ..RememberOptions::default() })
        }
        "set" => {
            let pointer = words.need("a pointer")?.to_owned();
            edit(CoreEdit::Set(pointer, words.json()?.ok_or("a value is missing")?))
        }
        "unset" => edit(CoreEdit::Unset(words.need("a pointer")?.to_owned())),
        "patch" => match core_document::parse(&words.json()?.ok_or("a patch is missing")?.to_string()) {
            Ok(patch) => edit(CoreEdit::Patch(patch)),
            Err(refusal) => Err(refusal.into()),
        },
        "promote" => {
            let candidate = words.need("a pattern")?.to_owned();
            let proposed_name = words.next().map(str::to_owned);
            let request = PromoteRequest { candidate, proposed_name, ..PromoteRequest::default() };
            promote(engine, user, &request).map(|done| done.receipt.expect("a promotion has a receipt"))
        }
        "revert" => {
            let selection = if words.takes("session") {
                Selection::Session(words.need("a session")?.to_owned())
            } else if words.takes("since") {
                Selection::Since(When::Seq(words.number()?))
            } else {
                Selection::Events(words.numbers()?.into_iter().map(EventRef::Seq).collect())
            };
            revert(engine, user, &selection, &RevertOptions::default(), &mut |_| {}).map(|(receipt, _)| receipt)
        }
        _ => {
            let item = world.item_of(user, words.number()?);
            match verb {
                "pin" => mark(engine, user, &item, Some(true), None),
                "unpin" => mark(engine, user, &item, Some(false), None),
                _ => mark(engine, user, &item, None, Some(words.number()?)),
            }
        }
    })
}

fn work(world: &mut World, user: &UserId, verb: &str, words: &mut LineRest<'_>) -> Step {
    let engine = &world.engine;
    Ok(match verb {
        "erase" => {
            let targets: Vec<EraseTarget> = words.numbers()?.into_iter().map(EraseTarget::Event).collect();
            erase(engine, user, &targets, "asked to", &mut |_| {}).map(drop)
        }
        "fork" => {
            let into = UserId::parse(words.need("a user")?).map_err(|refusal| refusal.to_string())?;
            let at = if words.takes("at") { When::Seq(words.number()?) } else { When::Now };
            fork(engine, user, &into, at, &mut |_| {}).map(drop)
        }
        "pick" => {
            let events: Vec<EventRef> = words.numbers()?.into_iter().map(EventRef::Seq).collect();
            words.takes("into");
            let into = UserId::parse(words.need("a user")?).map_err(|refusal| refusal.to_string())?;
            let picked = chosen(engine, user, &events).and_then(|events| pick(engine, &events, &into, &mut |_| {}));
            picked.map(|picked| world.picked = Some(picked))
        }
        "reopen" => {
            world.reopen();
            Ok(())
        }
        "rebuild" => match rebuild(engine, user, &mut |_| {}) {
            Ok(rebuilt) if !rebuilt.identical => return Err(format!("the rebuilt memory differs: {rebuilt:?}")),
            outcome => outcome.map(drop),
        },
        _ => snapshot(engine, user).map(drop),
    })
}

fn look(world: &World, user: &UserId, at: When, verb: &str, words: &mut LineRest<'_>) -> Outcome {
    let engine = &world.engine;
    let broken = |error: Error| error.to_string();
    match verb {
        "says" => {
            let found: Vec<String> = world.items(user, at).into_iter().map(|item| item.text).collect();
            same("the items", &found, &words.all_quoted()?)
        }
        "core" => {
            let pointer = words.need("a pointer")?.to_owned();
            let found = core_at(engine, user, at).map_err(broken)?.pointer(&pointer).cloned();
            same("the core document", &found, &words.json()?)
        }
        "orphans" => same("the orphans", &world.standing(user, EventStatus::Orphaned), &words.numbers()?),
        "skipped" => same("the skipped events", &world.standing(user, EventStatus::Reverted), &words.numbers()?),
        "erased" => same("the erased events", &world.erased(user), &words.numbers()?),
        "version" => same("the version", &status(engine, user).map_err(broken)?.version, &words.number()?),
        "marked" => {
            let name = world.item_of(user, words.number()?);
            let pinned = words.need("pinned or unpinned")? == "pinned";
            let items = world.items(user, at);
            let item = items.iter().find(|item| item.id.to_string() == name).ok_or("the item is not there")?;
            same("the marks", &(item.marks.pinned, item.marks.rating), &(pinned, words.number()?))
        }
        "recalls" => {
            let options = RecallOptions { at, ..RecallOptions::of(&words.quoted()?) };
            let hits = recall(engine, user, &options).map_err(broken)?.hits;
            same("the first answer", &hits.into_iter().take(1).map(|hit| hit.text).collect(), &words.all_quoted()?)
        }
        "replayed" => same("replayed", &world.receipt.as_ref().is_some_and(|receipt| receipt.replayed), &true),
        "left-out" => {
            let found = world.picked.iter().flat_map(|picked| picked.left_out.iter().map(|(seq, _)| *seq)).collect();
            same("what the pick left out", &found, &words.numbers()?)
        }
        "hits" | "active" => growing::look(world, user, verb, words),
        "intact" => {
            let report = verify(engine, user, &[], &mut |_| {}).map_err(broken)?;
            if report.is_intact() { Ok(()) } else { Err(format!("the ledger is not intact: {report:?}")) }
        }
        other => Err(format!("there is no step {other:?}")),
    }
}
