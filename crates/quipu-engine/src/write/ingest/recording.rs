//! Records the sources of an import.

use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind};
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::limit;
use quipu_core::source::{Role, Source};

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::{OpenMemory, Receipt, State, commit, index};
use crate::process::unread::WORDS_ONLY;

/// The name of the import, and whose words each source is.
pub(super) struct ImportedFrom<'a> {
    pub(super) reference: &'a str,
    pub(super) kind_of: &'a dyn Fn(&Source) -> SourceKind,
}

/// Records the sources that are not known yet. They are durable on return, and searchable after the next catch-up.
pub(super) fn record(
    engine: &Engine,
    open: &OpenMemory,
    sources: &[Source],
    from: &ImportedFrom<'_>,
    rationale: Option<&str>,
) -> Result<Vec<Receipt>> {
    let mut receipts = Vec::new();
    for chunk in sources.chunks(limit::IMPORT_TURNS_PER_EVENT * limit::IMPORT_EVENTS_PER_COMMIT) {
        receipts.extend(commit::commit(engine, open, None, &mut |state| Ok(drafts(state, chunk, from, rationale)))?);
    }
    Ok(receipts)
}

/// Number of sources recorded, without the record of the import itself.
pub(super) fn recorded(receipts: &[Receipt]) -> u64 {
    receipts.iter().flat_map(|receipt| &receipt.items).filter(|id| id.kind != ItemKind::Import).count() as u64
}

fn drafts(state: &State, sources: &[Source], from: &ImportedFrom<'_>, rationale: Option<&str>) -> Vec<Draft> {
    let fresh: Vec<&Source> = sources.iter().filter(|source| state.memory.find(source.id).is_none()).collect();
    let reference = from.reference;
    let mark = import_mark(reference);
    let mut first = state.memory.find(mark.id).is_none().then_some(mark);
    let event = |sources: &[&Source]| {
        let mut changes: Vec<Change> = first.take().map(Change::SourceRecorded).into_iter().collect();
        changes.extend(sources.iter().map(|&source| Change::SourceRecorded(source.clone())));
        let session = sources.first().and_then(|source| source.session.as_deref());
        let kind = sources.first().map_or(SourceKind::Imported, |source| (from.kind_of)(source));
        let shared = session.filter(|name| sources.iter().all(|source| source.session.as_deref() == Some(name)));
        let origin =
            Origin { kind, reference: Some(reference.to_owned()), session: shared.map(str::to_owned), author: None };
        Draft { origin, rationale: rationale.map(str::to_owned), ..Draft::new(Actor::User, kind, changes) }
    };
    by_session(&fresh, from.kind_of).into_iter().map(event).collect()
}

/// Groups the sources by session and kind, in order, with a limit on the size of each group.
fn by_session<'a, 'b>(sources: &'b [&'a Source], kind_of: &dyn Fn(&Source) -> SourceKind) -> Vec<&'b [&'a Source]> {
    let sessions = sources.chunk_by(|one, other| one.session == other.session && kind_of(one) == kind_of(other));
    sessions.flat_map(|session| session.chunks(limit::IMPORT_TURNS_PER_EVENT)).collect()
}

/// The record of an import; the same for every run of it.
fn import_mark(reference: &str) -> Source {
    let mut mark = Source {
        id: ItemId { kind: ItemKind::Import, bits: 0 },
        session: None,
        topic: None,
        role: Role::System,
        author: None,
        said_at: None,
        text: reference.into(),
        artifacts: Vec::new(),
        native_id: None,
    };
    mark.id = mark.content_id();
    mark
}

/// Records prepared sources in batches, as an import does, and embeds them.
///
/// # Errors
/// As for every append; what was recorded before the error stays.
pub fn record_sources(
    engine: &Engine,
    user: &UserId,
    batches: impl Iterator<Item = Vec<Source>>,
    reference: &str,
) -> Result<u64> {
    let open = engine.open_or_create(user)?;
    let mut count = 0;
    for batch in batches {
        let from = ImportedFrom { reference, kind_of: &|_| SourceKind::Imported };
        count += recorded(&record(engine, &open, &batch, &from, Some(WORDS_ONLY))?);
    }
    index::embed(engine, &open, &mut |_| {})?;
    Ok(count)
}
