//! Damaged files: every flipped bit that changes the content is detected and located, and no wrong text is ever
//! returned.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::erase::EraseTarget;
use quipu_engine::ports::LedgerStore;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    CoreEdit, Engine, Error, ListOptions, PatchOptions, RecallOptions, RememberOptions, Utterance, core_at, edit_core,
    erase, list, recall, remember, revert, snapshot, verify,
};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{Rng, TestEngine, effort, files_below, seed};
use tempfile::TempDir;

fn me() -> UserId {
    UserId::parse("me").unwrap()
}

fn options() -> StoreOptions {
    StoreOptions { ballast_bytes: 0, ..StoreOptions::default() }
}

fn engine(folder: &Path) -> Result<Engine, Error> {
    Ok(TestEngine::new(2).engine(Box::new(SqliteStore::open(folder, options())?)))
}

/// A closed folder with one ledger of all kinds of events: turns, edits, a revert, an erasure, a snapshot with a tail.
fn written() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let engine = engine(folder.path()).unwrap();
    let me = me();
    for n in 0..60 {
        let said = Utterance { session: Some(format!("s{}", n % 4)), ..Utterance::of_user(text(n)) };
        remember(&engine, &me, &said, &RememberOptions::default()).unwrap();
        if n % 6 == 0 {
            let edit = CoreEdit::Set(format!("/uncategorized/k{}", n % 4), serde_json::json!(text(n)));
            edit_core(&engine, &me, &edit, &PatchOptions::default()).unwrap();
        }
    }
    revert(&engine, &me, &Selection::Events(vec![EventRef::Seq(9)]), &RevertOptions::default(), &mut |_| {}).unwrap();
    erase(&engine, &me, &[EraseTarget::Event(12)], "asked to", &mut |_| {}).unwrap();
    snapshot(&engine, &me).unwrap();
    remember(&engine, &me, &Utterance::of_user(text(60)), &RememberOptions::default()).unwrap();
    drop(engine);
    let mut files = files_below(folder.path());
    files.retain(|path| fs::read(path).unwrap().starts_with(b"SQLite format 3"));
    assert_eq!(files.len(), 1, "one closed database file: {files:?}");
    let file = files.swap_remove(0);
    (folder, file)
}

fn text(n: u32) -> String {
    format!(
        "On day {n} the quipu of house {} had {} knots and a {} cord.",
        n * 7 % 11,
        n * n,
        ["red", "blue", "brown"][n as usize % 3]
    )
}

/// Everything a reader can get.
#[derive(Debug, PartialEq)]
struct Told {
    items: Vec<(String, String, Seq)>,
    core: serde_json::Value,
    answers: Vec<(String, String)>,
    /// Whether the answers were marked as degraded.
    degraded: bool,
}

fn told(engine: &Engine) -> Result<Told, Error> {
    let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let items = list(engine, &me(), &all)?
        .items
        .into_iter()
        .map(|item| (item.id.to_string(), item.text, item.event_seq))
        .collect();
    let core = core_at(engine, &me(), When::Now)?;
    let found = recall(engine, &me(), &RecallOptions::of("Which house had a blue cord on day 31?"))?;
    let answers = found.hits.into_iter().map(|hit| (hit.id.to_string(), hit.text)).collect();
    Ok(Told { items, core, answers, degraded: found.degraded.is_some() })
}

fn stored(folder: &Path) -> Result<Vec<SealedEvent>, Error> {
    let mut events = Vec::new();
    let mut ledger = SqliteStore::open(folder, options())?.open(&me(), false)?;
    ledger.read(1..=1 << 40, &mut |event| {
        events.push(event);
        true
    })?;
    Ok(events)
}

/// Results for one kind of damage.
#[derive(Debug, Default)]
struct Tally {
    tried: u64,
    harmless: u64,
    refused: u64,
    reported: u64,
    located: u64,
    healed: u64,
    weaker: u64,
    /// Failures with their places: changed events that no report names, changed answers without an error, panics.
    missed: Vec<String>,
    unlocated: Vec<String>,
    served: Vec<String>,
    misranked: Vec<String>,
    panicked: Vec<String>,
}

struct Original {
    folder: TempDir,
    file: PathBuf,
    bytes: Vec<u8>,
    events: Vec<SealedEvent>,
    told: Told,
}

fn original() -> Original {
    let (folder, file) = written();
    let bytes = fs::read(&file).unwrap();
    let events = stored(folder.path()).unwrap();
    let told = told(&engine(folder.path()).unwrap()).unwrap();
    Original { folder, file, bytes, events, told }
}

