//! Consolidation of a whole memory, and its revert.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::growth::{ActiveIndex, GrowthSubject};
use quipu_core::id::{Seq, UserId};
use quipu_core::item::TimeSpan;
use quipu_core::predicate::normal;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::When;
use quipu_engine::{ConsolidateOptions, Engine, Error, EvolveOptions, FactOptions, FactShown, Result};

use super::super::lines::written;
use super::life;

/// Consolidation runs until nothing is left to do, at most this many times.
const PASSES_MAX: usize = 64;

/// Result of consolidation.
pub(super) struct Grown {
    /// Claims promoted to the profile, in words.
    pub(super) promoted: BTreeSet<String>,
    /// Claims that belonged to the profile from the start because of their predicate.
    pub(super) by_nature: BTreeSet<String>,
    /// Patterns that became a category, by name.
    pub(super) categories: BTreeSet<String>,
    pub(super) folded: usize,
    pub(super) folded_wrong: Vec<String>,
    pub(super) noted: usize,
    pub(super) active: ActiveIndex,
}

pub(super) fn grow(engine: &Engine, user: &UserId) -> Result<Grown> {
    let evolved = quipu_engine::evolve(engine, user, &EvolveOptions { apply: true, ..EvolveOptions::default() })?;
    let done = evolved.patterns.iter().filter(|pattern| pattern.event_seq.is_some());
    let categories = done.map(|pattern| pattern.survey.candidate.key.clone()).collect();
    let values: BTreeMap<_, _> =
        quipu_engine::facts(engine, user, &FactOptions { all: true, ..FactOptions::default() })?
            .into_iter()
            .map(|shown| (shown.fact.id, (shown.fact.slot.clone(), normal(&shown.fact.object))))
            .collect();
    let (mut folded, mut folded_wrong, mut noted) = (0, Vec::new(), 0);
    for _ in 0..PASSES_MAX {
        let reflected = quipu_engine::reflect(engine, user, &ConsolidateOptions::default())?;
        let compacted = quipu_engine::compact(engine, user, &ConsolidateOptions::default())?;
        noted += reflected.done.iter().filter(|one| one.what == GrowthSubject::Noted).count();
        for one in compacted.grown.done.iter().filter(|one| one.what == GrowthSubject::Folded) {
            folded += 1;
            let said: BTreeSet<_> = one.items.iter().filter_map(|id| values.get(id)).collect();
            if said.len() > 1 {
                folded_wrong.push(one.text.clone());
            }
        }
        if compacted.grown.done.is_empty() {
            let shown = quipu_engine::facts(engine, user, &FactOptions::default())?;
            let of_profile = shown.into_iter().filter(|shown| shown.fact.time_span == TimeSpan::LongTerm);
            let (promoted, by_nature): (Vec<_>, Vec<_>) = of_profile.partition(|shown| shown.promoted);
            let claims = |all: Vec<FactShown>| {
                all.into_iter().map(|shown| life::in_words(&(shown.fact.predicate, shown.fact.object))).collect()
            };
            return Ok(Grown {
                promoted: claims(promoted),
                by_nature: claims(by_nature),
                categories,
                folded,
                folded_wrong,
                noted,
                active: compacted.after,
            });
        }
    }
    Err(Error::Bug(format!("compaction has work left after {PASSES_MAX} passes")))
}

/// Everything visible of a memory, one line each.
pub(super) fn seen(engine: &Engine, user: &UserId) -> Result<BTreeSet<String>> {
    let mut lines = BTreeSet::from([quipu_engine::core_at(engine, user, When::Now)?.to_string()]);
    let facts = quipu_engine::facts(engine, user, &FactOptions { all: true, ..FactOptions::default() })?;
    lines.extend(facts.iter().map(written).collect::<Result<Vec<_>>>()?);
    lines.extend(quipu_engine::episodes(engine, user, None)?.iter().map(written).collect::<Result<Vec<_>>>()?);
    lines.extend(quipu_engine::tasks(engine, user, None, true)?.iter().map(written).collect::<Result<Vec<_>>>()?);
    lines.extend(quipu_engine::notes(engine, user, None)?.iter().map(written).collect::<Result<Vec<_>>>()?);
    lines.extend(quipu_engine::tenets(engine, user, None, true)?.iter().map(written).collect::<Result<Vec<_>>>()?);
    Ok(lines)
}

/// Reverts everything after a version with one event. Returns the number of events, and of lines that differ from then.
pub(super) fn take_back(
    engine: &Engine,
    user: &UserId,
    version: Seq,
    before: &BTreeSet<String>,
) -> Result<(usize, usize)> {
    let events = quipu_engine::status(engine, user)?.version - version;
    let since = Selection::Since(When::Seq(version));
    quipu_engine::revert(engine, user, &since, &RevertOptions::default(), &mut |_| {})?;
    let left = quipu_engine::diff(engine, user, When::Seq(version), When::Now)?;
    let differing = left.items.len() + left.core_changes.len() + left.orphans_new.len() + left.orphans_healed.len();
    let after = seen(engine, user)?;
    let unlike = before.symmetric_difference(&after).count();
    Ok((usize::try_from(events).unwrap_or(usize::MAX), differing + unlike))
}
