//! Ledgers moved from one store to another are the same there, to the byte.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use jiff::Timestamp;
use quipu_core::event::ChangeRef;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::Error;
use quipu_engine::move_ledgers::{MoveOutcome, MovedKeys, move_keys, move_ledger};
use quipu_engine::ports::{KeyStore, LedgerStore, Scope, StoredKey};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{MemoryKeys, MemoryStore, Sample};

fn me() -> UserId {
    UserId::parse("me").unwrap()
}

fn events(store: &dyn LedgerStore) -> Vec<SealedEvent> {
    let mut all = Vec::new();
    let mut ledger = store.open(&me(), false).unwrap();
    ledger
        .read(1..=1 << 40, &mut |event| {
            all.push(event);
            true
        })
        .unwrap();
    all
}

fn say(store: &dyn LedgerStore, sample: &mut Sample, count: Seq) {
    let mut ledger = store.open(&me(), true).unwrap();
    for number in 0..count {
        let expected = sample.head();
        let event = sample.say(&format!("text {number}")).unwrap();
        ledger.append(expected, &[event]).unwrap();
    }
}

fn erase(store: &dyn LedgerStore, sample: &mut Sample, seq: Seq) {
    let (expected, targets) = (sample.head(), [ChangeRef { seq, index: 0 }]);
    let event = sample.erase(&targets).unwrap();
    store.open(&me(), false).unwrap().erase(expected, &targets, &event).unwrap();
}

/// A ledger of more than one batch in which something was erased.
fn source() -> (MemoryStore, Sample) {
    let (store, mut sample) = (MemoryStore::new(), Sample::new(&me(), 7));
    say(&store, &mut sample, 600);
    erase(&store, &mut sample, 3);
    (store, sample)
}

#[track_caller]
fn check_moved(from: &dyn LedgerStore, to: &dyn LedgerStore, outcome: MoveOutcome, count: Seq) {
    let moved = move_ledger(from, to, &me()).unwrap();
    assert_eq!((moved.outcome, moved.events), (outcome, count));
    assert_eq!(events(to), events(from));
    let again = move_ledger(from, to, &me()).unwrap();
    assert_eq!((again.outcome, again.events, again.head_hash), (MoveOutcome::AlreadyThere, 0, moved.head_hash));
}

#[test]
fn a_ledger_is_the_same_in_the_other_store_and_back() {
    let (from, _) = source();
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions { ballast_bytes: 0, ..StoreOptions::default() };
    let middle = SqliteStore::open(folder.path(), options).unwrap();
    check_moved(&from, &middle, MoveOutcome::Copied, 601);
    check_moved(&middle, &MemoryStore::new(), MoveOutcome::Copied, 601);
}

#[test]
fn a_move_goes_on_where_it_stopped_and_erases_what_was_erased_since() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions { ballast_bytes: 0, ..StoreOptions::default() };
    let sqlite = SqliteStore::open(folder.path(), options).unwrap();
    for to in [&MemoryStore::new() as &dyn LedgerStore, &sqlite] {
        // Given a target with the events of yesterday
        let (from, mut sample) = source();
        check_moved(&from, to, MoveOutcome::Copied, 601);
        // When an old and a new text are erased
        say(&from, &mut sample, 5);
        erase(&from, &mut sample, 10);
        erase(&from, &mut sample, 604);
        say(&from, &mut sample, 1);
        // Then both are erased in the target
        check_moved(&from, to, MoveOutcome::Continued, 8);
        let erased = |seq: usize| events(to)[seq - 1].changes[0].bytes.is_none();
        assert!(erased(3) && erased(10) && erased(604) && !erased(605));
    }
}

#[track_caller]
fn check_refused(from: &dyn LedgerStore, to: &dyn LedgerStore, why: &str) {
    let before = events(to);
    let refused = move_ledger(from, to, &me());
    assert!(
        matches!(&refused, Err(Error::Refused(text)) if text.contains("user me") && text.contains(why)),
        "{refused:?}"
    );
    assert_eq!(events(to), before);
}

#[test]
fn another_ledger_in_the_target_is_never_overwritten() {
    let (from, mut sample) = source();
    for count in [3, 700] {
        let other = MemoryStore::new();
        say(&other, &mut Sample::new(&me(), 8), count);
        check_refused(&from, &other, "another ledger");
    }
    let ahead = MemoryStore::new();
    move_ledger(&from, &ahead, &me()).unwrap();
    say(&ahead, &mut sample, 2);
    check_refused(&from, &ahead, "2 events that the source does not have");
}

#[test]
fn a_user_without_events_makes_nothing() {
    let (from, to) = (MemoryStore::new(), MemoryStore::new());
    assert!(matches!(move_ledger(&from, &to, &me()), Err(Error::NotFound(_))));
    from.open(&me(), true).unwrap();
    assert_eq!(move_ledger(&from, &to, &me()).unwrap().outcome, MoveOutcome::Empty);
    assert!(to.users().unwrap().is_empty());
}

#[test]
fn keys_are_copied_with_their_revocation() {
    let key = |id: &str, user: Option<UserId>| StoredKey {
        id: id.to_owned(),
        name: "a key".to_owned(),
        digest: [7; 32],
        scopes: vec![Scope::Read],
        user,
        created_at: Timestamp::UNIX_EPOCH,
        revoked_at: None,
    };
    let (from, to) = (MemoryKeys::new(), MemoryKeys::new());
    from.put(&key("a", None)).unwrap();
    from.put(&key("b", Some(me()))).unwrap();
    let counts = |user: Option<&UserId>| move_keys(&from, &to, user).unwrap();
    assert_eq!(counts(Some(&me())), MovedKeys { copied: 1, already_there: 0 });
    assert_eq!(counts(None), MovedKeys { copied: 1, already_there: 1 });
    from.revoke("b", Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(counts(None), MovedKeys { copied: 0, already_there: 2 });
    assert_eq!(to.all().unwrap(), from.all().unwrap());
    let other = MemoryKeys::new();
    other.put(&StoredKey { digest: [8; 32], ..key("a", None) }).unwrap();
    assert!(matches!(move_keys(&from, &other, None), Err(Error::Refused(_))));
}
