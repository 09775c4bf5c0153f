//! The part of the demo about derived facts: an update, a correction, a problem, a conflict, an erasure.

use quipu_core::event::{Actor, SourceKind};
use quipu_core::id::UserId;
use quipu_core::item::ReviewDecision;
use quipu_engine::erase::EraseTarget;
use quipu_engine::{Engine, Error, FactOptions, RememberOptions, Result, Utterance, WriteRequest};

use crate::commands::ask::{derived, facts};
use crate::commands::render;

/// Messages of Ines in April, with their times.
const SAID: [(&str, &str); 5] = [
    ("2026-04-04T09:00:00Z", MOVED),
    ("2026-04-04T09:01:00Z", "Actually, I'm pescatarian, not vegetarian."),
    ("2026-04-04T09:02:00Z", "I keep waking up at night."),
    ("2026-04-04T09:03:00Z", "Taking magnesium did nothing for waking up at night."),
    ("2026-04-04T09:04:00Z", "Cutting out coffee after noon helped with waking up at night."),
];
const MOVED: &str = "I moved to Porto on 28 March 2026.";
/// The message that is erased at the end.
const SECRET: &str = "I love liquorice.";

/// Records the messages. Returns the event of the message that she moved; the next event is derived from it.
pub(super) fn record(engine: &Engine, user: &UserId, print: &dyn Fn(&str) -> Result<()>) -> Result<u64> {
    let moved = add_all(engine, user, print)?;
    print(&format!("$ quipu -u demo facts --predicate lives_in\n{}", homes(engine, user, None)?))?;
    let march = "2026-03-10T00:00:00Z".parse().ok();
    print(&format!(
        "$ quipu -u demo facts --predicate lives_in --valid-at 2026-03-10\n{}",
        homes(engine, user, march)?
    ))?;
    let tasks = quipu_engine::tasks(engine, user, None, false)?;
    let today = engine.local_now(user)?.strftime("%Y-%m-%d").to_string();
    print(&format!(
        "$ quipu -u demo tasks\n{}",
        tasks.iter().map(|task| derived::task(task, &today)).collect::<String>()
    ))?;
    conflict(engine, user, print)?;
    erasure(engine, user, print)?;
    Ok(moved)
}

fn add(engine: &Engine, user: &UserId, at: &str, text: &str, print: &dyn Fn(&str) -> Result<()>) -> Result<u64> {
    let said =
        Utterance { said_at: at.parse().ok(), session: Some("2026-04-04".to_owned()), ..Utterance::of_user(text) };
    let receipt = quipu_engine::remember(engine, user, &said, &RememberOptions::default())?;
    print(&format!(
        "$ quipu -u demo add {text:?}\nEvent {}\n{}",
        receipt.seq,
        render::understood(&receipt.understood)
    ))?;
    Ok(receipt.seq)
}

fn add_all(engine: &Engine, user: &UserId, print: &dyn Fn(&str) -> Result<()>) -> Result<u64> {
    let mut moved = 0;
    for (at, text) in SAID {
        let seq = add(engine, user, at, text, print)?;
        if text == MOVED {
            moved = seq;
        }
    }
    Ok(moved)
}

fn homes(engine: &Engine, user: &UserId, valid_at: Option<jiff::Timestamp>) -> Result<String> {
    let options = FactOptions { valid_at, predicate: Some("lives_in".to_owned()), ..FactOptions::default() };
    Ok(quipu_engine::facts(engine, user, &options)?.iter().map(|one| facts::fact(one, engine.now())).collect())
}

/// A tool contradicts a fact: nothing changes, and a review is proposed.
fn conflict(engine: &Engine, user: &UserId, print: &dyn Fn(&str) -> Result<()>) -> Result<()> {
    let json = r#"{"facts": [{"predicate": "lives_in", "object": "Lyon"}]}"#;
    let request: WriteRequest = serde_json::from_str(json).map_err(|error| Error::Bug(error.to_string()))?;
    let report = quipu_engine::write(engine, user, &request, SourceKind::ToolOutput)?;
    let understood = render::understood(&report.understood);
    print(&format!("$ echo '{json}' | quipu -u demo write - --from tool\n{understood}"))?;
    let all = quipu_engine::conflicts(engine, user)?;
    print(&format!("$ quipu -u demo conflicts\n{}", all.iter().map(facts::conflict).collect::<String>()))?;
    let pending = quipu_engine::reviews(engine, user, false)?;
    let review = pending.iter().find(|one| one.review.question.contains("Lyon"));
    let id =
        review.map(|one| one.review.id.to_string()).ok_or_else(|| Error::Bug("no review was proposed".to_owned()))?;
    let receipt = quipu_engine::decide_review(engine, user, &id, &ReviewDecision::Declined, Actor::User, None)?;
    print(&format!(
        "$ quipu -u demo review decline {id}\nEvent {}: the statement of the tool was never true\n",
        receipt.seq
    ))
}

/// Writes statements of an assistant, which need a review.
pub(super) fn propose(engine: &Engine, user: &UserId) -> Result<()> {
    let json = r#"{
        "facts": [{"predicate": "lives_in", "object": "Lisbon"}],
        "tenets": [
            {"kind": "preference", "text": "Prefers the train to the plane"},
            {"kind": "policy", "text": "Keeps the evening before a race free"}
        ]
    }"#;
    let request: WriteRequest = serde_json::from_str(json).map_err(|error| Error::Bug(error.to_string()))?;
    quipu_engine::write(engine, user, &request, SourceKind::AssistantSaid).map(drop)
}

/// Records a message, and erases it with everything derived from it.
fn erasure(engine: &Engine, user: &UserId, print: &dyn Fn(&str) -> Result<()>) -> Result<()> {
    let seq = add(engine, user, "2026-04-04T09:05:00Z", SECRET, print)?;
    let receipt = quipu_engine::erase(engine, user, &[EraseTarget::Event(seq)], "asked by the user", &mut |_| {})?;
    let gone: Vec<String> = receipt.erased.iter().map(ToString::to_string).collect();
    print(&format!(
        "$ quipu -u demo erase {seq} --yes\nEvent {} records that {} are gone: the words, the fact and the patch\nCleaned: {}\n",
        receipt.event_seq,
        gone.join(", "),
        receipt.rebuilt.join(", ")
    ))
}
