//! Backups while writers write, each restored elsewhere: it verifies, has the head of its manifest, and holds everything that was
//! acknowledged before it began.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use quipu_core::event::Hash;
use quipu_core::id::UserId;
use quipu_core::ledger::Pin;
use quipu_engine::erase::EraseTarget;
use quipu_engine::versions::When;
use quipu_engine::{
    Engine, Error, ListOptions, RememberOptions, Utterance, backup, erase, list, rebuild, remember, verify,
};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{Rng, TestEngine, effort, seed};
use tempfile::TempDir;

const BACKUPS: u32 = 5;
const USERS: usize = 3;
/// Backups of one folder. Then a new one is used, as backups and restores take longer the more was said.
const BACKUPS_OF_A_FOLDER: u32 = 10;

fn id(user: usize) -> UserId {
    UserId::parse(&format!("user-{user}")).unwrap()
}

fn engine(folder: &Path, number: u64) -> Engine {
    let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
    TestEngine::new(seed() + number).engine(Box::new(SqliteStore::open(folder, options).unwrap()))
}

/// What was acknowledged and not erased: position, hash and text, by user.
type Acknowledged = [Mutex<Vec<(u64, String, String)>>; USERS];

/// Says and erases until the end. Each writer has its own user.
fn write(engine: &Engine, user: usize, acknowledged: &Acknowledged, is_over: &AtomicBool) -> u64 {
    let mut dice = Rng::new(seed() ^ (user as u64) << 40);
    let mut count = 0;
    while !is_over.load(Ordering::SeqCst) {
        let text = format!("{user} says thing {count}: {}", "some words ".repeat(dice.below(30)));
        let options = RememberOptions { durable_only: dice.once_in(2), ..RememberOptions::default() };
        match remember(engine, &id(user), &Utterance::of_user(text.trim()), &options) {
            Ok(receipt) => {
                let told = (receipt.seq, receipt.hash.to_string(), text.trim().to_owned());
                acknowledged[user].lock().unwrap().push(told);
            }
            Err(Error::Conflict(_)) => continue,
            Err(error) => panic!("user {user}: {error:?}"),
        }
        count += 1;
        if dice.once_in(40) {
            // Nothing that is being erased counts as acknowledged.
            let mut held = acknowledged[user].lock().unwrap();
            let place = dice.below(held.len());
            let (seq, ..) = held.remove(place);
            erase(engine, &id(user), &[EraseTarget::Event(seq)], "asked to", &mut |_| {}).unwrap();
        }
    }
    count
}

/// Restores a backup into a new folder, and compares. Returns the number of events.
fn restored(folder: &Path, expected: &[Vec<(u64, String, String)>]) -> Result<u64, String> {
    let place = TempDir::new().unwrap();
    let engine = engine(place.path(), 7);
    let manifest = backup::read_manifest(folder).map_err(|error| error.to_string())?;
    let made = backup::restore(&engine, folder, None, false).map_err(|error| error.to_string())?;
    let mut events = 0;
    for (user, told) in expected.iter().enumerate() {
        let Some(held) = manifest.users.iter().find(|held| held.user_id == id(user)) else {
            return Err(format!("user {user} is not in the backup"));
        };
        if made.iter().find(|one| one.user_id == id(user)).map(|one| &one.head_hash) != Some(&held.head_hash) {
            return Err(format!("user {user} has another head than the manifest"));
        }
        let pins: Vec<Pin> =
            told.iter().map(|(seq, hash, _)| Pin { seq: *seq, hash: Hash::from_hex(hash).unwrap() }).collect();
        let report = verify(&engine, &id(user), &pins, &mut |_| {}).map_err(|error| error.to_string())?;
        if !report.is_intact() || !report.ledger.pins.iter().all(|pin| pin.holds) {
            return Err(format!("user {user}: {:?} {:?}", report.ledger.damage, report.ledger.pins));
        }
        let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
        let items = list(&engine, &id(user), &all).map_err(|error| error.to_string())?.items;
        let erased: Vec<u64> = report.ledger.erased.iter().map(|gone| gone.target.seq).collect();
        let is_there = |seq: &u64, text: &str| items.iter().any(|item| item.event_seq == *seq && item.text == text);
        let lost = told.iter().find(|(seq, _, text)| !erased.contains(seq) && !is_there(seq, text));
        if let Some((seq, _, text)) = lost {
            return Err(format!("user {user}: {text:?} at {seq} is lost"));
        }
        if !rebuild(&engine, &id(user), &mut |_| {}).is_ok_and(|rebuilt| rebuilt.identical) {
            return Err(format!("user {user}: the memory differs from its ledger"));
        }
        events += report.ledger.head_seq;
    }
    Ok(events)
}

#[test]
fn every_backup_under_load_can_be_restored() {
    let wanted = effort(BACKUPS);
    let (mut made, mut said, mut events, mut bad) = (0, 0, 0, Vec::new());
    while made < wanted {
        let place = TempDir::new().unwrap();
        let engine = engine(&place.path().join("memory"), u64::from(made));
        let acknowledged = Acknowledged::default();
        let is_over = AtomicBool::new(false);
        said += std::thread::scope(|scope| {
            let (engine, acknowledged, is_over) = (&engine, &acknowledged, &is_over);
            let writers: Vec<_> =
                (0..USERS).map(|user| scope.spawn(move || write(engine, user, acknowledged, is_over))).collect();
            for number in 0..BACKUPS_OF_A_FOLDER.min(wanted - made) {
                while acknowledged.iter().any(|held| held.lock().unwrap().len() < 5 * (number as usize + 1)) {
                    std::thread::yield_now();
                }
                let expected: Vec<_> = acknowledged.iter().map(|held| held.lock().unwrap().clone()).collect();
                let users: Vec<UserId> = (0..USERS).map(id).collect();
                let folder = place.path().join(format!("backup {number}"));
                let outcome = backup::backup(engine, &users, &folder).map_err(|error| error.to_string());
                match outcome.and_then(|_| restored(&folder, &expected)) {
                    Ok(found) => events += found,
                    Err(problem) => bad.push(format!("backup {}: {problem}", made)),
                }
                made += 1;
            }
            is_over.store(true, Ordering::SeqCst);
            writers.into_iter().map(|writer| writer.join().unwrap()).sum::<u64>()
        });
    }
    println!(
        "backups: {made} while {USERS} writers said {said} things, each restored and verified, {events} events; {} bad, seed {}",
        bad.len(),
        seed()
    );
    assert!(bad.is_empty(), "seed {}: {bad:#?}", seed());
}
