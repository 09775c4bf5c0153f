//! A folder written by an older Quipu: its closed entries stay as they are, and its pages are rebuilt from them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_core::artifact::{FileSchema, Schemas, VaultPath};
use quipu_core::id::UserId;
use quipu_engine::ports::{FolderEntry, UserVault, Vault, VaultError};
use quipu_engine::{Error, VaultOptions, files};
use quipu_files::FolderVault;
use quipu_testkit::MemoryStore;
use serde_json::Value;

use crate::{House, me};

/// Schema names of the next version, if the first one had named relations differently.
const LATER: Schemas = Schemas {
    entry_meta: FileSchema { family: "entry_meta", version: 2, steps: &[|_| {}] },
    entry_summary: FileSchema { family: "entry_summary", version: 2, steps: &[lift] },
    topic_memory: FileSchema { family: "topic_memory", version: 2, steps: &[lift] },
    global_memory: FileSchema { family: "global_memory", version: 2, steps: &[|_| {}] },
};

fn renamed(value: &mut Value, from: &str, to: &str) {
    for fact in value["facts"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        if let Some(relation) = fact.remove(from) {
            fact.insert(to.to_owned(), relation);
        }
    }
}

fn lift(value: &mut Value) {
    renamed(value, "predicate", "relation");
}

/// A vault that is written in later versions, and fails after a number of writes.
struct Later(FolderVault, Arc<AtomicUsize>);

struct LaterFolder(Box<dyn UserVault>, Arc<AtomicUsize>);

