//! Kills a writer repeatedly in the middle of its work, in a folder and in a PostgreSQL database: acknowledged events are
//! present, the chain has no gap, and acknowledged erasures leave the erased text in no file, or no row.
//!
//! This covers the death of a process. The page cache survives it, so power failures are not covered.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::Pin;
use quipu_engine::log::{LogOptions, log};
use quipu_engine::ports::LedgerStore;
use quipu_engine::{ListOptions, list, rebuild, verify, versions::When};
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::postgres_server::{Admin, bare_database, server, url};
use quipu_testkit::{Rng, TestEngine, effort, files_below, seed};
use tempfile::TempDir;

/// Length of the text that only one item of a writer contains.
const TEXT_BYTES: usize = 28;

/// The acknowledgements of the writer.
#[derive(Default)]
struct Acked {
    hashes: BTreeMap<Seq, String>,
    /// Erased event, and a text that only it contained.
    erased: BTreeMap<Seq, String>,
    head: Seq,
}

#[derive(Default, Debug)]
struct Tally {
    cycles: u32,
    acked: u64,
    erasures: u64,
    snapshots: u64,
    in_flight: u64,
    events: u64,
}

impl Acked {
    fn take(&mut self, line: &str, tally: &mut Tally) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<Seq>().unwrap();
        match words[0] {
            "ready" => return,
            "wrote" => drop(self.hashes.insert(number(1), words[2].to_owned())),
            "erased" => {
                tally.erasures += 1;
                self.erased.insert(number(2), words[3].to_owned());
            }
            "snapshot" => tally.snapshots += 1,
            other => panic!("the writer said {other:?}"),
        }
        tally.acked += 1;
        self.head = self.head.max(number(1));
    }
}

/// Where the writer writes.
enum Place {
    Folder(TempDir),
    /// The name of a database.
    Database(String),
}

impl Place {
    fn folder() -> Self {
        Self::Folder(TempDir::new().unwrap())
    }

    fn database() -> Self {
        Self::Database(bare_database())
    }

    /// The argument of the writer.
    fn argument(&self) -> String {
        match self {
            Self::Folder(folder) => folder.path().display().to_string(),
            Self::Database(name) => url(server().port, name),
        }
    }

    fn store(&self) -> Box<dyn LedgerStore> {
        match self {
            Self::Folder(folder) => {
                let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
                Box::new(SqliteStore::open(folder.path(), options).unwrap())
            }
            Self::Database(_) => Box::new(PostgresStore::open(&self.argument(), PostgresOptions::default()).unwrap()),
        }
    }

