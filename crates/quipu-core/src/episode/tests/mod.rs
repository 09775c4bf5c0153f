//! Integration tests of the episode module.

mod cutting;
mod story;
mod telling;

use jiff::Timestamp;

use super::EpisodeTurn;
use crate::id::{ItemId, ItemKind};
use crate::source::Role;

fn at(time: &str) -> Timestamp {
    time.parse().expect("a time")
}

/// Turns of a conversation of two people, without times.
fn dialogue<'a>(said: &[(&'a str, &'a str)]) -> Vec<EpisodeTurn<'a>> {
    said.iter()
        .enumerate()
        .map(|(number, &(speaker, text))| EpisodeTurn {
            id: ItemId { kind: ItemKind::Turn, bits: number as u64 },
            text,
            speaker,
            role: Role::User,
            said_at: None,
            vector: None,
        })
        .collect()
}
