//! The file that is imported: chats of a user with an assistant, made from lists of words with a fixed seed.

use std::io::{BufWriter, Write};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use quipu_engine::{Error, Result};

use super::super::statement;
use crate::assistant::Noise;
use crate::corpus::{chat, message};
use crate::worlds::WorldRng;

/// Turns of a chat.
pub(super) const CHAT_TURNS: usize = 20;
/// One message of the user in so many states something that rules read.
const STATEMENT_EVERY: usize = 10;
/// Most sentences of a message.
const SENTENCES_MAX: usize = 3;
/// Time between the beginnings of two chats.
const CHAT_HOURS: i64 = 2;
const SEED: u64 = 7;

/// Writes chats with this many turns as JSON lines. Returns the bytes.
pub(super) fn write(file: &Path, turns: usize) -> Result<u64> {
    let failed = |error: std::io::Error| Error::Unavailable(format!("cannot write {}: {error}", file.display()));
    let mut out = BufWriter::new(std::fs::File::create(file).map_err(failed)?);
    let (noise, mut rng) = (Noise::new()?, WorldRng::new(SEED));
    for number in 0..turns.div_ceil(CHAT_TURNS) {
        let from = number * CHAT_TURNS;
        let begins = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(CHAT_HOURS * number as i64);
        let mut messages = Vec::with_capacity(CHAT_TURNS);
        for turn in from..turns.min(from + CHAT_TURNS) {
            let is_users = turn % 2 == 0;
            let mut sentences = Vec::new();
            if is_users && rng.once_in(STATEMENT_EVERY) {
                sentences.push(statement(turn));
            }
            for _ in 0..=rng.below(SENTENCES_MAX) {
                sentences.push(noise.sentence(is_users, &mut rng)?);
            }
            let said_at = begins + SignedDuration::from_mins((turn - from) as i64);
            let role = if is_users { "user" } else { "assistant" };
            messages.push(message(&format!("m{turn}"), role, said_at, &sentences.join(". ")));
        }
        writeln!(out, "{}", chat(&format!("chat-{number}"), messages.into_iter())).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    Ok(std::fs::metadata(file).map_err(failed)?.len())
}