impl Original {
    /// Writes damaged bytes, runs all readers, and judges their results.
    fn judge(&self, what: &str, bytes: &[u8], tally: &mut Tally) {
        files_below(self.folder.path()).iter().for_each(|path| fs::remove_file(path).unwrap());
        fs::write(&self.file, bytes).unwrap();
        tally.tried += 1;
        let judged = catch_unwind(AssertUnwindSafe(|| self.read_all(what, tally)));
        if judged.is_err() {
            tally.panicked.push(what.to_owned());
        }
    }

    fn read_all(&self, what: &str, tally: &mut Tally) {
        let folder = self.folder.path();
        // First as a reader that does not verify.
        let answers = engine(folder).and_then(|engine| told(&engine));
        let found = stored(folder);
        let report = engine(folder).and_then(|engine| verify(&engine, &me(), &[], &mut |_| {}));
        let changed: Vec<Seq> = match &found {
            Ok(events) => (1..=self.events.len().max(events.len()) as Seq)
                .filter(|&seq| self.events.get(seq as usize - 1) != events.get(seq as usize - 1))
                .collect(),
            Err(_) => Vec::new(),
        };
        match &answers {
            Ok(answers) if *answers != self.told => {
                let known = |(_, text): &(String, String)| self.told.items.iter().any(|(_, held, _)| held == text);
                let right = answers.items == self.told.items && answers.core == self.told.core;
                let difference = format!("{what}: {}", self.first_difference(answers));
                match right && answers.answers.iter().all(known) {
                    false => tally.served.push(difference),
                    // Only derived data is damaged: answers may be weaker if they are marked as degraded.
                    true if answers.degraded => tally.weaker += 1,
                    true => tally.misranked.push(difference),
                }
            }
            _ => {}
        }
        match &report {
            Err(_) => tally.refused += 1,
            Ok(report) if !report.is_intact() => {
                tally.reported += 1;
                let named = |seq: &Seq| report.ledger.damage.iter().any(|damage| damage.seq == *seq);
                if !changed.is_empty() && report.medium.is_empty() && !changed.iter().any(named) {
                    tally
                        .unlocated
                        .push(format!("{what}: events {changed:?} changed, report {:?}", report.ledger.damage));
                } else {
                    tally.located += 1;
                }
            }
            Ok(_) if !changed.is_empty() || found.is_err() => {
                tally.missed.push(format!(
                    "{what}: events {changed:?} changed ({:?})",
                    found.as_ref().err().map(ToString::to_string)
                ));
            }
            Ok(_) => match answers {
                Ok(_) => tally.harmless += 1,
                // The ledger is intact and derived data is damaged: an error is allowed if a rebuild helps.
                Err(error) => {
                    let rebuilt = engine(folder).and_then(|engine| {
                        quipu_engine::rebuild(&engine, &me(), &mut |_| {}).and_then(|_| told(&engine))
                    });
                    if rebuilt.as_ref().is_ok_and(|told| *told == self.told) {
                        tally.healed += 1;
                    } else {
                        tally.missed.push(format!("{what}: verify sees nothing, but readers get {error}"));
                    }
                }
            },
        }
    }

    fn first_difference(&self, answers: &Told) -> String {
        let items = self.told.items.iter().zip(&answers.items).find(|(before, after)| before != after);
        match items {
            Some((before, after)) => format!("{before:?} became {after:?}"),
            None if self.told.core != answers.core => format!("core: {} became {}", self.told.core, answers.core),
            None if self.told.items.len() != answers.items.len() => {
                format!("{} items became {}", self.told.items.len(), answers.items.len())
            }
            None => {
                let ids = |told: &Told| told.answers.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>().join(" ");
                format!("answers: {} became {}", ids(&self.told), ids(answers))
            }
        }
    }
}

/// The first elements of a possibly long list.
fn some(list: &[String]) -> &[String] {
    &list[..list.len().min(5)]
}

impl Tally {
    fn settle(&self, title: &str) {
        println!(
            "{title}: tried {}, harmless {}, refused to open {}, reported {} (located {}), mended by a rebuild {}, weaker and said so {}, missed {}, \
             unlocated {}, wrong text served {}, weaker and silent {}, panics {}",
            self.tried,
            self.harmless,
            self.refused,
            self.reported,
            self.located,
            self.healed,
            self.weaker,
            self.missed.len(),
            self.unlocated.len(),
            self.served.len(),
            self.misranked.len(),
            self.panicked.len()
        );
        assert!(self.panicked.is_empty(), "{title}: panicked: {:#?}", some(&self.panicked));
        assert!(self.missed.is_empty(), "{title}: went unnoticed: {:#?}", some(&self.missed));
        assert!(self.unlocated.is_empty(), "{title}: noticed, but not where: {:#?}", some(&self.unlocated));
        assert!(self.served.is_empty(), "{title}: served to readers without an error: {:#?}", some(&self.served));
        assert!(
            self.misranked.is_empty(),
            "{title}: answers are weaker and do not say so: {:#?}",
            some(&self.misranked)
        );
    }
}

