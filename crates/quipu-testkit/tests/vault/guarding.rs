//! Planted links, incomplete files, and files that belong to a person.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use quipu_engine::{Error, VaultOptions, files};

use crate::{House, me};

fn house() -> House {
    let house = House::new();
    house.says("I live in Lyon");
    house.level();
    house.says("I like tea");
    house
}

/// Replaces a file or folder of the vault by a link, updates the vault, and checks the link's target.
fn check_link(at: &str) {
    let house = house();
    let outside = house.place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("treasure"), "gold").unwrap();
    let place = house.folder().join(at);
    let target = if place.is_dir() {
        fs::remove_dir_all(&place).unwrap();
        outside.clone()
    } else {
        fs::remove_file(&place).unwrap();
        outside.join("treasure")
    };
    symlink(&target, &place).unwrap();
    for all in [false, true] {
        let options = VaultOptions::default();
        let outcome = if all {
            files::rebuild(&house.engine, &me(), options)
        } else {
            files::level(&house.engine, &me(), options)
        };
        assert!(matches!(&outcome, Err(Error::Refused(text)) if text.contains("link")), "{at}: {outcome:?}");
    }
    assert_eq!(fs::read_to_string(outside.join("treasure")).unwrap(), "gold", "{at}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{at}");
}

#[test]
fn a_planted_link_is_refused_and_not_followed() {
    for at in [
        "topics",
        "topics/location",
        "topics/location/open",
        "topics/location/topic_memory.md",
        "index",
        "index/audit.log",
        "index/ledger",
        "index/ledger/0000000001.jsonl",
        "GLOBAL_MEMORY.md",
    ] {
        check_link(at);
    }
}

#[test]
fn a_link_in_the_place_of_a_user_is_refused() {
    let house = House::new();
    house.says("hello");
    let outside = house.place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(house.place.path().join("vault")).unwrap();
    symlink(&outside, house.folder()).unwrap();
    let outcome = files::level(&house.engine, &me(), VaultOptions::default());
    assert!(matches!(outcome, Err(Error::Refused(_))), "{outcome:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_death_between_writing_and_renaming_leaves_the_old_file_and_heals() {
    let house = house();
    let page = house.page("GLOBAL_MEMORY.md");
    // The state after a crash: the mark, a temporary file, and a log that is longer than recorded.
    fs::write(house.folder().join("index/unfinished"), "").unwrap();
    fs::write(house.folder().join(".GLOBAL_MEMORY.md.partial"), "half of").unwrap();
    let log = house.page("index/audit.log");
    fs::write(house.folder().join("index/audit.log"), format!("{log}2026-03-02T08:")).unwrap();
    assert_eq!(house.page("GLOBAL_MEMORY.md"), page);
    let report = house.level();
    assert!(report.anew);
    assert!(!house.files().keys().any(|path| path.ends_with(".partial") || path.ends_with("unfinished")));
    assert!(house.rebuild().is_level());
}

#[test]
fn damaged_and_missing_files_are_found_and_mended() {
    let house = house();
    house.level();
    let files = house.files();
    fs::write(house.folder().join("topics/location/open/2026-03-02/raw.md"), "not what was said").unwrap();
    fs::remove_file(house.folder().join("index/ledger/0000000001.jsonl")).unwrap();
    let surplus = house.folder().join("topics/location/2020-01-01");
    fs::create_dir(&surplus).unwrap();
    fs::write(surplus.join("summary.json"), "{}").unwrap();
    let found = files::verify(&house.engine, &me()).unwrap();
    assert_eq!(found.written.len() + found.removed.len(), 3, "{found:?}");
    house.rebuild();
    assert_eq!(house.files(), files);
}

#[test]
fn what_is_a_persons_is_left_alone() {
    let house = house();
    for path in [
        "my notes.md",
        ".obsidian/app.json",
        "topics/location/draft.md",
        "topics/mine/page.md",
        "topics/location/2026-03-02/photo.png",
    ] {
        let path = house.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
    }
    house.rebuild();
    assert_eq!(house.files().values().filter(|bytes| bytes.as_slice() == b"mine").count(), 5);
}

#[test]
fn others_cannot_read_the_files() {
    let house = house();
    house.level();
    for path in quipu_testkit::files_below(&house.folder()) {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
    }
    assert_eq!(fs::metadata(house.folder()).unwrap().permissions().mode() & 0o777, 0o700);
}
