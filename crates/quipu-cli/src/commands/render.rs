//! Text forms shared by several commands.

use jiff::Timestamp;
use quipu_core::difference::{Difference, ItemChange};
use quipu_engine::Item;
use quipu_engine::log::{EventStatus, LogEntry};

/// Most differences printed one by one.
const SHOWN_MAX: usize = 20;

/// `2026-03-05 09:00`, or that it is not known.
pub(super) fn time(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "time unknown".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M").to_string())
}

/// The first line or so of a text.
pub(super) fn excerpt(text: &str, chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= chars { line } else { line.chars().take(chars).chain(['…']).collect() }
}

/// One item on two lines.
pub(super) fn item(item: &Item) -> String {
    let who = item.author.as_deref().unwrap_or(item.role.as_str());
    let place = item.session_id.as_deref().map(|session| format!(" · {session}")).unwrap_or_default();
    let native = item.native_id.as_deref().map(|native| format!(" · {native}")).unwrap_or_default();
    let mut lines = format!("{} · {} · {who}{place}{native}\n", item.id, time(item.said_at));
    for line in item.text.lines() {
        lines.push_str(&format!("    {line}\n"));
    }
    for artifact in &item.artifacts {
        lines.push_str(&format!("    [{}] {}\n", artifact.kind, excerpt(&artifact.text, 100)));
    }
    if let Some(standing) = &item.standing {
        lines.push_str(&format!("    {standing}\n"));
    }
    lines
}

/// One event on a line.
pub(super) fn entry(entry: &LogEntry) -> String {
    let standing = match entry.standing {
        EventStatus::Counts => "",
        EventStatus::Reverted => "  (reverted)",
        EventStatus::Orphaned => "  (no longer applies)",
    };
    let why = entry.rationale.as_deref().map(|why| format!("  — {why}")).unwrap_or_default();
    let source = entry.reference.as_deref().map(|name| format!("  [{name}]")).unwrap_or_default();
    let recorded = entry.recorded_at.strftime("%Y-%m-%d %H:%M:%S");
    format!("{:>5}  {recorded}  {}{why}{source}{standing}\n", entry.seq, entry.summary)
}

/// A difference, path by path and item by item.
pub(super) fn difference(difference: &Difference) -> String {
    if difference.is_empty() {
        return "  nothing differs\n".to_owned();
    }
    let mut lines = String::new();
    for change in &difference.core_changes {
        let line = match (&change.before, &change.after) {
            (Some(before), Some(after)) => format!("  ~ {}: {before} → {after}\n", change.path),
            (Some(before), None) => format!("  - {}: {before}\n", change.path),
            (None, Some(after)) => format!("  + {}: {after}\n", change.path),
            (None, None) => continue,
        };
        lines.push_str(&line);
    }
    for change in difference.items.iter().take(SHOWN_MAX) {
        lines.push_str(&match change {
            ItemChange::Added { id, text } => format!("  + {id}  {}\n", excerpt(text, 90)),
            ItemChange::Removed { id, text } => format!("  - {id}  {}\n", excerpt(text, 90)),
            ItemChange::Changed { id, text, before, after } => {
                format!("  ~ {id}  {}: {before} → {after}\n", excerpt(text, 60))
            }
            ItemChange::Marked { id, before, after } => format!(
                "  ~ {id}  pinned {} → {}, rating {} → {}\n",
                before.pinned, after.pinned, before.rating, after.rating
            ),
        });
    }
    if difference.items.len() > SHOWN_MAX {
        lines.push_str(&format!("  … and {} items more\n", difference.items.len() - SHOWN_MAX));
    }
    for orphan in &difference.orphans_new {
        lines.push_str(&format!("  ! event {} no longer applies: {}\n", orphan.seq, orphan.reason));
    }
    for orphan in &difference.orphans_healed {
        lines.push_str(&format!("  ✓ event {} applies again\n", orphan.seq));
    }
    lines
}

/// Rows under headings, each column as wide as its widest cell.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells.zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    let mut text = line(&mut headings.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}
