//! Erased content is in no file.

use quipu_engine::erase::{EraseTarget, delete_user};
use quipu_engine::{erase, users};

use crate::{House, me};

fn holds(house: &House, word: &str) -> Vec<String> {
    let found = house.files().into_iter().filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains(word));
    found.map(|(path, _)| path).collect()
}

#[test]
fn what_is_erased_is_in_no_file() {
    let house = House::new();
    house.says("I live in Lyon");
    let told = house.says("My sister is called Zanzibarina");
    house.level();
    house.day(1);
    house.says("I like tea");
    house.level();
    assert!(holds(&house, "Zanzibarina").len() >= 5);
    let receipt = erase(&house.engine, &me(), &[EraseTarget::Event(told)], "asked", &mut |_| {}).unwrap();
    assert_eq!(holds(&house, "Zanzibarina"), Vec::<String>::new());
    for path in ["index/ledger/0000000001.jsonl", "GLOBAL_MEMORY.md", "topics/conversations/2026-03-02/raw.md"] {
        assert!(receipt.files.iter().any(|file| file == path), "{path} is not in {:?}", receipt.files);
    }
    assert!(house.page("topics/conversations/2026-03-02/raw.md").contains("I live in Lyon"));
    assert!(house.rebuild().is_level());
    // The audit log has lost no line.
    assert_eq!(house.page("index/audit.log").lines().count() as u64, house.level().version);
}

#[test]
fn who_is_erased_leaves_no_folder() {
    let house = House::new();
    house.says("I live in Lyon");
    house.level();
    let receipt = delete_user(&house.engine, &me()).unwrap();
    assert!(receipt.cleaned.contains(&"plain files"));
    assert!(!house.folder().exists());
    assert!(users(&house.engine).unwrap().is_empty());
}
