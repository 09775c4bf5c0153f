//! Plain files that a person has changed.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use quipu_core::artifact::{
    GLOBAL_MEMORY, GlobalMemory, PageEdit, TOPIC_MEMORY, TopicMemory, VaultPath, edits_of_json, edits_of_page, escape,
    global_page, propose, topic_page, unescape,
};
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::pack::neutralise;
use quipu_core::{Memory, ledger, limit};
use quipu_engine::files::{self, RestoreOptions, VaultOptions};
use quipu_engine::{Error, RememberOptions, Utterance, remember};

use super::folder::MemoryFolder;
use crate::{MemoryStore, TestEngine};

/// A memory with items of many kinds.
static MEMORY: LazyLock<Memory> = LazyLock::new(|| {
    let Ok(user) = UserId::parse("ada") else { panic!("the name of the user") };
    let mut memory = Memory::new(user, BTreeSet::new());
    let lines = include_str!("../../../../testdata/golden/v1/drawn.jsonl").lines();
    let events = lines.filter_map(|line| ledger::read_line(line).ok()).filter_map(|event| ledger::open(&event).ok());
    events.for_each(|event| memory.apply(event));
    memory
});

/// Separates a page as it was written from the page as it is now.
const BETWEEN: &str = "\n=====\n";

/// A page as written and as edited, or a page as JSON that Quipu may have written.
///
/// The edits are within the limit, and each becomes a review or nothing. A page that is rendered from what was read has no edits when it is
/// compared with itself, and what is escaped on it reads as it was shown.
pub fn pages(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (written, edited) = text.split_once(BETWEEN).unwrap_or((text, ""));
    let edits = edits_of_page(written, edited);
    assert!(edits.len() <= limit::EDITS_PER_PAGE_MAX, "{} edits", edits.len());
    let more = edits_of_json(written.as_bytes(), edited.as_bytes()).unwrap_or_default();
    for (number, edit) in edits.iter().chain(&more).enumerate() {
        let id = ItemId { kind: ItemKind::Review, bits: 1 + number as u64 };
        if let Some(review) = propose(&MEMORY, "topics/work/topic_memory.md", edit, id) {
            assert!(!review.question.is_empty() && review.proposed.is_some(), "a review of nothing: {review:?}");
        }
    }
    let shown = escape(written);
    assert!(!shown.contains('\n'), "an escaped line has several lines");
    assert_eq!(unescape(&shown), neutralise(written), "an escaped line reads differently");
    rendered(written.as_bytes());
}

fn rendered(json: &[u8]) {
    let none: [PageEdit; 0] = [];
    if let Ok(topic) = TOPIC_MEMORY.read::<TopicMemory>(json) {
        let page = topic_page(&topic);
        assert_eq!(edits_of_page(&page, &page), none, "a page that nobody edited");
        let Ok(user) = UserId::parse("ada") else { return };
        if let Ok(global) = GlobalMemory::build(&user, &[topic]) {
            let page = global_page(&global);
            assert_eq!(edits_of_page(&page, &page), none, "a page that nobody edited");
        }
    }
    if let Ok(global) = GLOBAL_MEMORY.read::<GlobalMemory>(json) {
        let page = global_page(&global);
        assert_eq!(edits_of_page(&page, &page), none, "a page that nobody edited");
    }
}

/// Begins a file in an input of [`folder`].
const FILE: &str = "==> ";

/// Files that replace those that Quipu has written in a folder, each after a line `==> path`.
///
/// The folder is compared, brought up to date, compared again, rendered from its entries, and read as a ledger. Nothing is a bug, and what was
/// brought up to date has no differences.
pub fn folder(data: &[u8]) {
    let vault = MemoryFolder::default();
    let mut ports = TestEngine::new(1);
    ports.extractor = Some(super::rules());
    ports.vault = Some(Arc::new(vault.clone()));
    let engine = ports.engine(Box::new(MemoryStore::new()));
    let Ok(user) = UserId::parse("ada") else { return };
    for text in ["I live in Porto and I like tea.", "I have to renew my passport by Friday. My sister is Ana."] {
        if let Err(error) = remember(&engine, &user, &Utterance::of_user(text), &RememberOptions::default()) {
            panic!("{error}");
        }
    }
    let look = VaultOptions { look: true, dry_run: false };
    if let Err(error) = files::level(&engine, &user, look) {
        panic!("the first writing: {error}");
    }
    change(&vault, data);
    let no_bug = |what: &str, outcome: Result<bool, Error>| match outcome {
        Err(Error::Bug(bug)) => panic!("{what}: {bug}"),
        Err(_) => None,
        Ok(done) => Some(done),
    };
    no_bug("verify", files::verify(&engine, &user).map(|report| report.is_level()));
    let options = RestoreOptions { dry_run: true, replace: true };
    no_bug("restore", files::restore(&engine, &user, options, &mut |_| {}).map(|_| true));
    no_bug("render", files::rebuild_pages(&mut vault.clone(), &user).map(|_| true));
    if no_bug("level", files::rebuild(&engine, &user, look).map(|_| true)).is_some() {
        let level = no_bug("verify", files::verify(&engine, &user).map(|report| report.is_level()));
        assert_eq!(level, Some(true), "a folder that was brought up to date has differences");
    }
}

/// Writes the files of an input. Paths that a folder cannot have are left out.
fn change(vault: &MemoryFolder, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for file in text.split(FILE).skip(1) {
        let (path, content) = file.split_once('\n').unwrap_or((file, ""));
        if VaultPath::parse(path).is_ok() {
            vault.files().insert(path.to_owned(), content.as_bytes().to_vec());
        }
    }
}
