//! Builds pages from files: a topic's from the summaries of its entries, the whole memory's from the topics'. The
//! ledger is not used.

use std::collections::BTreeMap;

use quipu_core::artifact::{GlobalMemory, Slug, Summary, TopicMemory, VaultPath, global_page, to_page, topic_page};
use quipu_core::id::UserId;

use super::path;
use crate::error::{Error, Result};
use crate::ports::UserVault;

/// Files by path.
pub(super) type Files = BTreeMap<VaultPath, Vec<u8>>;

/// Path of the last written version of a page, used to detect edits by hand.
pub(super) fn written_copy(page: &VaultPath) -> Result<VaultPath> {
    path(&format!("index/written/{page}"))
}

/// The topics with a folder.
pub(super) fn topics(vault: &mut dyn UserVault) -> Result<Vec<Slug>> {
    let named = vault.list(Some(&path("topics")?))?;
    let slug = |named: &crate::ports::FolderEntry| named.is_folder.then(|| Slug::parse(&named.name)).flatten();
    Ok(named.iter().filter_map(slug).collect())
}

/// The folders of a topic's entries, and whether they are still open.
pub(super) fn entry_folders(vault: &mut dyn UserVault, topic: &Slug) -> Result<Vec<(VaultPath, bool)>> {
    let mut folders = Vec::new();
    for (below, open) in [(format!("topics/{topic}"), false), (format!("topics/{topic}/open"), true)] {
        for named in vault.list(Some(&path(&below)?))? {
            if named.is_folder && is_entry(&named.name) {
                folders.push((path(&format!("{below}/{}", named.name))?, open));
            }
        }
    }
    Ok(folders)
}

/// Matches `2024-03-12` and `2024-03-12-2`.
pub(super) fn is_entry(name: &str) -> bool {
    let Some((date, number)) = name.split_at_checked(10) else { return false };
    let number = number.is_empty() || number.strip_prefix('-').is_some_and(|digits| digits.parse::<u32>().is_ok());
    number && date.parse::<jiff::civil::Date>().is_ok()
}

/// The pages of a topic, from its entries; `None` if it has none.
pub(super) fn of_topic(vault: &mut dyn UserVault, topic: &Slug) -> Result<Option<Files>> {
    let schemas = vault.schemas();
    let mut summaries: Vec<(Summary, bool)> = Vec::new();
    for (folder, open) in entry_folders(vault, topic)? {
        let file = path(&format!("{folder}/summary.json"))?;
        let Some(bytes) = vault.read(&file)? else { continue };
        let summary =
            schemas.entry_summary.read(&bytes).map_err(|refusal| Error::Corrupt(format!("{file}: {refusal}")))?;
        summaries.push((summary, open));
    }
    let Some(memory) = TopicMemory::build(topic, summaries) else { return Ok(None) };
    let memory = TopicMemory { schema: schemas.topic_memory.id(), ..memory };
    let mut files = Files::new();
    page(&mut files, VaultPath::in_topic(topic, "topic_memory.json")?, to_page(&memory)?)?;
    page(&mut files, VaultPath::in_topic(topic, "topic_memory.md")?, topic_page(&memory).into_bytes())?;
    Ok(Some(files))
}

/// The files of a topic's pages, with the copies of what was written.
pub(super) fn files_of(topic: &Slug) -> Result<[VaultPath; 4]> {
    let pages = [VaultPath::in_topic(topic, "topic_memory.json")?, VaultPath::in_topic(topic, "topic_memory.md")?];
    let copies = [written_copy(&pages[0])?, written_copy(&pages[1])?];
    let ([json, text], [json_copy, text_copy]) = (pages, copies);
    Ok([json, text, json_copy, text_copy])
}

/// The pages of the whole memory, from the pages of the topics.
pub(super) fn of_all(vault: &mut dyn UserVault, user: &UserId) -> Result<Files> {
    let schemas = vault.schemas();
    let mut memories: Vec<TopicMemory> = Vec::new();
    for topic in topics(vault)? {
        // Reads the last written version, because edits by hand are only proposed.
        let file = written_copy(&VaultPath::in_topic(&topic, "topic_memory.json")?)?;
        let Some(bytes) = vault.read(&file)? else { continue };
        memories
            .push(schemas.topic_memory.read(&bytes).map_err(|refusal| Error::Corrupt(format!("{file}: {refusal}")))?);
    }
    let global = GlobalMemory { schema: schemas.global_memory.id(), ..GlobalMemory::build(user, &memories)? };
    let mut files = Files::new();
    page(&mut files, path("GLOBAL_MEMORY.json")?, to_page(&global)?)?;
    page(&mut files, path("GLOBAL_MEMORY.md")?, global_page(&global).into_bytes())?;
    Ok(files)
}

fn page(files: &mut Files, at: VaultPath, bytes: Vec<u8>) -> Result<()> {
    files.insert(written_copy(&at)?, bytes.clone());
    files.insert(at, bytes);
    Ok(())
}

/// Writes every page again from the entries in the folder, without ledger or database. Returns the files.
///
/// # Errors
/// `Corrupt` if an entry cannot be read; `Refused` and `Unavailable` from the folder.
pub fn rebuild_pages(vault: &mut dyn UserVault, user: &UserId) -> Result<Vec<String>> {
    let mut written = Vec::new();
    let mut put = |vault: &mut dyn UserVault, files: Files| -> Result<()> {
        written.extend(files.keys().map(ToString::to_string));
        Ok(vault.write(&files.into_iter().collect::<Vec<_>>())?)
    };
    for topic in topics(vault)? {
        if let Some(files) = of_topic(vault, &topic)? {
            put(vault, files)?;
        }
    }
    written.extend(rebuild_global(vault, user)?);
    Ok(written)
}

/// Writes the pages of the whole memory again from the topic pages in the folder. Returns the files.
///
/// # Errors
/// As [`rebuild_pages`].
pub fn rebuild_global(vault: &mut dyn UserVault, user: &UserId) -> Result<Vec<String>> {
    let files = of_all(vault, user)?;
    let written = files.keys().map(ToString::to_string).collect();
    vault.write(&files.into_iter().collect::<Vec<_>>())?;
    Ok(written)
}
