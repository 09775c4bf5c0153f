//! The content of the files, and how the layers depend on each other.

use std::sync::{Arc, Mutex};

use quipu_core::artifact::{GLOBAL_MEMORY, GlobalMemory, Slug, VaultPath};
use quipu_core::id::UserId;
use quipu_core::limit;
use quipu_engine::ports::{FolderEntry, UserVault, Vault, VaultError};
use quipu_engine::{RememberOptions, Utterance, files, remember, score_fact};
use quipu_files::FolderVault;

use crate::{House, me};

fn a_week() -> House {
    let house = House::new();
    house.says("I live in Lyon. My sister is called Marta.");
    house.says("I am allergic to hazelnuts");
    house.level();
    house.day(1);
    house.says("I moved to Porto yesterday");
    house.level();
    house.day(3);
    house.says("I like tea");
    house
}

#[test]
fn what_is_closed_is_never_written_again() {
    let house = a_week();
    house.level();
    let closed = |house: &House| {
        let files = house.files().into_iter();
        let entry =
            |path: &String| path.starts_with("topics/") && path.split('/').count() == 4 && !path.contains("/open/");
        files.filter(|(path, _)| entry(path)).collect::<std::collections::BTreeMap<_, _>>()
    };
    let before = closed(&house);
    assert!(before.keys().any(|path| path == "topics/location/2026-03-02/summary.json"), "{:?}", before.keys());
    house.day(9);
    house.says("I moved to Faro. I no longer like tea.");
    house.level();
    let after = closed(&house);
    assert!(after.len() > before.len());
    for (path, bytes) in before {
        assert!(after.get(&path) == Some(&bytes), "{path} was written again");
    }
    assert!(house.page("topics/location/topic_memory.md").contains("lives in Faro"));
    assert!(house.page("GLOBAL_MEMORY.md").contains("allergic to hazelnuts"));
}

#[test]
fn adding_and_making_anew_give_the_same_bytes() {
    let house = a_week();
    let added = house.level();
    assert!(!added.anew);
    let files = house.files();
    let again = house.rebuild();
    assert!(again.is_level(), "{again:?}");
    assert_eq!(files, house.files());
    assert!(house.level().is_level());
    assert!(files::verify(&house.engine, &me()).unwrap().is_level());
}

#[test]
fn pages_follow_from_the_entries_alone() {
    let house = a_week();
    house.level();
    let files = house.files();
    for path in files.keys().filter(|path| path.contains("topic_memory") || path.contains("GLOBAL_MEMORY")) {
        std::fs::remove_file(house.folder().join(path)).unwrap();
    }
    let folder = FolderVault::new(house.place.path().join("vault"));
    let mut opened = folder.open(&me(), false).unwrap().unwrap();
    files::rebuild_pages(opened.as_mut(), &me()).unwrap();
    assert_eq!(files, house.files());
}

#[test]
fn a_trial_changes_nothing() {
    let house = a_week();
    let options = quipu_engine::VaultOptions { dry_run: true, look: true };
    let report = files::rebuild(&house.engine, &me(), options).unwrap();
    assert!(report.written.iter().any(|path| path == "GLOBAL_MEMORY.md"));
    let before = house.files();
    house.rebuild();
    assert_ne!(before, house.files());
    assert!(files::rebuild(&house.engine, &me(), options).unwrap().is_level());
}

#[test]
fn the_users_own_score_decides() {
    let house = a_week();
    let fact = |text: &str| {
        let options = quipu_engine::FactOptions::default();
        let facts = quipu_engine::facts(&house.engine, &me(), &options).unwrap();
        facts.into_iter().find(|shown| shown.fact.text.contains(text)).unwrap().fact.id.to_string()
    };
    score_fact(&house.engine, &me(), &fact("hazelnuts"), 0).unwrap();
    score_fact(&house.engine, &me(), &fact("tea"), 10).unwrap();
    house.level();
    let global: GlobalMemory = GLOBAL_MEMORY.read(house.page("GLOBAL_MEMORY.json").as_bytes()).unwrap();
    let kept: Vec<&str> =
        global.do_not_forget.iter().flat_map(|group| &group.facts).map(|kept| kept.text.as_str()).collect();
    assert!(!kept.iter().any(|text| text.contains("hazelnuts")), "{kept:?}");
    assert!(
        global.do_not_forget[..].iter().any(|group| group.facts.iter().any(|kept| kept.user_fact_score == Some(10)))
    );
}