#[test]
fn flipped_bits_are_found_and_no_wrong_text_is_served() {
    let original = original();
    let seed = seed();
    let mut dice = Rng::new(seed);
    let mut tally = Tally::default();
    for _ in 0..effort(400) {
        let mut bytes = original.bytes.clone();
        let (byte, bit) = (dice.below(bytes.len()), dice.below(8));
        bytes[byte] ^= 1 << bit;
        original.judge(&format!("byte {byte} bit {bit}"), &bytes, &mut tally);
    }
    tally.settle(&format!("single bits, seed {seed}, file of {} bytes", original.bytes.len()));
}

#[test]
fn a_truncated_file_is_never_taken_for_a_shorter_ledger() {
    let original = original();
    let mut tally = Tally::default();
    // At the end of every page, or of every sector in a longer run.
    let step = if effort(1) == 1 { 4096 } else { 512 };
    let cuts = (0..original.bytes.len()).step_by(step).chain([
        1,
        15,
        16,
        99,
        100,
        511,
        512,
        4095,
        4097,
        original.bytes.len() - 1,
    ]);
    for cut in cuts {
        original.judge(&format!("cut at {cut}"), &original.bytes[..cut], &mut tally);
    }
    assert_eq!(tally.harmless, 0, "a cut file was taken for whole: {tally:#?}");
    tally.settle("truncation");
}

#[test]
fn zeroed_and_exchanged_pages_are_found() {
    let original = original();
    let mut tally = Tally::default();
    let pages = original.bytes.len() / 4096;
    for page in 0..pages {
        let mut bytes = original.bytes.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0);
        original.judge(&format!("page {page} zeroed"), &bytes, &mut tally);
        let mut bytes = original.bytes.clone();
        let other = (page + 1) % pages;
        let kept = bytes[page * 4096..(page + 1) * 4096].to_vec();
        bytes.copy_within(other * 4096..(other + 1) * 4096, page * 4096);
        bytes[other * 4096..(other + 1) * 4096].copy_from_slice(&kept);
        original.judge(&format!("pages {page} and {other} exchanged"), &bytes, &mut tally);
    }
    tally.settle("pages");
}

/// Offsets in a file of the blobs that begin with these bytes.
fn places_of(bytes: &[u8], mark: &[u8]) -> Vec<usize> {
    bytes.windows(mark.len()).enumerate().filter(|(_, window)| *window == mark).map(|(at, _)| at).collect()
}

#[test]
fn a_damaged_index_or_snapshot_is_told_and_made_again() {
    let original = original();
    for (mark, told_as) in
        [(b"qpindx".as_slice(), "the projection recall is damaged"), (b"qpsnap".as_slice(), "the snapshot of version")]
    {
        let mut bytes = original.bytes.clone();
        let places = places_of(&bytes, mark);
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| bytes[at + mark.len() + 2] ^= 4);
        files_below(original.folder.path()).iter().for_each(|path| fs::remove_file(path).unwrap());
        fs::write(&original.file, bytes).unwrap();

        // A seed other than the one the ledger was made with, which would repeat its ids.
        let store = SqliteStore::open(original.folder.path(), options()).unwrap();
        let engine = TestEngine::new(7).engine(Box::new(store));
        let report = verify(&engine, &me(), &[], &mut |_| {}).unwrap();
        assert!(report.medium.iter().any(|line| line.contains(told_as)), "{:?}", report.medium);
        assert!(!report.is_intact());
        let found = told(&engine).unwrap();
        assert_eq!((&found.items, &found.core), (&original.told.items, &original.told.core));
        // New data replaces the damaged data.
        for n in 0..4 {
            remember(&engine, &me(), &Utterance::of_user(text(70 + n)), &RememberOptions::default()).unwrap();
            snapshot(&engine, &me()).unwrap();
        }
        let report = verify(&engine, &me(), &[], &mut |_| {}).unwrap();
        assert!(report.is_intact(), "{:?}", report.medium);
    }
}
