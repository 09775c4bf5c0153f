//! The part of the demo about what is understood: an update, a correction, a problem, a conflict, an erasure.

use quipu_core::event::{Actor, SourceKind};
use quipu_core::id::UserId;
use quipu_core::item::ReviewDecision;
use quipu_engine::erase::EraseTarget;
use quipu_engine::{Engine, Error, FactOptions, RememberOptions, Result, Utterance, WriteRequest};

use super::super::people;

/// What Ines says in April, and the day she says it.
const SAID: [(&str, &str); 5] = [
    ("2026-04-04T09:00:00Z", MOVED),
    ("2026-04-04T09:01:00Z", "Actually, I'm pescatarian, not vegetarian."),
    ("2026-04-04T09:02:00Z", "I keep waking up at night."),
    ("2026-04-04T09:03:00Z", "Taking magnesium did nothing for waking up at night."),
    ("2026-04-04T09:04:00Z", "Cutting out coffee after noon helped with waking up at night."),
];
const MOVED: &str = "I moved to Porto on 28 March 2026.";
/// What is erased at the end.
const SECRET: &str = "I love liquorice.";

/// Tells it all. Returns the event that says she moved; the next one is what was understood of it.
pub(super) fn tell(engine: &Engine, user: &UserId, tell: &dyn Fn(&str) -> Result<()>) -> Result<u64> {
    let moved = say_all(engine, user, tell)?;
    tell(&format!("$ quipu -u demo facts --predicate lives_in\n{}", homes(engine, user, None)?))?;
    let march = "2026-03-10T00:00:00Z".parse().ok();
    tell(&format!(
        "$ quipu -u demo facts --predicate lives_in --valid-at 2026-03-10\n{}",
        homes(engine, user, march)?
    ))?;
    let tasks = quipu_engine::tasks(engine, user, None, false)?;
    tell(&format!("$ quipu -u demo tasks\n{}", tasks.iter().map(people::task).collect::<String>()))?;
    conflict(engine, user, tell)?;
    erasure(engine, user, tell)?;
    Ok(moved)
}

fn say(engine: &Engine, user: &UserId, at: &str, text: &str, tell: &dyn Fn(&str) -> Result<()>) -> Result<u64> {
    let said =
        Utterance { said_at: at.parse().ok(), session: Some("2026-04-04".to_owned()), ..Utterance::of_user(text) };
    let receipt = quipu_engine::remember(engine, user, &said, &RememberOptions::default())?;
    tell(&format!("$ quipu -u demo add {text:?}\nEvent {}\n{}", receipt.seq, people::understood(&receipt.understood)))?;
    Ok(receipt.seq)
}

fn say_all(engine: &Engine, user: &UserId, tell: &dyn Fn(&str) -> Result<()>) -> Result<u64> {
    let mut moved = 0;
    for (at, text) in SAID {
        let seq = say(engine, user, at, text, tell)?;
        if text == MOVED {
            moved = seq;
        }
    }
    Ok(moved)
}

fn homes(engine: &Engine, user: &UserId, valid_at: Option<jiff::Timestamp>) -> Result<String> {
    let options = FactOptions { valid_at, predicate: Some("lives_in".to_owned()), ..FactOptions::default() };
    Ok(quipu_engine::facts(engine, user, &options)?.iter().map(|one| people::fact(one, engine.now())).collect())
}

/// A tool says something else: it changes nothing, and the user is asked.
fn conflict(engine: &Engine, user: &UserId, tell: &dyn Fn(&str) -> Result<()>) -> Result<()> {
    let json = r#"{"facts": [{"predicate": "lives_in", "object": "Lyon"}]}"#;
    let request: WriteRequest = serde_json::from_str(json).map_err(|error| Error::Bug(error.to_string()))?;
    let report = quipu_engine::write(engine, user, &request, SourceKind::ToolOutput)?;
    let understood = people::understood(&report.understood);
    tell(&format!("$ echo '{json}' | quipu -u demo write - --from tool\n{understood}"))?;
    let all = quipu_engine::conflicts(engine, user)?;
    tell(&format!("$ quipu -u demo conflicts\n{}", all.iter().map(people::conflict).collect::<String>()))?;
    let waiting = quipu_engine::reviews(engine, user, false)?;
    let asked = waiting.iter().find(|one| one.review.question.contains("Lyon"));
    let id =
        asked.map(|one| one.review.id.to_string()).ok_or_else(|| Error::Bug("no question was asked".to_owned()))?;
    let receipt = quipu_engine::decide_review(engine, user, &id, &ReviewDecision::Declined, Actor::User, None)?;
    tell(&format!("$ quipu -u demo review decline {id}\nEvent {}: what the tool said was never true\n", receipt.seq))
}

/// An assistant thinks it knows more of her: that waits for her.
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

/// Something is said, and erased with everything that came of it.
fn erasure(engine: &Engine, user: &UserId, tell: &dyn Fn(&str) -> Result<()>) -> Result<()> {
    let seq = say(engine, user, "2026-04-04T09:05:00Z", SECRET, tell)?;
    let receipt = quipu_engine::erase(engine, user, &[EraseTarget::Event(seq)], "asked by the user", &mut |_| {})?;
    let gone: Vec<String> = receipt.erased.iter().map(ToString::to_string).collect();
    tell(&format!(
        "$ quipu -u demo erase {seq} --yes\nEvent {} records that {} are gone: the words, the fact and the patch\nCleaned: {}\n",
        receipt.event_seq,
        gone.join(", "),
        receipt.rebuilt.join(", ")
    ))
}