impl Vault for Later {
    fn open(&self, user: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>, VaultError> {
        let opened = self.0.open(user, create)?;
        Ok(opened.map(|folder| Box::new(LaterFolder(folder, self.1.clone())) as Box<dyn UserVault>))
    }
}

impl UserVault for LaterFolder {
    fn place(&self) -> PathBuf {
        self.0.place()
    }
    fn schemas(&self) -> Schemas {
        LATER
    }
    fn read(&mut self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError> {
        self.0.read(path)
    }
    fn list(&mut self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>, VaultError> {
        self.0.list(folder)
    }
    fn write(&mut self, files: &[(VaultPath, Vec<u8>)]) -> Result<(), VaultError> {
        if self.1.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err() {
            return Err(VaultError::Unavailable("the disk is full".to_owned()));
        }
        self.0.write(files)
    }
    fn append(&mut self, path: &VaultPath, at: u64, bytes: &[u8]) -> Result<(), VaultError> {
        self.0.append(path, at, bytes)
    }
    fn remove(&mut self, files: &[VaultPath]) -> Result<(), VaultError> {
        self.0.remove(files)
    }
    fn sweep(&mut self) -> Result<(), VaultError> {
        self.0.sweep()
    }
    fn remove_all(self: Box<Self>) -> Result<(), VaultError> {
        self.0.remove_all()
    }
}

/// Three days as written by the older Quipu, two of them closed.
fn old(store: MemoryStore) -> House {
    let house = House::over(store, 1);
    for (day, text) in [(0, "I live in Lyon. My sister is called Marta."), (1, "I moved to Porto."), (3, "I like tea.")]
    {
        house.day(day);
        house.says(text);
        house.level();
    }
    for (path, bytes) in house.files().iter().filter(|(path, _)| path.ends_with("summary.json")) {
        let mut value: Value = serde_json::from_slice(bytes).unwrap();
        renamed(&mut value, "relation", "predicate");
        std::fs::write(house.folder().join(path), serde_json::to_vec_pretty(&value).unwrap()).unwrap();
    }
    house
}

/// The same folder and ledger, opened by the later Quipu with a limit on writes.
fn upgraded(mut house: House, store: MemoryStore, writes: usize) -> (House, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(writes));
    house.rig.vault = Some(Arc::new(Later(FolderVault::new(house.place.path().join("vault")), left.clone())));
    house.engine = house.rig.engine(Box::new(store));
    (house, left)
}

fn is_closed(path: &str) -> bool {
    path.starts_with("topics/") && path.split('/').count() == 4 && !path.contains("/open/")
}

fn closed(house: &House) -> BTreeMap<String, Vec<u8>> {
    house.files().into_iter().filter(|(path, _)| is_closed(path)).collect()
}

/// Everything except closed entries, which is rebuilt.
fn made(house: &House) -> BTreeMap<String, Vec<u8>> {
    house.files().into_iter().filter(|(path, _)| !is_closed(path)).collect()
}

/// The files that the later Quipu writes to an empty vault.
fn from_nothing(house: &House, store: &MemoryStore) -> House {
    let (other, _) = upgraded(house.elsewhere(store.clone()), store.clone(), usize::MAX);
    other.rebuild();
    other
}

#[test]
fn a_folder_is_brought_to_a_later_version_and_its_closed_entries_stay_as_they_are() {
    let store = MemoryStore::new();
    let (house, _) = upgraded(old(store.clone()), store.clone(), usize::MAX);
    let before = closed(&house);
    assert!(before.values().any(|bytes| String::from_utf8_lossy(bytes).contains("\"predicate\"")));
    assert!(!files::verify(&house.engine, &me()).unwrap().is_level(), "its pages are of an older version");
    // Nothing was recorded since, but the upgrade is detected.
    assert!(files::level(&house.engine, &me(), VaultOptions::default()).unwrap().anew);
    assert_eq!(closed(&house), before, "a closed entry was written again");
    assert!(house.page("GLOBAL_MEMORY.json").contains("global_memory.v2"));
    assert!(made(&house) == made(&from_nothing(&house, &store)), "the pages are not what they are made from nothing");
    for again in [house.level(), house.rebuild(), files::verify(&house.engine, &me()).unwrap()] {
        assert!(again.is_level(), "{again:?}");
    }
    // From here on there are entries of both versions.
    house.day(4);
    house.says("I no longer like tea. I like coffee.");
    house.level();
    house.day(6);
    house.says("I moved to Faro.");
    house.level();
    let now = closed(&house);
    let of = |id: &str| now.values().filter(|bytes| String::from_utf8_lossy(bytes).contains(id)).count();
    assert!(of("entry_summary.v1") > 0 && of("entry_summary.v2") > 0, "{:?}", now.keys());
    assert!(before.iter().all(|(path, bytes)| now.get(path) == Some(bytes)));
    let fresh = from_nothing(&house, &store);
    assert!(made(&house) == made(&fresh));
    let names = |house: &House| closed(house).into_keys().collect::<Vec<_>>();
    assert_eq!(names(&house), names(&fresh));
    assert!(house.rebuild().is_level());
}

#[test]
fn what_a_person_changed_before_an_upgrade_is_taken_up() {
    let store = MemoryStore::new();
    let house = old(store.clone());
    let page = house.page("GLOBAL_MEMORY.md");
    std::fs::write(house.folder().join("GLOBAL_MEMORY.md"), page.replace("lives in Porto", "lives in Rome")).unwrap();
    let (house, _) = upgraded(house, store, usize::MAX);
    let report = house.rebuild();
    assert_eq!(report.edited.len(), 1, "{report:?}");
    assert!(report.edited[0].proposed[0].1.contains("“User lives in Rome” instead of “User lives in Porto”"));
    assert!(house.page(report.edited[0].kept.as_ref().unwrap()).contains("lives in Rome"));
    assert!(house.page("GLOBAL_MEMORY.md").contains("lives in Porto"));
    assert!(house.rebuild().is_level());
}

#[test]
fn an_upgrade_that_was_cut_short_goes_on() {
    let mut cut = 0;
    for writes in 0.. {
        let store = MemoryStore::new();
        let (house, left) = upgraded(old(store.clone()), store.clone(), writes);
        let before = closed(&house);
        match files::rebuild(&house.engine, &me(), VaultOptions::default()) {
            Ok(_) => break,
            Err(error) => assert!(matches!(error, Error::Unavailable(_)), "{error:?}"),
        }
        cut += 1;
        left.store(usize::MAX, Ordering::SeqCst);
        files::level(&house.engine, &me(), VaultOptions::default()).unwrap();
        assert_eq!(closed(&house), before, "after {writes} writes");
        assert!(made(&house) == made(&from_nothing(&house, &store)), "after {writes} writes");
        assert!(house.rebuild().is_level());
    }
    assert!(cut >= 3, "it was cut short {cut} times");
}
