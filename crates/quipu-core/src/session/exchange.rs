//! Exchanges: the turns of a session, each a message and its replies.

use std::collections::{BTreeMap, BTreeSet};

use crate::Memory;
use crate::event::Trust;
use crate::id::{ItemId, ItemKind, Seq};
use crate::item::TurnSummary;
use crate::limit;
use crate::memory::HeldSource;
use crate::source::Role;

/// One exchange.
#[derive(Debug, Clone)]
pub struct Exchange<'a> {
    /// Its number in the session, from 1. A summarised exchange keeps its number even if earlier ones are reverted.
    pub turn: u32,
    /// Its sources, in order; never empty.
    pub sources: Vec<&'a HeldSource>,
    /// Its line in the turn log, once it is summarised.
    pub summary: Option<&'a TurnSummary>,
    /// True if it can be summarised: it has a reply, is followed by another exchange, or the session is over.
    pub is_closed: bool,
}

impl Exchange<'_> {
    /// The first source, which identifies it.
    pub fn opening(&self) -> ItemId {
        self.sources[0].source.id
    }

    /// The text of one role, joined by line breaks.
    pub fn text_of(&self, role: Role) -> String {
        let texts = self.sources.iter().filter(|held| held.source.role == role);
        texts.map(|held| held.source.text.as_ref()).collect::<Vec<_>>().join("\n")
    }

    /// The whole text, joined by line breaks.
    pub fn text(&self) -> String {
        self.sources.iter().map(|held| held.source.text.as_ref()).collect::<Vec<_>>().join("\n")
    }

    /// True for the user's own words.
    pub fn is_own(held: &HeldSource) -> bool {
        held.trust == Trust::User && held.source.role == Role::User
    }
}

/// The exchanges of a session, in order.
///
/// Sources summarised together stay together. Otherwise an exchange begins with a person's message, or after a
/// summarised exchange.
pub fn exchanges<'a>(memory: &'a Memory, session: &str) -> Vec<Exchange<'a>> {
    let logged = memory.items().sessions().turns(session);
    let by_source: BTreeMap<ItemId, &TurnSummary> =
        logged.iter().flat_map(|one| one.summary.sources.iter().map(|&source| (source, &one.summary))).collect();
    let ordinals = memory.session(session).map_or(&[][..], |found| &found.sources);
    let held = ordinals.iter().filter_map(|&ordinal| memory.sources().get(ordinal as usize));
    let mut all: Vec<Exchange<'a>> = Vec::new();
    for held in held.filter(|held| held.source.kind() == ItemKind::Turn) {
        let summary = by_source.get(&held.source.id).copied();
        let goes_on = all.last().is_some_and(|last| match (last.summary, summary) {
            (Some(last), Some(own)) => last.turn == own.turn,
            (None, None) => held.source.role != Role::User && last.sources.len() < limit::EXCHANGE_SOURCES_MAX,
            _ => false,
        });
        match all.last_mut() {
            Some(last) if goes_on => last.sources.push(held),
            _ => all.push(Exchange { turn: 0, sources: vec![held], summary, is_closed: true }),
        }
    }
    number(&mut all);
    let over = is_over(memory, session);
    if let Some(last) = all.last_mut() {
        let answered = last.sources.iter().any(|held| held.source.role == Role::Assistant);
        last.is_closed = over || answered || last.summary.is_some();
    }
    all
}

/// Numbers exchanges without a summary: each gets the next number not used by a summary.
fn number(all: &mut [Exchange<'_>]) {
    let mut taken: BTreeSet<u32> =
        all.iter().filter_map(|exchange| exchange.summary).map(|summary| summary.turn).collect();
    let mut before = 0u32;
    for exchange in all {
        let next = || (before.saturating_add(1)..=u32::MAX).find(|turn| !taken.contains(turn)).unwrap_or(u32::MAX);
        exchange.turn = exchange.summary.map_or_else(next, |summary| summary.turn);
        taken.insert(exchange.turn);
        before = exchange.turn;
    }
}

/// True if the session ended and has no later source.
pub fn is_over(memory: &Memory, session: &str) -> bool {
    let said = |ended: Seq| {
        let last = memory.session(session).and_then(|found| found.sources.last());
        last.and_then(|&ordinal| memory.sources().get(ordinal as usize)).is_some_and(|held| held.seq > ended)
    };
    memory.items().sessions().ended_at(session).is_some_and(|ended| !said(ended))
}
