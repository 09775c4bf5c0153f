//! Imports a world, and records what the rules cannot read and what a weak source changes.

use std::collections::BTreeSet;

use quipu_core::extract::{Extraction, FactCandidate, Reading, Stance, USER};
use quipu_core::id::{ItemId, UserId};
use quipu_core::predicate::normal;
use quipu_core::source::Role;
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::ports::Extractor;
use quipu_engine::{Error, FactOptions, IngestOptions, RememberOptions, Result, Utterance};

use super::super::worlds::{ExpectedReading, Slot, World, WorldMessage, WorldSpeaker, at};
use super::place::SeededEngine;

/// Result of importing a world.
#[derive(Debug, Default)]
pub(crate) struct ToldWorld {
    /// Sentences imported.
    pub(crate) sentences: usize,
    /// Sentences that the rules did not read as intended.
    pub(crate) unread: Vec<String>,
    /// Slots with such a sentence; questions about them would test the rules.
    pub(crate) set_aside: BTreeSet<usize>,
    /// Values that ended after a message of a weak source.
    pub(crate) overwritten: Vec<String>,
}

pub(crate) fn tell(place: &SeededEngine, user: &UserId, world: &World) -> Result<ToldWorld> {
    let mut heard = ToldWorld::default();
    for (number, telling) in world.tellings.iter().enumerate() {
        heard.sentences += 1;
        if let Some(slot) = telling.slot
            && !is_read(place, &world.slots[slot], telling)?
        {
            heard.unread.push(telling.text.clone());
            heard.set_aside.insert(slot);
        }
        let before = if telling.voice.is_weak() { holding(place, user)? } else { BTreeSet::new() };
        say(place, user, telling, number)?;
        if telling.voice.is_weak() {
            let after = holding(place, user)?;
            let lost = before.difference(&after).map(|(_, text)| format!("{text}: lost to {:?}", telling.text));
            heard.overwritten.extend(lost);
        }
    }
    Ok(heard)
}

fn holding(place: &SeededEngine, user: &UserId) -> Result<BTreeSet<(ItemId, String)>> {
    match quipu_engine::facts(&place.engine, user, &FactOptions::default()) {
        Ok(found) => Ok(found.into_iter().map(|shown| (shown.fact.id, shown.fact.text)).collect()),
        Err(Error::NotFound(_)) => Ok(BTreeSet::new()),
        Err(other) => Err(other),
    }
}

/// The minute of the day at which messages begin.
const MORNING: i32 = 9 * 60;

fn say(place: &SeededEngine, user: &UserId, telling: &WorldMessage, number: usize) -> Result<()> {
    // One second after it was said, or long after.
    let minute = MORNING + i32::try_from(number % 600).unwrap_or(0);
    place.put(at(telling.day, minute));
    let role = match &telling.voice {
        WorldSpeaker::User => Role::User,
        WorldSpeaker::Tool => Role::Tool,
        WorldSpeaker::Assistant => Role::Assistant,
        WorldSpeaker::Archive => return import(place, user, telling, number, None),
        WorldSpeaker::Import(author) => return import(place, user, telling, number, author.as_deref()),
    };
    let said = Utterance {
        role,
        session: Some(format!("month {}", telling.day / 30)),
        said_at: Some(at(telling.said, minute)),
        ..Utterance::of_user(telling.text.clone())
    };
    let receipt = quipu_engine::remember(&place.engine, user, &said, &RememberOptions::default())?;
    receipt.lag.map_or(Ok(()), |lag| Err(Error::Bug(lag)))
}

fn import(
    place: &SeededEngine,
    user: &UserId,
    telling: &WorldMessage,
    number: usize,
    author: Option<&str>,
) -> Result<()> {
    let mut message = serde_json::json!({
        "role": "user",
        "content": telling.text,
        "created_at": at(telling.said, MORNING).to_string(),
    });
    if let Some(author) = author {
        message["name"] = author.into();
    }
    let name = format!("{user}-{number}.jsonl");
    let line = serde_json::json!({"session_id": format!("import {number}"), "messages": [message]});
    let path = place.file(&name, &format!("{line}\n"))?;
    let options = IngestOptions {
        dry_run: false,
        conversation: None,
        extract: true,
        own_words: telling.voice == WorldSpeaker::Archive,
        me: None,
        into: Some(user.clone()),
        default_user: user.clone(),
        read: ReadOptions::default(),
    };
    let (_, fault) = quipu_engine::ingest(&place.engine, ImportFormat::OpenAi, &path, &options, &mut |_| {});
    fault.map_or(Ok(()), Err)
}

/// True if the rules read what was intended, and nothing else about the same slot.
fn is_read(place: &SeededEngine, slot: &Slot, telling: &WorldMessage) -> Result<bool> {
    let speaker = match &telling.voice {
        WorldSpeaker::Tool | WorldSpeaker::Assistant => return Ok(true),
        // A denial by a stranger may be read in any way, as long as it changes nothing.
        WorldSpeaker::Import(_) if telling.claim.is_none() => return Ok(true),
        WorldSpeaker::Import(Some(author)) => author,
        _ => USER,
    };
    let said_at = Some(at(telling.said, MORNING));
    let reading = Reading { speaker, ..Reading::of_user(&telling.text, said_at) };
    let found: Extraction = place.extractor.read(&reading).map_err(|error| Error::Bug(error.to_string()))?;
    let of_slot = |fact: &&FactCandidate| {
        (fact.predicate == slot.predicate || telling.claim.is_none()) && fact.subject == slot.subject
    };
    let found: Vec<&FactCandidate> = found.facts.iter().filter(of_slot).collect();
    Ok(match (&telling.claim, found.as_slice()) {
        (None, []) => true,
        (Some((value, told)), [fact]) => normal(&fact.object) == normal(value) && fits(*told, &fact.stance),
        _ => false,
    })
}

fn fits(told: ExpectedReading, stance: &Stance) -> bool {
    match told {
        ExpectedReading::New => matches!(stance, Stance::Holds | Stance::Changed),
        ExpectedReading::Held => *stance == Stance::Held,
        ExpectedReading::Ended => *stance == Stance::Ended,
        ExpectedReading::Corrects => matches!(stance, Stance::Corrects { not: Some(_) }),
    }
}
