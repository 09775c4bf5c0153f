//! Consolidation of a base truth: merges equivalent entries, except hard exceptions and entries written by hand.

use super::decide::{check_text, one_line};
use super::matching;
use super::proposal::{KnownEntry, MergeProposed};
use crate::Memory;
use crate::event::Change;
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Evidence, Truth};
use crate::limit;

/// The entries to show for a consolidation: neither hard exceptions nor entries written by hand.
pub fn consolidation(memory: &Memory, session: &str) -> Vec<KnownEntry> {
    mergeable(memory, session).into_iter().map(KnownEntry::from).collect()
}

fn mergeable<'a>(memory: &'a Memory, session: &str) -> Vec<&'a Truth> {
    let items = memory.items();
    let in_force = items.sessions().base_truth(session);
    in_force.filter(|truth| !truth.is_hard() && !truth.evidence.is_empty() && !items.is_hidden(truth.id)).collect()
}

/// Decides on proposed merges. Records a snapshot of the base truth first; returns refused merges with reasons.
pub fn consolidate(
    memory: &Memory,
    session: &str,
    turn: u32,
    proposed: &[MergeProposed],
    name: &mut dyn FnMut(ItemKind) -> ItemId,
) -> (Vec<Change>, Vec<(MergeProposed, String)>) {
    let mut left = mergeable(memory, session);
    let mut changes = vec![Change::Drawn(DerivedChange::BaseTruthKept { session: session.to_owned(), turn })];
    let mut refused = Vec::new();
    for merge in proposed.iter().take(limit::TRUTHS_PER_SESSION_MAX) {
        match merged(session, &left, merge, name) {
            Ok(truth) => {
                left.retain(|held| !truth.rests_on.contains(&held.id));
                changes.push(Change::Drawn(DerivedChange::BaseTruthMerged(Box::new(truth))));
            }
            Err(reason) => refused.push((merge.clone(), reason)),
        }
    }
    (changes, refused)
}

fn merged(
    session: &str,
    left: &[&Truth],
    merge: &MergeProposed,
    name: &mut dyn FnMut(ItemKind) -> ItemId,
) -> Result<Truth, String> {
    let mut parts: Vec<&Truth> = Vec::new();
    for id in &merge.from {
        let found = left.iter().find(|truth| truth.id == *id);
        let part = found.ok_or_else(|| format!("{id} is not an entry that can be merged, or is merged already"))?;
        if !parts.iter().any(|held| held.id == part.id) {
            parts.push(part);
        }
    }
    let [first, _, ..] = parts.as_slice() else { return Err("a merge names two entries or more".to_owned()) };
    if parts.iter().any(|part| part.kind != first.kind) {
        return Err("entries of different kinds cannot be merged".to_owned());
    }
    let text = one_line(&merge.text);
    check_text(&text)?;
    let ground: String = parts.iter().map(|part| format!("{}\n", part.text)).collect();
    if let Some(reason) = matching::doubt(&text, &ground) {
        return Err(reason.replace("the exchange", "the merged entries"));
    }
    let mut evidence: Vec<Evidence> = parts.iter().flat_map(|part| part.evidence.iter().copied()).collect();
    evidence.sort_unstable();
    evidence.dedup();
    if evidence.len() > limit::EVIDENCE_PER_ITEM_MAX {
        return Err(format!("it would rest on more than {} places", limit::EVIDENCE_PER_ITEM_MAX));
    }
    let trust = parts.iter().map(|part| part.trust).min().unwrap_or(first.trust);
    Ok(Truth {
        id: name(ItemKind::Truth),
        session: session.to_owned(),
        kind: first.kind,
        text,
        evidence,
        exchange: None,
        rests_on: parts.iter().map(|part| part.id).collect::<Vec<ItemId>>(),
        replaces: None,
        trust,
    })
}
