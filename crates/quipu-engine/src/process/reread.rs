//! Reads recorded sources again with the current rules.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::Memory;
use quipu_core::difference::{Difference, difference};
use quipu_core::event::Change;
use quipu_core::extract::Extraction;
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::memory::{HeldSource, Marks};
use quipu_core::reconcile::Understanding;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::lock::before_slow_call;
use crate::memory::OpenMemory;
use crate::memory::checkpoint;
use crate::memory::commit;
use crate::memory::scan;
use crate::ports::Extractor;
use crate::process::understand::{self, CANDIDATES_PER_EVENT, Cause, READ_BY, SourceReading};

/// Result of [`reread`].
#[derive(Debug, Clone, Default, Serialize)]
pub struct Reread {
    /// Sources read.
    pub sources: u64,
    /// What was recorded from them.
    pub understood: Understanding,
}

/// Result of [`preview_reread`].
#[derive(Debug, Clone, Serialize)]
pub struct RereadPreview {
    /// Sources that would be read.
    pub sources: u64,
    /// What would be recorded from them. Ids of new items are not those they would get.
    pub understood: Understanding,
    /// How the memory would differ.
    pub difference: Difference,
}

/// Extracts again from every source, in the order of the ledger, except where a person has reverted an extraction.
///
/// Facts that are known already change nothing, so this may be run at any time: after a revert that orphaned later
/// statements, after an interrupted import, or with a better extractor. A fact that an older version of the extractor
/// read in one source only, and that the current one does not read there, is corrected: it counts as never true, and
/// what it had ended holds again. Facts that a person pinned, rated, scored or confirmed are kept, and so are facts of
/// sources that a language model has read or in which more than forty statements are read.
///
/// # Errors
/// As for every append.
pub fn reread(engine: &Engine, user: &UserId) -> Result<Reread> {
    let open = engine.open(user)?;
    let mut all = Reread::default();
    let Some(extractor) = &engine.extractor else { return Ok(all) };
    let outdated = Outdated::of(&open, extractor.id())?;
    for source in sources(&open)? {
        let found = {
            let state = open.read();
            state.memory.get(source).map(|held| Found::prepare(engine, &state.memory, held, &outdated))
        };
        if let Some(found) = found.flatten() {
            let extraction = found.read(extractor.as_ref())?;
            let by = SourceReading { reader: extractor.id(), source, done: &|_| false };
            all.understood.extend(understand::record(engine, &open, &by, extraction, &Cause::default())?);
        }
        all.sources += 1;
    }
    checkpoint::after_append(engine, &open, true, &mut |_| {});
    Ok(all)
}

/// Previews [`reread`] on a copy of the memory. Appends nothing.
///
/// # Errors
/// `NotFound` if there is no such user; errors of the extractor.
pub fn preview_reread(engine: &Engine, user: &UserId) -> Result<RereadPreview> {
    let open = engine.open(user)?;
    let before = open.read().memory.clone();
    let (mut after, mut read, mut understood) = (before.clone(), 0, Understanding::default());
    if let Some(extractor) = &engine.extractor {
        let outdated = Outdated::of(&open, extractor.id())?;
        for source in sources(&open)? {
            read += 1;
            let found = after.get(source).and_then(|held| Found::prepare(engine, &after, held, &outdated));
            let Some(found) = found else { continue };
            for part in understand::parts(found.read(extractor.as_ref())?) {
                let by = SourceReading { reader: extractor.id(), source, done: &|_| false };
                let (draft, report) = understand::plan(engine, &open, &after, &by, &Cause::default(), &part);
                if let Some(draft) = draft {
                    commit::seal_next(engine, None, &mut after, draft)?;
                }
                understood.extend(report);
            }
        }
    }
    Ok(RereadPreview { sources: read, understood, difference: difference(&before, &after) })
}

/// All sources, except those whose extraction a person has reverted.
fn sources(open: &OpenMemory) -> Result<Vec<ItemId>> {
    let taken_back = understand::sources_taken_back(open)?;
    let state = open.read();
    Ok(state.memory.sources().iter().map(|held| held.source.id).filter(|id| !taken_back.contains(id)).collect())
}

/// A source that is about to be read again.
struct Found {
    page: understand::Page,
    /// Facts of this source by an older version of the extractor.
    older: Vec<ItemId>,
}