    /// Waits until nothing of a dead writer runs any more: a server carries out what was sent to it completely.
    fn settle(&self) {
        let Self::Database(name) = self else { return };
        let mut admin = Admin::connect(server(), "postgres");
        let connected = format!("SELECT 1 FROM pg_stat_activity WHERE datname = '{name}'");
        for _ in 0..600 {
            if admin.rows(&connected).is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the connections of a dead writer do not end");
    }

    fn has_ledger(&self) -> bool {
        match self {
            Self::Folder(folder) => files_below(folder.path()).iter().any(|path| is_ledger(path)),
            Self::Database(_) => !self.store().users().unwrap().is_empty(),
        }
    }

    /// Everything that is stored, by file or by column of a table.
    fn stored(&self) -> Vec<(String, Vec<u8>)> {
        let Self::Database(name) = self else {
            let Self::Folder(folder) = self else { unreachable!("it is no database") };
            let files = files_below(folder.path()).into_iter();
            return files.map(|file| (file.display().to_string(), fs::read(&file).unwrap())).collect();
        };
        let mut admin = Admin::connect(server(), name);
        let columns = admin.rows(
            "SELECT format('%s.%s', c.oid::regclass, a.attname), format('SELECT encode(%I, ''hex'') FROM %s', a.attname, c.oid::regclass) \
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
             WHERE c.relnamespace = 'quipu'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition \
             AND a.attnum > 0 AND a.atttypid = 'bytea'::regtype",
        );
        assert!(columns.len() > 5, "the search sees too few columns: {columns:?}");
        let read = |column: Vec<String>| {
            let rows = admin.rows(&column[1]).into_iter().flatten();
            // Rows are kept apart, so that no text is found across two of them.
            let bytes = rows.flat_map(|row| [from_hex(&row), vec![0]].concat()).collect();
            (column[0].clone(), bytes)
        };
        columns.into_iter().map(read).collect()
    }
}

/// The bytes of a value; none of a null.
fn from_hex(text: &str) -> Vec<u8> {
    let digits = if text == "null" { &[] } else { text.as_bytes() };
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// Runs a writer until `acks` calls are acknowledged, kills it, and reads the rest of its output.
fn kill_after(acks: usize, place: &Place, seed: u64, acked: &mut Acked, tally: &mut Tally) {
    let mut writer: Child = Command::new(env!("CARGO_BIN_EXE_torture_writer"))
        .args([place.argument(), seed.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut heard = 0;
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    for line in lines.by_ref() {
        let line = line.unwrap();
        heard += usize::from(!line.starts_with("ready"));
        acked.take(&line, tally);
        if heard >= acks {
            break;
        }
    }
    // Varies the point at which the writer dies.
    std::thread::sleep(std::time::Duration::from_micros(seed % 4000));
    writer.kill().unwrap();
    let status = writer.wait().unwrap();
    assert_ne!(status.code(), Some(1), "the writer failed by itself");
    // A line truncated by the kill is not an acknowledgement.
    lines.map_while(Result::ok).filter(|line| is_whole(line)).for_each(|line| acked.take(&line, tally));
}

fn is_whole(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["wrote", _, hash] => hash.len() == 64,
        ["erased", _, _, text] => text.len() == TEXT_BYTES,
        // A truncated position may still be a number, so the line is not used.
        _ => false,
    }
}

/// Checks the state after a restart.
fn examine(place: &Place, acked: &mut Acked, tally: &mut Tally, thorough: bool) {
    let me = UserId::parse("me").unwrap();
    let engine = TestEngine::new(1).engine(place.store());
    let pins: Vec<Pin> = acked
        .hashes
        .iter()
        .map(|(&seq, hash)| Pin { seq, hash: quipu_core::event::Hash::from_hex(hash).unwrap() })
        .collect();
    let report = verify(&engine, &me, &pins, &mut |_| {}).unwrap();
    assert!(report.is_intact(), "{:?} {:?}", report.ledger.damage, report.medium);
    assert!(report.ledger.pins.iter().all(|pin| pin.holds), "acknowledged, then lost: {:?}", report.ledger.pins);
    let head = report.ledger.head_seq;
    assert!(head >= acked.head, "acknowledged up to {}, found {head}", acked.head);
    // The call that was running when the writer died either took effect or did not.
    assert!(head <= acked.head + 1, "acknowledged up to {}, found {head}", acked.head);
    tally.in_flight += head - acked.head;
    tally.events += head - acked.head;
    acked.head = head;

    let gone: BTreeSet<Seq> = report.ledger.erased.iter().map(|gone| gone.target.seq).collect();
    assert!(acked.erased.keys().all(|seq| gone.contains(seq)), "erased {:?}, found {gone:?}", acked.erased.keys());
    let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let items = list(&engine, &me, &all).unwrap();
    assert!(items.items.iter().all(|item| !gone.contains(&item.event_seq)));
    if thorough {
        assert!(rebuild(&engine, &me, &mut |_| {}).unwrap().identical, "the memory differs from its ledger");
        let entries = log(&engine, &me, &LogOptions { before: None, limit: usize::MAX, reference: None }).unwrap();
        assert_eq!(entries.len() as u64, head);
    }
    drop(engine);
    let kept = items.items.first().map(|item| item.text[..TEXT_BYTES].to_owned());
    let mut seen = kept.is_none();
    for (at, bytes) in place.stored() {
        seen |= needles(&bytes).any(|needle| kept.as_deref().is_some_and(|text| text.as_bytes() == needle));
        let found = needles(&bytes).find(|needle| acked.erased.values().any(|text| text.as_bytes() == *needle));
        assert!(found.is_none(), "{at} holds what was erased: {:?}", found.map(String::from_utf8_lossy));
    }
    assert!(seen, "the search does not even find what is there");
}

/// Every `needle-…` text of a writer in these bytes.
fn needles(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts = bytes.windows(7).enumerate().filter(|(_, window)| *window == b"needle-").map(|(at, _)| at);
    starts.filter_map(|at| bytes.get(at..at + TEXT_BYTES))
}

/// Cycles in one place before a new one is used, as checking gets slower with the size of the ledger.
const CYCLES_PER_PLACE: u32 = 25;

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let tally = kill_again_and_again(effort(300), Place::folder);
    assert!(tally.in_flight > 0, "no call was cut: {tally:?}");
}

#[test]
fn what_was_acknowledged_in_a_database_survives_kill_9() {
    // Whether a call that was sent is carried out after the death of its caller is up to the server and the moment.
    kill_again_and_again(effort(30), Place::database);
}

fn kill_again_and_again(cycles: u32, new_place: fn() -> Place) -> Tally {
    let seed = seed();
    let mut dice = Rng::new(seed);
    let mut tally = Tally::default();
    let mut acked = Acked::default();
    let mut place = new_place();
    while tally.cycles < cycles {
        if tally.cycles > 0 && tally.cycles % CYCLES_PER_PLACE == 0 {
            (place, acked) = (new_place(), Acked::default());
        }
        let before = acked.hashes.len() + acked.erased.len();
        // Some writers die before the first acknowledgement.
        let acks = dice.below(25);
        kill_after(acks, &place, dice.roll(), &mut acked, &mut tally);
        place.settle();
        tally.cycles += 1;
        if acked.head > 0 || place.has_ledger() {
            let thorough = tally.cycles % CYCLES_PER_PLACE == 0;
            examine(&place, &mut acked, &mut tally, thorough);
        }
        assert!(acked.hashes.len() + acked.erased.len() >= before);
    }
    println!("kill -9: {tally:?}, lost 0, seed {seed}");
    assert!(tally.acked > u64::from(cycles) * 8, "the writer hardly worked: {tally:?}");
    assert!(tally.erasures > 0 && tally.snapshots > 0, "some kind of work was never done: {tally:?}");
    tally
}

fn is_ledger(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "db") && fs::read(path).unwrap().starts_with(b"SQLite format 3")
}
