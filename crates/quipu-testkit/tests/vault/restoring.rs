//! The ledger from the files, and the files from the ledger.

use quipu_engine::{Error, rebuild, vault, verify};
use quipu_testkit::MemoryStore;

use crate::{House, me};

#[test]
fn a_ledger_is_restored_from_the_folder_alone() {
    let house = House::new();
    house.says("I live in Lyon");
    house.says("My sister is called Marta");
    house.day(1);
    house.says("I moved to Porto");
    house.level();
    let files = house.files();
    let memory = rebuild(&house.engine, &me(), &mut |_| {}).unwrap().memory_hash;
    let refused = vault::restore(&house.engine, &me(), false, &mut |_| {});
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");

    let mut bare = house.rig.clone();
    bare.vault = house.rig.vault.clone();
    let engine = bare.engine(Box::new(MemoryStore::new()));
    assert!(vault::restore(&engine, &me(), true, &mut |_| {}).unwrap().dry_run);
    assert!(quipu_engine::users(&engine).unwrap().is_empty(), "a trial makes nothing");
    let restored = vault::restore(&engine, &me(), false, &mut |_| {}).unwrap();
    assert!(verify(&engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
    assert_eq!(rebuild(&engine, &me(), &mut |_| {}).unwrap().memory_hash, memory);
    assert!(vault::rebuild(&engine, &me(), quipu_engine::VaultOptions::default()).unwrap().is_level());
    assert_eq!(house.files(), files);

    std::fs::remove_dir_all(house.folder()).unwrap();
    let anew = vault::level(&engine, &me(), quipu_engine::VaultOptions::default()).unwrap();
    assert_eq!(anew.version, restored.events);
    assert_eq!(house.files(), files);
}

#[test]
fn lines_that_were_changed_restore_nothing() {
    let house = House::new();
    house.says("I live in Lyon");
    house.level();
    let lines = house.folder().join("index/ledger/0000000001.jsonl");
    let forged = house.page("index/ledger/0000000001.jsonl").replace("Lyon", "Rome");
    std::fs::write(&lines, forged).unwrap();
    let engine = house.rig.engine(Box::new(MemoryStore::new()));
    let refused = vault::restore(&engine, &me(), false, &mut |_| {});
    assert!(matches!(refused, Err(Error::Corrupt(_))), "{refused:?}");
    assert!(quipu_engine::users(&engine).unwrap().is_empty());
}
