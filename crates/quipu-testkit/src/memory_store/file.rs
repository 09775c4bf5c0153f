//! Backup files of the store in memory: the user on the first line, then one event on each line.

use std::fs;
use std::path::Path;

use quipu_core::id::UserId;
use quipu_core::ledger::{SealedEvent, read_line, write_line};
use quipu_engine::ports::StoreError;

pub(super) fn write(user: &UserId, events: &[SealedEvent], to: &Path) -> Result<(), StoreError> {
    let mut text = format!("{user}\n");
    for event in events {
        text.push_str(&write_line(event).map_err(|error| StoreError::Corrupt(error.to_string()))?);
        text.push('\n');
    }
    fs::write(to, text).map_err(|error| StoreError::Unavailable(format!("{}: {error}", to.display())))
}

pub(super) fn read(user: &UserId, from: &Path) -> Result<Vec<SealedEvent>, StoreError> {
    let corrupt = |reason: String| StoreError::Corrupt(format!("{}: {reason}", from.display()));
    let bytes = fs::read(from).map_err(|error| StoreError::NotFound(format!("{}: {error}", from.display())))?;
    let text = String::from_utf8(bytes).map_err(|error| corrupt(error.to_string()))?;
    let mut lines = text.lines();
    match lines.next() {
        Some(owner) if owner == user.as_str() => {}
        owner => return Err(corrupt(format!("this is the ledger of {owner:?}, not of {user}"))),
    }
    lines.map(|line| read_line(line).map_err(|error| corrupt(error.to_string()))).collect()
}
