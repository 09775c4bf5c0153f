//! Edits by hand: turns what a person changed on a page into reviews. The edited page is kept as a copy before it is
//! written again.

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

/// Pages that a person may edit.
fn editable(vault: &mut dyn UserVault) -> Result<Vec<VaultPath>> {
    let mut pages = vec![path("GLOBAL_MEMORY.md")?, path("GLOBAL_MEMORY.json")?];
    for topic in pages::topics(vault)? {
        pages.push(VaultPath::in_topic(&topic, "topic_memory.md")?);
        pages.push(VaultPath::in_topic(&topic, "topic_memory.json")?);
    }
    Ok(pages)
}

/// A page as Quipu wrote it and as it is now.
pub(super) struct Edited {
    pub(super) page: VaultPath,
    written: Vec<u8>,
    found: Vec<u8>,
}

/// Pages that differ from what Quipu wrote. A missing page is not an edit; it is written again.
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

/// The edits of a page.
fn edits_of(edited: &Edited) -> Vec<PageEdit> {
    if edited.page.as_str().ends_with(".json") {
        return edits_of_json(&edited.written, &edited.found).unwrap_or_default();
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    edits_of_page(&text(&edited.written), &text(&edited.found))
}

/// Takes up every edit: proposes it as a review, keeps a copy of the edited page, and restores what Quipu wrote.
///
/// # Errors
/// As for every append and every write. Earlier proposals stay and are not proposed again.
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

/// Lists what [`take_up`] would propose.
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

/// The editor of a file is not known to be the user, so edits are only proposed.
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

/// Path of the copy of an edited page. The name contains a digest, so equal pages are kept once.
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

/// Copies of edited pages. They cannot be searched for erased text, so an erasure removes all of them.
pub(super) fn kept(vault: &mut dyn UserVault) -> Result<Vec<VaultPath>> {
    let named = vault.list(Some(&path("edited")?))?;
    named.iter().filter(|named| !named.is_folder).map(|named| path(&format!("edited/{}", named.name))).collect()
}
