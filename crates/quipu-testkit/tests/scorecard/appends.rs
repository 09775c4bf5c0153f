//! Eight processes append to one user's ledger, and to those of a hundred users, in a folder and in PostgreSQL: no gap, nothing
//! twice, and no error that a caller sees.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use quipu_core::id::UserId;
use quipu_engine::ports::LedgerStore;
use quipu_engine::versions::When;
use quipu_engine::{Engine, ListOptions, list, verify};
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::postgres_server::{bare_database, server, url};
use quipu_testkit::{TestEngine, effort, seed};
use tempfile::TempDir;

const WRITERS: usize = 8;
/// Messages of each writer.
const APPENDS: u32 = 25;

#[expect(clippy::disallowed_methods, reason = "a report of times, by which nothing is decided")]
fn now() -> Instant {
    Instant::now()
}

/// Starts a writer and waits until it has opened the memory.
fn start(place: &str, writer: usize, users: usize, appends: u32) -> (Child, BufReader<ChildStdout>) {
    let arguments = [writer.to_string(), users.to_string(), appends.to_string(), seed().to_string()];
    let mut command = Command::new(env!("CARGO_BIN_EXE_append_writer"));
    let mut child = command.arg(place).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "writer {writer} did not start");
    (child, lines)
}

/// Every message of a user, with its position, and the number of events.
fn held(engine: &Engine, user: usize) -> (Vec<(u64, String)>, u64) {
    let user = UserId::parse(&format!("user-{user}")).unwrap();
    let report = verify(engine, &user, &[], &mut |_| {}).unwrap();
    assert!(report.is_intact(), "{user}: {:?} {:?}", report.ledger.damage, report.medium);
    let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let items = list(engine, &user, &all).unwrap().items;
    (items.into_iter().map(|item| (item.event_seq, item.text)).collect(), report.ledger.head_seq)
}

fn append_at_once(what: &str, place: &str, open: &dyn Fn() -> Box<dyn LedgerStore>, users: usize) {
    let appends = effort(APPENDS);
    let mut writers: Vec<_> = (0..WRITERS).map(|writer| start(place, writer, users, appends)).collect();
    let began = now();
    for (child, _) in &mut writers {
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let (mut micros, mut acknowledged, mut errors) = (Vec::new(), BTreeSet::new(), Vec::new());
    for (child, lines) in &mut writers {
        for line in lines.lines() {
            let line = line.unwrap();
            let Some(numbers) = line.split(' ').map(|word| word.parse::<u64>().ok()).collect::<Option<Vec<_>>>() else {
                errors.push(line);
                continue;
            };
            micros.push(numbers[0]);
            assert!(acknowledged.insert((numbers[1] as usize, numbers[2])), "a position was given twice: {line}");
        }
        assert!(child.wait().unwrap().success());
    }
    let took = began.elapsed();
    let engine = TestEngine::new(1).engine(open());
    let (mut found, mut texts) = (BTreeSet::new(), BTreeSet::new());
    let mut twice = 0;
    for user in acknowledged.iter().map(|(user, _)| *user).collect::<BTreeSet<_>>() {
        let (items, head) = held(&engine, user);
        assert_eq!(items.len() as u64, head, "user-{user} has events that nobody asked for");
        for (seq, text) in items {
            twice += u32::from(!texts.insert(text));
            found.insert((user, seq));
        }
    }
    micros.sort_unstable();
    let at = |share: usize| micros[(micros.len() - 1) * share / 100];
    println!(
        "appends, {what}, {WRITERS} processes, {users} users: {} acknowledged in {:.1} s = {:.0}/s, p50 {} us, p99 {} us, {} errors, \
         {} gaps, {twice} twice, seed {}",
        acknowledged.len(),
        took.as_secs_f64(),
        acknowledged.len() as f64 / took.as_secs_f64(),
        at(50),
        at(99),
        errors.len(),
        acknowledged.symmetric_difference(&found).count(),
        seed()
    );
    assert!(errors.is_empty(), "{:?}", errors.first());
    assert_eq!(found, acknowledged, "found, and acknowledged");
    assert_eq!(twice, 0);
    assert_eq!(acknowledged.len(), WRITERS * appends as usize);
}

#[test]
fn eight_processes_append_to_a_folder() {
    for users in [1, 100] {
        let folder = TempDir::new().unwrap();
        let open = || -> Box<dyn LedgerStore> {
            let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
            Box::new(SqliteStore::open(folder.path(), options).unwrap())
        };
        append_at_once("a folder", &folder.path().display().to_string(), &open, users);
    }
}

#[test]
fn eight_processes_append_to_postgresql() {
    for users in [1, 100] {
        let place = url(server().port, &bare_database());
        let open =
            || -> Box<dyn LedgerStore> { Box::new(PostgresStore::open(&place, PostgresOptions::default()).unwrap()) };
        append_at_once("PostgreSQL", &place, &open, users);
    }
}
