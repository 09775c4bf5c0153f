//! Text forms shared by several commands.

use std::fmt::Display;
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use quipu_core::difference::{Difference, ItemChange};
use quipu_core::id::UserId;
use quipu_core::reconcile::{Outcome, Understanding};
use quipu_core::session::Summarized;
use quipu_core::source::Artifact;
use quipu_engine::files::RestoredFolder;
use quipu_engine::fork::Picked;
use quipu_engine::log::{EventStatus, LogEntry};
use quipu_engine::{Item, PromotionPreview};
pub(crate) use quipu_eval::render::{excerpt, size, table};

/// Most differences printed one by one.
const SHOWN_MAX: usize = 20;
/// Longest excerpt of a base truth entry, in characters.
const EXCERPT_CHARS: usize = 100;

/// The time zone in which times are printed.
static ZONE: OnceLock<TimeZone> = OnceLock::new();

/// Prints times in this zone from now on. Without one they are in UTC.
pub(crate) fn times_in(zone: Option<&TimeZone>) {
    // The first zone stays: a process prints in one.
    let _ = zone.map(|zone| ZONE.set(zone.clone()));
}

fn local(time: Timestamp) -> Timestamp {
    let offset = ZONE.get().map_or(Offset::UTC, |zone| zone.to_offset(time));
    quipu_core::calendar::local(time, offset)
}

/// A time as `2026-03-05 09:00` on the user's clock, or "time unknown".
pub(crate) fn time(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "time unknown".to_owned(), |time| local(time).strftime("%Y-%m-%d %H:%M").to_string())
}

/// An item: a line of metadata, then its text.
pub(crate) fn item(item: &Item) -> String {
    let who = item.author.as_deref().unwrap_or(item.role.as_str());
    let place = item.session_id.as_deref().map(|session| format!(" · {session}")).unwrap_or_default();
    let native = item.native_id.as_deref().map(|native| format!(" · {native}")).unwrap_or_default();
    let said_at = item.artifacts.iter().find_map(Artifact::utc_offset).zip(item.said_at).map_or_else(
        || time(item.said_at),
        // Where the speaker's clock is known, it is shown.
        |(offset, at)| at.display_with_offset(offset).to_string().replacen('T', " ", 1),
    );
    let mut lines = format!("{} · {said_at} · {who}{place}{native}\n", item.id);
    for line in item.text.lines() {
        lines.push_str(&format!("    {line}\n"));
    }
    for artifact in item.artifacts.iter().filter(|artifact| !artifact.is_utc_offset()) {
        lines.push_str(&format!("    [{}] {}\n", artifact.kind, excerpt(&artifact.text, 100)));
    }
    if let Some(status) = &item.standing {
        lines.push_str(&format!("    {status}\n"));
    }
    lines
}

/// One event on a line.
pub(crate) fn entry(entry: &LogEntry) -> String {
    let status = match entry.standing {
        EventStatus::Counts => "",
        EventStatus::Reverted => "  (reverted)",
        EventStatus::Orphaned => "  (no longer applies)",
    };
    let why = entry.rationale.as_deref().map(|why| format!("  — {why}")).unwrap_or_default();
    let source = entry.reference.as_deref().map(|name| format!("  [{name}]")).unwrap_or_default();
    let recorded = local(entry.recorded_at).strftime("%Y-%m-%d %H:%M:%S");
    format!("{:>5}  {recorded}  {}{why}{source}{status}\n", entry.seq, entry.summary)
}

/// A difference between two versions, a line for each path and item.
pub(crate) fn difference(difference: &Difference) -> String {
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
        lines.push_str(&format!("  … and {} more items\n", difference.items.len() - SHOWN_MAX));
    }
    for orphan in &difference.orphans_new {
        lines.push_str(&format!("  ! event {} no longer applies: {}\n", orphan.seq, orphan.reason));
    }
    for orphan in &difference.orphans_healed {
        lines.push_str(&format!("  ✓ event {} applies again\n", orphan.seq));
    }
    lines
}

/// The outcomes of reading a source, a line each.
pub(crate) fn understood(all: &Understanding) -> String {
    let mut text = String::new();
    let mut lines = |sign: &str, outcomes: &[Outcome]| {
        for one in outcomes {
            text.push_str(&format!("  {sign} {}  {} ({})\n", one.id, excerpt(&one.text, 90), one.what));
        }
    };
    lines("+", &all.asserted);
    lines("=", &all.seen);
    lines("-", &all.ended);
    lines("•", &all.tasks);
    lines("•", &all.notes);
    lines("?", &all.reviews);
    for refused in &all.refused {
        text.push_str(&format!("  × {}: {}\n", excerpt(&refused.item, 90), refused.reason));
    }
    if !all.core_paths.is_empty() {
        text.push_str(&format!("  core document: {}\n", all.core_paths.join(", ")));
    }
    text
}

/// The serialised name of a unit variant, with spaces for underscores.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word.replace('_', " "),
        _ => String::new(),
    }
}

/// A line for each element, or `none` if there are no elements.
pub(crate) fn list<T>(all: &[T], none: &str, line: impl Fn(&T) -> String) -> String {
    if all.is_empty() { format!("{none}\n") } else { all.iter().map(line).collect() }
}

/// A number with its noun, given in singular and plural.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, [one, many]: [&str; 2]) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// The changes made by summarising an exchange, a line each.
pub(crate) fn summarized(one: &Summarized) -> String {
    let how = if one.raw { " verbatim" } else { "" };
    let mut text = format!("  turn {} of {} summarised{how}\n", one.turn, one.session_id);
    let mut line = |sign: &str, id: &dyn Display, said: &str| {
        text.push_str(&format!("  {sign} {id}  {}\n", excerpt(said, EXCERPT_CHARS)));
    };
    one.added.iter().for_each(|(id, said)| line("+", id, said));
    one.updated.iter().for_each(|(id, said, _)| line("~", id, said));
    one.removed.iter().for_each(|(id, said)| line("-", id, said));
    for refused in &one.refused {
        let said = excerpt(refused.text.as_deref().unwrap_or_default(), EXCERPT_CHARS);
        text.push_str(&format!("  × {said}: {}\n", refused.reason));
    }
    text
}

/// Most moves printed one by one.
const MOVES_SHOWN_MAX: usize = 12;

/// The moves of a promotion.
pub(crate) fn promotion(preview: &PromotionPreview) -> String {
    let moves = preview.moves.iter().take(MOVES_SHOWN_MAX);
    let mut lines: String = moves.map(|one| format!("    {} → {}\n", one.from, one.to)).collect();
    if preview.moves.len() > MOVES_SHOWN_MAX {
        lines.push_str(&format!("    … and {} more places\n", preview.moves.len() - MOVES_SHOWN_MAX));
    }
    lines
}

/// The result of replaying events.
pub(crate) fn picked(picked: &Picked, into: &UserId) -> String {
    let mut text = format!("{} replayed into {into}\n", counted(picked.receipts.len(), ["event", "events"]));
    for (seq, reason) in &picked.left_out {
        text.push_str(&format!("  left out {seq}: {reason}\n"));
    }
    text
}

/// The result of restoring a ledger.
pub(crate) fn restored(restored: &RestoredFolder) -> String {
    let done = if restored.dry_run { "would be restored" } else { "restored" };
    let aside = restored.set_aside.as_ref().map(|path| format!("; the previous ledger is now in {}", path.display()));
    format!(
        "{}: {} events, every one verified, {done}; head {}…{}\n",
        restored.user_id,
        restored.events,
        &restored.head_hash[..12],
        aside.unwrap_or_default()
    )
}