impl Found {
    /// Copies a source and its context; `None` if it is not read.
    fn prepare(engine: &Engine, memory: &Memory, held: &HeldSource, outdated: &Outdated) -> Option<Self> {
        let source = held.source.id;
        if !understand::is_read(held) || memory.items().is_hidden(source) {
            return None;
        }
        Some(Self { page: understand::Page::of(engine, memory, held), older: outdated.facts(memory, source) })
    }

    /// Reads the source. Its older facts are passed along as misread; those that are read again are kept.
    fn read(&self, extractor: &dyn Extractor) -> Result<Extraction> {
        before_slow_call("the extractor");
        let mut found = self.page.read(extractor)?;
        // Facts are compared within an event, so what is read must fit into one.
        if found.facts.len().max(self.older.len()) <= CANDIDATES_PER_EVENT {
            found.misread.extend(&self.older);
        }
        Ok(found)
    }
}

/// What older versions of an extractor have read.
struct Outdated {
    /// Events that record their readings.
    events: BTreeSet<Seq>,
    /// Sources that another reader, a language model, has read too.
    read_by_others: BTreeSet<ItemId>,
}

impl Outdated {
    /// Finds the readings of older versions of the current extractor, and the sources that unrelated ones have read.
    fn of(open: &OpenMemory, current: &str) -> Result<Self> {
        let mut found = Self { events: BTreeSet::new(), read_by_others: BTreeSet::new() };
        let head = open.read().memory.seq();
        scan::events(open.writer()?.ledger.as_mut(), 1..=head, &mut |event| {
            let rationale = event.header.rationale.as_deref();
            let Some(reader) = rationale.and_then(|why| why.strip_prefix(READ_BY)) else { return };
            if is_unrelated(reader, current) {
                let drawn = event.changes.iter().flatten().filter_map(|change| match change {
                    Change::Drawn(drawn) => Some(drawn.needs()),
                    _ => None,
                });
                found.read_by_others.extend(drawn.flatten());
            } else if is_older(reader, current) {
                found.events.insert(event.header.seq);
            }
        })?;
        Ok(found)
    }

    /// Active facts of these readings that rest on a source, without those a person has marked.
    fn facts(&self, memory: &Memory, source: ItemId) -> Vec<ItemId> {
        if self.events.is_empty() || self.read_by_others.contains(&source) {
            return Vec::new();
        }
        let items = memory.items();
        let here = items.facts().filter(|fact| fact.is_active() && fact.evidence.iter().any(|at| at.source == source));
        let by_older = here.filter(|fact| items.made_by(fact.id).is_some_and(|seq| self.events.contains(&seq)));
        by_older.map(|fact| fact.id).filter(|&id| memory.marks(id) == Marks::default()).collect()
    }
}

/// The parts of an extractor's id with their versions: `rules/en/v2 learned/v2` has `rules/en` and `learned`, both in
/// version 2. A part without a version has 0.
fn parts(id: &str) -> BTreeMap<&str, u32> {
    let part = |part| match str::rsplit_once(part, "/v") {
        Some((name, version)) => version.parse().map_or((part, 0), |version| (name, version)),
        None => (part, 0),
    };
    id.split(' ').map(part).collect()
}

/// True if an extractor is an older version of the current one: that one has all of its parts, none in an older version
/// and one in a newer. An extractor without a part (remarks are switched off) reads less, and is not newer for that.
fn is_older(reader: &str, current: &str) -> bool {
    let (older, newer) = (parts(reader), parts(current));
    let is_kept = |(name, version): (&&str, &u32)| newer.get(name).is_some_and(|newer| newer >= version);
    older.iter().all(is_kept) && older.iter().any(|(name, version)| newer.get(name) > Some(version))
}

/// True if two extractors have no part in common.
fn is_unrelated(reader: &str, current: &str) -> bool {
    let current = parts(current);
    !parts(reader).keys().any(|name| current.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_extractor_has_the_same_parts_in_older_versions() {
        let current = "rules/en/v2 learned/v2";
        for (reader, older, unrelated) in [
            ("rules/en/v1 learned/v2", true, false),
            ("rules/en/v2 learned/v1", true, false),
            ("rules/en/v1", true, false),
            ("rules/en/v2", false, false),
            (current, false, false),
            ("rules/en/v1 learned/v3", false, false),
            ("rules/de/v1", false, true),
            ("openai/gpt reader/v1", false, true),
            ("mine", false, true),
        ] {
            assert_eq!((is_older(reader, current), is_unrelated(reader, current)), (older, unrelated), "{reader}");
        }
        assert!(!is_older(current, "rules/en/v2"), "remarks were switched off");
        assert!(!is_older(current, "rules/en/v3"), "remarks were switched off");
    }
}
