//! Edits: what a person changed on a page becomes something that waits for a decision. Nothing of it is lost: the page as it
//! was found is kept beside the others before it is written again.

use quipu_core::artifact::{PageEdit, VaultPath, edits_of_json, edits_of_page, propose};
use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind};
use quipu_core::id::ItemKind;
use quipu_core::item::{DerivedChange, Review};
use quipu_core::limit;

use super::{pages, path};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::report::EditedPage;
use crate::memory::commit;
use crate::memory::{OpenMemory, State};
use crate::ports::UserVault;

/// Pages a person may edit.
fn editable(vault: &mut dyn UserVault) -> Result<Vec<VaultPath>> {
    let mut pages = vec![path("GLOBAL_MEMORY.md")?, path("GLOBAL_MEMORY.json")?];
    for topic in pages::topics(vault)? {
        pages.push(VaultPath::in_topic(&topic, "topic_memory.md")?);
        pages.push(VaultPath::in_topic(&topic, "topic_memory.json")?);
    }
    Ok(pages)
}

/// A page as Quipu wrote it and as it is.
pub(super) struct Edited {
    pub(super) page: VaultPath,
    written: Vec<u8>,
    found: Vec<u8>,
}

/// Pages that are not what Quipu wrote. One that is gone is no edit: it is written again.
pub(super) fn edited(vault: &mut dyn UserVault) -> Result<Vec<Edited>> {
    let mut all = Vec::new();
    for page in editable(vault)? {
        let Some(written) = vault.read(&pages::written_copy(&page)?)? else { continue };
        let Some(found) = vault.read(&page)?.filter(|found| *found != written) else { continue };
        if found.len() as u64 > limit::EDITED_PAGE_BYTES_MAX {
            let most = limit::EDITED_PAGE_BYTES_MAX;
            return Err(Error::Invalid(format!("{page} has more than {most} bytes; move it elsewhere")));
        }
        all.push(Edited { page, written, found });
    }
    Ok(all)
}

/// The same edit of several pages is one.
fn edits_of(edited: &Edited) -> Vec<PageEdit> {
    if edited.page.as_str().ends_with(".json") {
        return edits_of_json(&edited.written, &edited.found).unwrap_or_default();
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    edits_of_page(&text(&edited.written), &text(&edited.found))
}

/// Takes up every edit: proposes it, keeps the page as it was found, and puts back what Quipu wrote.
///
/// # Errors
/// As for every append and every write; what was proposed before stays, and is not proposed again.
pub(super) fn take_up(engine: &Engine, open: &OpenMemory, vault: &mut dyn UserVault) -> Result<Vec<EditedPage>> {
    let mut all = Vec::new();
    for edited in edited(vault)? {
        let edits = edits_of(&edited);
        let mut proposed: Vec<Review> = Vec::new();
        commit::commit(engine, open, None, &mut |state| {
            proposed = proposals(engine, state, &edited.page, &edits);
            Ok(draft(&edited.page, &proposed).into_iter().collect())
        })?;
        let kept = kept_copy(&edited)?;
        vault.write(&[(kept.clone(), edited.found.clone())])?;
        vault.write(&[(edited.page.clone(), edited.written.clone())])?;
        all.push(taken(&edited.page, Some(kept), &proposed));
    }
    Ok(all)
}

/// What taking up would propose.
pub(super) fn would_take_up(engine: &Engine, open: &OpenMemory, vault: &mut dyn UserVault) -> Result<Vec<EditedPage>> {
    let found = edited(vault)?;
    let state = open.read();
    let of = |edited: &Edited| taken(&edited.page, None, &proposals(engine, &state, &edited.page, &edits_of(edited)));
    Ok(found.iter().map(of).collect())
}

fn taken(page: &VaultPath, kept: Option<VaultPath>, proposed: &[Review]) -> EditedPage {
    EditedPage {
        page: page.to_string(),
        kept: kept.map(|kept| kept.to_string()),
        proposed: proposed.iter().map(|review| (review.id, review.question.clone())).collect(),
    }
}

fn proposals(engine: &Engine, state: &State, page: &VaultPath, edits: &[PageEdit]) -> Vec<Review> {
    let now = Some(engine.now());
    let propose = |edit| propose(&state.memory, page.as_str(), edit, engine.new_item_id(ItemKind::Review));
    edits.iter().filter_map(propose).map(|review| Review { opened_at: now, ..review }).collect()
}

/// Whoever wrote into the file is not known to be the user: the words only ask.
fn draft(page: &VaultPath, proposed: &[Review]) -> Option<Draft> {
    if proposed.is_empty() {
        return None;
    }
    let opened = proposed.iter().map(|review| Change::Drawn(DerivedChange::ReviewOpened(Box::new(review.clone()))));
    Some(Draft {
        origin: Origin { reference: Some(page.to_string()), ..Origin::of(SourceKind::Document) },
        rationale: Some("a page was edited by hand".to_owned()),
        ..Draft::new(Actor::System, SourceKind::Document, opened.collect())
    })
}

/// Where the page as it was found is kept: the same bytes are kept once.
fn kept_copy(edited: &Edited) -> Result<VaultPath> {
    let name = edited.page.as_str().replace('/', "-");
    let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, "txt"));
    let stem: String = stem.trim_start_matches("topics-").chars().take(limit::ARTIFACT_NAME_BYTES_MAX).collect();
    let digest = blake3_of(&edited.found);
    path(&format!("edited/{}-{digest}.{ending}", stem.trim_end_matches('-')))
}

fn blake3_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(12).collect()
}

/// Pages as people left them are copies nobody can look through: after an erasure none stays.
pub(super) fn kept(vault: &mut dyn UserVault) -> Result<Vec<VaultPath>> {
    let named = vault.list(Some(&path("edited")?))?;
    named.iter().filter(|named| !named.is_folder).map(|named| path(&format!("edited/{}", named.name))).collect()
}