#[test]
fn hostile_topics_stay_beneath_and_apart() {
    let house = House::new();
    let long = "long ".repeat(25);
    let topics = [
        "../../etc",
        "/absolute",
        "..",
        "CON",
        "aux.md",
        "a\\b",
        "nul",
        "com1",
        "-rf",
        ".git",
        "🌋",
        "עברית",
        "a|b#c^[[d]]",
        "Work",
        "work",
        "WORK ",
        long.as_str(),
        "con",
        "e\u{301}",
        "\u{e9}",
        "a%2f..%2fb",
        "open",
        "index",
    ];
    for topic in topics {
        let said = Utterance { topic: Some(topic.to_owned()), ..Utterance::of_user("hello there") };
        remember(&house.engine, &me(), &said, &RememberOptions::default()).unwrap();
    }
    house.level();
    assert_eq!(std::fs::read_dir(house.place.path()).unwrap().count(), 1);
    let files = house.files();
    let mut folded = std::collections::BTreeSet::new();
    for path in files.keys() {
        assert!(VaultPath::parse(path).is_ok(), "{path}");
        assert!(folded.insert(path.to_lowercase()), "{path} differs in case only");
    }
    let named = std::fs::read_dir(house.folder().join("topics")).unwrap().count();
    // The three spellings of work are one topic, and so are CON and con.
    assert_eq!(named, topics.len() - 3);
    for entry in std::fs::read_dir(house.folder().join("topics")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(Slug::parse(&name).is_some_and(|slug| slug.as_str().len() <= limit::ARTIFACT_NAME_BYTES_MAX), "{name}");
    }
    assert!(house.rebuild().is_level());
}

#[test]
fn words_do_nothing_on_a_page() {
    let house = House::new();
    house.says("![[secret]] [[index]] <img src=x> #tag `code` %%hidden%% \u{202e}evil");
    house.level();
    let page = house.page("topics/conversations/open/2026-03-02/raw.md");
    assert!(
        page.contains(r"> !\[\[secret\]\] \[\[index\]\] \<img src=x> \#tag \`code\` \%\%hidden\%\% evil"),
        "{page}"
    );
}

/// Records the files that are read.
struct Counting(FolderVault, Arc<Mutex<Vec<String>>>);

struct CountingFolder(Box<dyn UserVault>, Arc<Mutex<Vec<String>>>);

impl Vault for Counting {
    fn open(&self, user: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>, VaultError> {
        let opened = self.0.open(user, create)?;
        Ok(opened.map(|folder| Box::new(CountingFolder(folder, self.1.clone())) as Box<dyn UserVault>))
    }
}

impl UserVault for CountingFolder {
    fn place(&self) -> std::path::PathBuf {
        self.0.place()
    }
    fn read(&mut self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError> {
        self.1.lock().unwrap().push(path.to_string());
        self.0.read(path)
    }
    fn list(&mut self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>, VaultError> {
        self.1.lock().unwrap().push(folder.map(ToString::to_string).unwrap_or_default());
        self.0.list(folder)
    }
    fn write(&mut self, files: &[(VaultPath, Vec<u8>)]) -> Result<(), VaultError> {
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

/// The number of reads while the global pages are made, with so many days about two topics.
fn reads_of_global(days: i64) -> usize {
    let house = House::new();
    for day in 0..days {
        house.day(day);
        house.says(&format!("I like tea number {day}"));
    }
    house.level();
    let reads = Arc::new(Mutex::new(Vec::new()));
    let folder = Counting(FolderVault::new(house.place.path().join("vault")), reads.clone());
    let mut opened = folder.open(&me(), false).unwrap().unwrap();
    files::rebuild_global(opened.as_mut(), &me()).unwrap();
    let reads = reads.lock().unwrap();
    assert!(!reads.iter().any(|path| path.contains("summary")), "{reads:?}");
    reads.len()
}

#[test]
fn the_global_memory_costs_with_topics_not_with_entries() {
    let few = reads_of_global(3);
    assert_eq!(few, reads_of_global(30));
    assert!(few > 1);
}

#[test]
fn the_global_memory_stays_small() {
    let house = House::new();
    for number in 0..60 {
        house.day(number);
        let topic = Some(format!("topic number {number} with a rather long name"));
        let said = Utterance { topic, ..Utterance::of_user(format!("I moved to Town{number}. I like dish{number}.")) };
        remember(&house.engine, &me(), &said, &RememberOptions::default()).unwrap();
    }
    house.level();
    for page in ["GLOBAL_MEMORY.md", "GLOBAL_MEMORY.json"] {
        let bytes = house.page(page).len();
        assert!((1_000..=limit::GLOBAL_MEMORY_BYTES_MAX).contains(&bytes), "{page}: {bytes}");
    }
}
