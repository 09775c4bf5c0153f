//! Restores the ledger from the files, and the files from the ledger.

use quipu_engine::files::RestoreOptions;
use quipu_engine::{Error, files, rebuild, status, verify};
use quipu_testkit::MemoryStore;

use crate::{House, me};

const TRIAL: RestoreOptions = RestoreOptions { dry_run: true, replace: false };
const REPLACE: RestoreOptions = RestoreOptions { dry_run: false, replace: true };

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
    let refused = files::restore(&house.engine, &me(), RestoreOptions::default(), &mut |_| {});
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");

    let mut bare = house.rig.clone();
    bare.vault = house.rig.vault.clone();
    let engine = bare.engine(Box::new(MemoryStore::new()));
    assert!(files::restore(&engine, &me(), TRIAL, &mut |_| {}).unwrap().dry_run);
    assert!(quipu_engine::users(&engine).unwrap().is_empty(), "a trial makes nothing");
    let restored = files::restore(&engine, &me(), RestoreOptions::default(), &mut |_| {}).unwrap();
    assert!(verify(&engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
    assert_eq!(rebuild(&engine, &me(), &mut |_| {}).unwrap().memory_hash, memory);
    assert!(files::rebuild(&engine, &me(), quipu_engine::VaultOptions::default()).unwrap().is_level());
    assert_eq!(house.files(), files);

    std::fs::remove_dir_all(house.folder()).unwrap();
    let anew = files::level(&engine, &me(), quipu_engine::VaultOptions::default()).unwrap();
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
    let refused = files::restore(&engine, &me(), RestoreOptions::default(), &mut |_| {});
    assert!(matches!(refused, Err(Error::Corrupt(_))), "{refused:?}");
    assert!(quipu_engine::users(&engine).unwrap().is_empty());
}

#[test]
fn a_memory_is_replaced_in_one_step() {
    // Given plain files that are older than the memory
    let store = MemoryStore::new();
    let house = House::over(store.clone(), 1);
    house.says("I live in Lyon");
    house.level();
    let old = status(&house.engine, &me()).unwrap();
    house.says("I moved to Porto");
    let new = status(&house.engine, &me()).unwrap();
    // When a restore is not allowed to replace the ledger, nothing happens
    let refused = files::restore(&house.engine, &me(), RestoreOptions::default(), &mut |_| {});
    let Err(Error::Refused(why)) = refused else { panic!("{refused:?}") };
    assert!(why.contains("--replace"), "{why}");
    // And when it is, every reader sees the old memory until the restored one is in place
    let beside = house.rig.engine(Box::new(store));
    let mut looks = 0;
    let restored = files::restore(&house.engine, &me(), REPLACE, &mut |_| {
        assert_eq!(status(&beside, &me()).unwrap().head, new.head);
        looks += 1;
    })
    .unwrap();
    assert!(looks > 0);
    assert_eq!((&restored.head_hash, restored.events), (&old.head, old.version));
    assert!(restored.set_aside.is_some_and(|path| path.is_file()), "what was there is kept");
    for engine in [&house.engine, &beside] {
        assert_eq!(status(engine, &me()).unwrap().head, old.head);
        assert!(verify(engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
    }
}
