//! Noise: unrelated turns with the assistant, added to the same memory.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use quipu_engine::{Error, Result};
use serde::Deserialize;
use serde_json::Value;

use super::super::corpus::{chat, message};
use super::super::worlds::WorldRng;

const WORDS: &str = include_str!("noise.toml");

/// Turns in a session.
const SESSION: usize = 20;
/// The period over which they are spread.
const YEAR: SignedDuration = SignedDuration::from_hours(24 * 365);
/// Upper bound of numbers in a sentence, exclusive.
const NUMBERS: usize = 90;

/// Sentences that answer no question about the user.
pub(crate) struct Noise(NoiseWords);

impl Noise {
    pub(crate) fn new() -> Result<Self> {
        let words = toml::from_str(WORDS);
        words.map(Self).map_err(|error| Error::Bug(format!("the words of the noise: {error}")))
    }

    /// A sentence of the user, or of the assistant.
    pub(crate) fn sentence(&self, is_users: bool, dice: &mut WorldRng) -> Result<String> {
        let speaker = if is_users { &self.0.user } else { &self.0.assistant };
        sentence(&self.0.lists, &speaker.lines, dice)
    }
}

#[derive(Deserialize)]
struct NoiseWords {
    lists: BTreeMap<String, Vec<String>>,
    user: Speaker,
    assistant: Speaker,
}

#[derive(Deserialize)]
struct Speaker {
    lines: Vec<String>,
}

/// Makes this many turns, alternating between user and assistant, in sessions spread over the year before `until`,
/// earliest first. The same seed gives the same turns.
pub(super) fn chats(seed: u64, turns: usize, until: Timestamp) -> Result<Vec<Value>> {
    let noise = Noise::new()?;
    let mut dice = WorldRng::new(seed);
    let sessions = turns.div_ceil(SESSION);
    let step = YEAR / i32::try_from(sessions + 1).unwrap_or(i32::MAX);
    let mut chats = Vec::with_capacity(sessions);
    for session in 0..sessions {
        let begins = until - step * i32::try_from(sessions - session).unwrap_or(i32::MAX);
        let from = session * SESSION;
        let mut messages = Vec::new();
        for (place, number) in (from..turns.min(from + SESSION)).enumerate() {
            let is_users = place % 2 == 0;
            let role = if is_users { "user" } else { "assistant" };
            let text = noise.sentence(is_users, &mut dice)?;
            let said_at = begins + SignedDuration::from_mins(place as i64);
            messages.push(message(&format!("noise-{}", number + 1), role, said_at, &text));
        }
        chats.push(chat(&format!("noise-{}", session + 1), messages.into_iter()));
    }
    Ok(chats)
}

/// Fills the placeholders of a line.
fn sentence(lists: &BTreeMap<String, Vec<String>>, lines: &[String], dice: &mut WorldRng) -> Result<String> {
    let mut text = dice.pick(lines).cloned().unwrap_or_default();
    // A filled-in value may contain placeholders too.
    while let Some((before, rest)) = text.split_once('{') {
        let broken = || Error::Bug(format!("the words of the noise: {text:?} has a place nothing fits"));
        let (name, behind) = rest.split_once('}').ok_or_else(broken)?;
        let fill = match name {
            "number" => (dice.below(NUMBERS) + 2).to_string(),
            _ => lists.get(name).and_then(|list| dice.pick(list)).ok_or_else(broken)?.clone(),
        };
        text = format!("{before}{fill}{behind}");
    }
    Ok(text)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn noise_is_varied_dated_before_and_the_same_for_a_seed() {
        let until: Timestamp = "2026-02-03T19:10:00Z".parse().unwrap();
        let made = chats(7, 1990, until).unwrap();
        assert_eq!(made, chats(7, 1990, until).unwrap());
        assert_ne!(made, chats(8, 1990, until).unwrap());
        assert_eq!(made.len(), 100);
        let messages: Vec<&Value> = made.iter().flat_map(|chat| chat["messages"].as_array().unwrap()).collect();
        assert_eq!(messages.len(), 1990);
        let times: Vec<Timestamp> =
            messages.iter().map(|one| one["created_at"].as_str().unwrap().parse().unwrap()).collect();
        assert!(times.is_sorted() && *times.last().unwrap() < until && times[0] >= until - YEAR);
        let texts: BTreeSet<&str> = messages.iter().map(|one| one["content"].as_str().unwrap()).collect();
        assert!(texts.len() > 1200, "{} different texts", texts.len());
        assert!(texts.iter().all(|text| !text.contains(['{', '}'])));
    }

    #[test]
    fn every_line_can_be_filled() {
        let words: NoiseWords = toml::from_str(WORDS).unwrap();
        let mut dice = WorldRng::new(1);
        let lines = words.user.lines.iter().chain(&words.assistant.lines).chain(words.lists.values().flatten());
        for line in lines {
            sentence(&words.lists, std::slice::from_ref(line), &mut dice).unwrap();
        }
    }
}
