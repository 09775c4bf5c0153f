//! Users: opening, listing, removal, isolation, backup and restore.

use quipu_core::event::ChangeRef;
use quipu_core::id::UserId;
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{Checkpoint, LedgerStore, StoreError};

use super::{ContractCase, Make, everything, head_of, me, open, other};
use crate::sample::Sample;

pub(super) const CASES: &[ContractCase] = &[
    ("opening a user without a ledger creates one only on request", not_found),
    ("users are listed in order of id", listed),
    ("ids that differ only in case are different users", case_matters),
    ("removing a user deletes all of its data and nothing else", removed),
    ("users are isolated", isolated),
    ("a backup has the head of its ledger, and restores the same bytes", backed_up),
    ("a backup does not overwrite a file", backup_keeps),
    ("restoring over a ledger is refused unless it may be set aside", restore_keeps),
    ("a backup cannot be restored for another user", restore_owner),
    ("a restored ledger accepts appends", restored_goes_on),
    ("a backup and a ledger that was set aside can be read where they are", copies_are_read),
];

fn not_found(make: Make<'_>) {
    let store = make();
    let outcome = store.open(&me(), false).map(drop);
    assert!(matches!(outcome, Err(StoreError::NotFound(_))), "{outcome:?}");
    assert_eq!(store.users().unwrap(), []);
    let outcome = store.remove(&me(), None);
    assert!(matches!(outcome, Err(StoreError::NotFound(_))), "{outcome:?}");
}

fn listed(make: Make<'_>) {
    let store = make();
    let names = ["zoe", "a@b.example", "B", "a", "10", "a:b+c_d.e-f"];
    for name in names {
        open(&*store, &UserId::parse(name).unwrap());
    }
    let mut expected = names;
    expected.sort_unstable();
    let users: Vec<String> = store.users().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(users, expected);
}

fn case_matters(make: Make<'_>) {
    let store = make();
    let (small, large) = (UserId::parse("ana").unwrap(), UserId::parse("Ana").unwrap());
    open(&*store, &small).append(0, &[Sample::new(&small, 1).say("small").unwrap()]).unwrap();
    assert_eq!(open(&*store, &large).head().unwrap().seq, 0);
    assert_eq!(store.users().unwrap(), [large, small]);
}

fn filled(store: &dyn LedgerStore, user: &UserId, seed: u64) -> Vec<SealedEvent> {
    let mut sample = Sample::new(user, seed);
    let events = vec![sample.say_once("one", "key").unwrap(), sample.say("two").unwrap(), sample.say("three").unwrap()];
    open(store, user).append(0, &events).unwrap();
    events
}

fn removed(make: Make<'_>) {
    let store = make();
    filled(&*store, &me(), 40);
    let kept = filled(&*store, &other(), 41);
    store.remove(&me(), None).unwrap();
    assert_eq!(store.users().unwrap(), [other()]);
    assert!(matches!(store.open(&me(), false).map(drop), Err(StoreError::NotFound(_))));
    assert_eq!(everything(&mut *open(&*store, &other())), kept);
    assert_eq!(everything(&mut *open(&*store, &me())), [], "a user of that name starts afresh");
}

fn isolated(make: Make<'_>) {
    let store = make();
    let mine = filled(&*store, &me(), 42);
    let (mut one, mut two) = (open(&*store, &me()), open(&*store, &other()));
    assert_eq!(everything(&mut *two), []);
    assert_eq!(two.key_use("key").unwrap(), None);
    assert_eq!(two.position_of(mine[0].id).unwrap(), None);
    // Two ledgers may contain the same bytes, as after a fork.
    two.append(0, &mine).unwrap();
    let checkpoint = Checkpoint { snapshot: Some((3, b"mine".to_vec())), snapshots_kept: 1, ..Checkpoint::default() };
    one.checkpoint(&checkpoint).unwrap();
    one.put_vectors(3, "t", &[([1; 16], vec![1])]).unwrap();
    assert_eq!(two.snapshots().unwrap(), [0; 0]);
    assert_eq!(two.vectors("t").unwrap(), []);
    let target = ChangeRef { seq: 1, index: 0 };
    let mut sample = Sample::new(&me(), 43);
    (0..3).for_each(|_| drop(sample.say("catching up").unwrap()));
    let erasure = sample.erase(&[target]).unwrap();
    one.erase(3, &[target], &erasure).unwrap();
    one.drop_projections().unwrap();
    assert_eq!(everything(&mut *two), mine);
}

