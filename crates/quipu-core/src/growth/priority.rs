//! Priority without a query, from recency, importance and frequency of use. Items of low priority are demoted first.

use jiff::Timestamp;

use crate::id::{ItemId, ItemKind};
use crate::item::FactType;
use crate::memory::Memory;
use crate::recall::{Aging, Profile, recency, rif};

/// Number of uses that count as full use: `K` in the formula is `ln(1 + FULL_USE)`.
pub const FULL_USE: u64 = 10;

/// Importance of sources, notes and tenets.
const OF_SMALL_TALK: f64 = 0.2;
const OF_A_NOTE: f64 = 0.4;
const OF_A_TENET: f64 = 0.7;

/// `½ recency + .3 importance + .2 ln(1 + uses) / K`, 0 to 1. An item is used when it is said again or shown.
pub fn priority(memory: &Memory, id: ItemId, now: Timestamp) -> f64 {
    let aging = Profile::default().aging;
    let recent = last_used(memory, id).map_or(0.0, |then| recency(now, then, tau(&aging, memory, id)));
    of_parts(recent, importance(memory, id), uses(memory, id))
}

/// The formula, with the frequency term capped at 1.
pub(super) fn of_parts(recency: f64, importance: f64, uses: u64) -> f64 {
    rif(recency, importance, uses.min(FULL_USE), (1.0 + FULL_USE as f64).ln())
}

/// Decay constant in days: short for events, long for properties of a person.
fn tau(aging: &Aging, memory: &Memory, id: ItemId) -> f64 {
    let happened = memory.items().fact(id).is_some_and(|fact| fact.fact_type == FactType::Event);
    match id.kind {
        ItemKind::Fact if !happened => aging.profile_days,
        ItemKind::Note | ItemKind::Tenet | ItemKind::Task => aging.profile_days,
        _ => aging.episodic_days,
    }
}

/// When an item was last said or shown.
pub(super) fn last_used(memory: &Memory, id: ItemId) -> Option<Timestamp> {
    last_said(memory, id).max(memory.items().hits(id).last_hit_at)
}

/// When an item was last said, if known.
pub(super) fn last_said(memory: &Memory, id: ItemId) -> Option<Timestamp> {
    let items = memory.items();
    let said = |source: ItemId| memory.get(source).and_then(|held| held.source.said_at);
    match id.kind {
        ItemKind::Fact => items.fact(id)?.last_seen,
        ItemKind::Episode => items.episode(id)?.end,
        ItemKind::Task => items.task(id)?.updated_at,
        ItemKind::Note => items.note(id)?.evidence.iter().filter_map(|at| said(at.source)).max(),
        ItemKind::Tenet => items.tenet(id)?.evidence.iter().filter_map(|at| said(*at)).max(),
        _ => said(id),
    }
}

/// The user's score or rating, or else the intrinsic importance.
pub(super) fn importance(memory: &Memory, id: ItemId) -> f64 {
    let items = memory.items();
    let rating = memory.marks(id).rating;
    if let Some(score) = items.fact(id).and_then(|fact| fact.user_fact_score) {
        return f64::from(score) / 10.0;
    }
    if rating != 0 {
        return f64::from(rating + 2) / 4.0;
    }
    match id.kind {
        ItemKind::Fact => items.fact(id).map_or(0.0, |fact| fact.intrinsic_importance),
        ItemKind::Episode => items.episode(id).map_or(0.0, |one| f64::from(one.importance) / 10.0),
        ItemKind::Task => items.task(id).map_or(0.0, |task| f64::from(task.priority) / 10.0),
        ItemKind::Note => OF_A_NOTE,
        ItemKind::Tenet => OF_A_TENET,
        _ => OF_SMALL_TALK,
    }
}

/// How often an item was said again or shown.
fn uses(memory: &Memory, id: ItemId) -> u64 {
    let items = memory.items();
    let again = match id.kind {
        ItemKind::Fact => items.fact(id).map_or(0, |fact| fact.seen_count.saturating_sub(1)),
        ItemKind::Note => items.note(id).map_or(0, |note| note.votes),
        _ => 0,
    };
    u64::from(again).saturating_add(items.hits(id).hits)
}