fn backed_up(make: Make<'_>) {
    let place = tempfile::tempdir().unwrap();
    let store = make();
    let events = filled(&*store, &me(), 44);
    let made = open(&*store, &me()).backup(&place.path().join("copy")).unwrap();
    assert_eq!(made.head, head_of(&events[2]));
    assert_eq!(made.path, place.path().join("copy"));
    assert_eq!(made.bytes, std::fs::metadata(&made.path).unwrap().len());
    let elsewhere = make();
    assert_eq!(elsewhere.restore(&me(), &made.path, false).unwrap(), None);
    let mut ledger = elsewhere.open(&me(), false).unwrap();
    assert_eq!(ledger.head().unwrap(), made.head);
    assert_eq!(everything(&mut *ledger), events);
    assert_eq!(ledger.key_use("key").unwrap().map(|used| used.seq), Some(1));
}

fn backup_keeps(make: Make<'_>) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("taken");
    std::fs::write(&path, "precious").unwrap();
    let store = make();
    filled(&*store, &me(), 45);
    let outcome = open(&*store, &me()).backup(&path).map(drop);
    assert!(matches!(outcome, Err(StoreError::Exists(_))), "{outcome:?}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

fn restore_keeps(make: Make<'_>) {
    let place = tempfile::tempdir().unwrap();
    let store = make();
    let events = filled(&*store, &me(), 46);
    let copy = open(&*store, &me()).backup(&place.path().join("copy")).unwrap();
    let mut sample = Sample::new(&me(), 46);
    (0..3).for_each(|_| drop(sample.say("catching up").unwrap()));
    let later = sample.say("later").unwrap();
    open(&*store, &me()).append(3, std::slice::from_ref(&later)).unwrap();
    let outcome = store.restore(&me(), &copy.path, false).map(drop);
    assert!(matches!(outcome, Err(StoreError::Exists(_))), "{outcome:?}");
    assert_eq!(open(&*store, &me()).head().unwrap(), head_of(&later), "what is there stays");
    let aside = store.restore(&me(), &copy.path, true).unwrap();
    assert_eq!(everything(&mut *open(&*store, &me())), events);
    assert_eq!(store.users().unwrap(), [me()]);
    // The later ledger was set aside, not deleted.
    store.restore(&me(), &aside.unwrap(), true).unwrap();
    assert_eq!(open(&*store, &me()).head().unwrap(), head_of(&later));
    assert_eq!(store.users().unwrap(), [me()]);
}

fn restore_owner(make: Make<'_>) {
    let place = tempfile::tempdir().unwrap();
    let store = make();
    filled(&*store, &me(), 47);
    let copy = open(&*store, &me()).backup(&place.path().join("copy")).unwrap();
    let outcome = store.restore(&other(), &copy.path, false).map(drop);
    assert!(matches!(outcome, Err(StoreError::Corrupt(_))), "{outcome:?}");
    assert!(store.restore(&other(), &place.path().join("nowhere"), false).is_err());
    std::fs::write(place.path().join("noise"), "noise ".repeat(10_000)).unwrap();
    assert!(store.restore(&other(), &place.path().join("noise"), false).is_err());
    assert_eq!(store.users().unwrap(), [me()]);
}

fn restored_goes_on(make: Make<'_>) {
    let place = tempfile::tempdir().unwrap();
    let store = make();
    let mut sample = Sample::new(&me(), 48);
    let first = sample.say("one").unwrap();
    open(&*store, &me()).append(0, std::slice::from_ref(&first)).unwrap();
    let copy = open(&*store, &me()).backup(&place.path().join("copy")).unwrap();
    store.restore(&me(), &copy.path, true).unwrap();
    let second = sample.say("two").unwrap();
    open(&*store, &me()).append(1, std::slice::from_ref(&second)).unwrap();
    assert_eq!(everything(&mut *open(&*store, &me())), [first, second]);
}

fn copies_are_read(make: Make<'_>) {
    let place = tempfile::tempdir().unwrap();
    let store = make();
    let events = filled(&*store, &me(), 49);
    let copy = open(&*store, &me()).backup(&place.path().join("copy")).unwrap();
    let read = |user: &UserId, from: &std::path::Path| {
        let mut found = Vec::new();
        let head = store.read_copy(user, from, &mut |event| {
            found.push(event);
            Ok(())
        });
        head.map(|head| (head, found))
    };
    assert_eq!(read(&me(), &copy.path).unwrap(), (copy.head, events.clone()));
    let aside = store.restore(&me(), &copy.path, true).unwrap().unwrap();
    assert_eq!(read(&me(), &aside).unwrap(), (copy.head, events));
    assert!(matches!(read(&other(), &copy.path), Err(StoreError::Corrupt(_))));
    let nowhere = read(&me(), &place.path().join("nowhere")).map(drop);
    assert!(matches!(nowhere, Err(StoreError::NotFound(_))), "{nowhere:?}");
    let stopped = store.read_copy(&me(), &copy.path, &mut |_| Err(StoreError::NotFound("enough".to_owned())));
    assert!(matches!(&stopped, Err(StoreError::NotFound(text)) if text == "enough"), "{stopped:?}");
}
