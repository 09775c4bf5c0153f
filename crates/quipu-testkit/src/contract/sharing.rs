//! Several processes at one location: appends, watches, leases, removal, and atomic replacement of ledgers.

use std::cell::Cell;

use jiff::{SignedDuration, Timestamp};
use quipu_core::event::NO_HASH;
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{Checkpoint, Head, LeaseClaim, LeaseRequest, Projection, StoreError, UserLedger, WatchEvent};

use super::{MakePair, everything, head_of, me, open, other};
use crate::sample::Sample;

/// A requirement and its check.
type SharingCase = (&'static str, fn(MakePair<'_>));

pub(super) const CASES: &[SharingCase] = &[
    ("of two appends at the same position, one fails with a conflict", compare_and_set),
    ("appends, erasures and checkpoints of one process are visible to the other", seen),
    ("a watch reports the head first, then changes, and nothing without changes", watched),
    ("a watch blocks no other call, and opens only if there is a ledger", watch_is_quiet),
    ("a lease has one holder until it ends or is released", leased),
    ("a position under a lease is stored only while it is held", fenced),
    ("a ledger is removed only at the expected position", removed_at),
    ("an open handle to a removed ledger cannot write, not even to a new ledger of that name", removed),
    ("building a ledger is atomic", built),
    ("a built ledger replaces another one only if that may be set aside", replaced),
];

fn one_event(seed: u64, text: &str) -> SealedEvent {
    Sample::new(&me(), seed).say(text).unwrap()
}

fn compare_and_set(make: MakePair<'_>) {
    let (one, two) = make();
    let (mut one, mut two) = (open(&*one, &me()), open(&*two, &me()));
    let first = one_event(60, "one");
    one.append(0, std::slice::from_ref(&first)).unwrap();
    let outcome = two.append(0, &[one_event(61, "one, too")]);
    assert!(matches!(outcome, Err(StoreError::Conflict { expected: 0, head: 1 })), "{outcome:?}");
    assert_eq!(everything(&mut *two), [first]);
}

fn seen(make: MakePair<'_>) {
    let (one, two) = make();
    let (mut one, mut two) = (open(&*one, &me()), open(&*two, &me()));
    let event = one_event(62, "one");
    one.append(0, std::slice::from_ref(&event)).unwrap();
    assert_eq!(two.head().unwrap(), head_of(&event));
    let projection = Projection { seq: 1, tag: "t".to_owned(), bytes: b"x".to_vec() };
    let checkpoint =
        Checkpoint { projections: vec![("recall", projection.clone())], level: 1, ..Checkpoint::default() };
    one.checkpoint(&checkpoint).unwrap();
    one.put_vectors(1, "m", &[([1; 16], vec![1])]).unwrap();
    assert_eq!(two.projection("recall").unwrap(), Some(projection));
    assert_eq!(two.vectors("m").unwrap(), [([1; 16], vec![1])]);
    two.drop_projections().unwrap();
    assert_eq!(one.projection("recall").unwrap(), None);
}

fn watched(make: MakePair<'_>) {
    let (one, two) = make();
    let (mut mine, mut foreign) = (open(&*one, &me()), open(&*two, &me()));
    let mut watch = one.watch(&me()).unwrap();
    assert_eq!(watch.look().unwrap(), WatchEvent::Changed(Head { seq: 0, hash: NO_HASH }));
    assert_eq!(watch.look().unwrap(), WatchEvent::Same);
    let mut sample = Sample::new(&me(), 63);
    for (seq, by_other) in [(0, true), (1, false), (2, true)] {
        let event = sample.say("a turn").unwrap();
        let ledger = if by_other { &mut foreign } else { &mut mine };
        ledger.append(seq, std::slice::from_ref(&event)).unwrap();
        assert_eq!(watch.look().unwrap(), WatchEvent::Changed(head_of(&event)));
        for _ in 0..3 {
            assert_eq!(watch.look().unwrap(), WatchEvent::Same);
        }
    }
    // A later watch reports the head first, too.
    let mut late = two.watch(&me()).unwrap();
    assert_eq!(late.look().unwrap(), WatchEvent::Changed(mine.head().unwrap()));
    drop((mine, foreign));
    assert_eq!(watch.look().unwrap(), WatchEvent::Same, "nor does closing change anything");
}

fn watch_is_quiet(make: MakePair<'_>) {
    let (one, two) = make();
    assert!(matches!(one.watch(&me()).map(drop), Err(StoreError::NotFound(_))));
    let mut ledger = open(&*one, &me());
    let mut watch = two.watch(&me()).unwrap();
    watch.look().unwrap();
    let mut sample = Sample::new(&me(), 64);
    let event = sample.say("a secret").unwrap();
    ledger.append(0, std::slice::from_ref(&event)).unwrap();
    watch.look().unwrap();
    // An erasure waits for active readers; a watch between two polls is not one.
    let target = quipu_core::event::ChangeRef { seq: 1, index: 0 };
    let erasure = sample.erase(&[target]).unwrap();
    ledger.erase(1, &[target], &erasure).unwrap();
    assert_eq!(watch.look().unwrap(), WatchEvent::Changed(head_of(&erasure)));
    let outcome = two.watch(&other()).map(drop);
    assert!(matches!(outcome, Err(StoreError::NotFound(_))), "{outcome:?}");
}

fn leased(make: MakePair<'_>) {
    let (one, two) = make();
    let (mut one, mut two) = (open(&*one, &me()), open(&*two, &me()));
    let at = |seconds: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
    let ask = |ledger: &mut dyn UserLedger, name, holder, now, until| {
        ledger.lease(&LeaseRequest { name, holder, now: at(now), until: at(until) }).unwrap()
    };
    // Where time is the store's own, only the durations count, so a lease either lasts for the whole test or is over at once.
    assert!(ask(&mut *one, "extract", 1, 100, 10_000));
    assert!(!ask(&mut *two, "extract", u64::MAX, 105, 10_000), "it is taken");
    assert!(ask(&mut *two, "summarize", u64::MAX, 105, 10_000), "another is not");
    assert!(ask(&mut *one, "extract", 1, 109, 20_000), "who has it prolongs it");
    assert!(!ask(&mut *two, "extract", u64::MAX, 119, 20_000));
    assert!(ask(&mut *one, "extract", 1, 120, 120), "who has it may also shorten it");
    assert!(ask(&mut *two, "extract", u64::MAX, 121, 10_000), "it has ended by itself");
    one.release("extract", 1).unwrap();
    assert!(!ask(&mut *one, "extract", 1, 122, 10_000), "who does not have it cannot give it back");
    two.release("extract", u64::MAX).unwrap();
    assert!(ask(&mut *one, "extract", 1, 123, 10_000));
    one.release("nothing", 1).unwrap();
    assert_eq!(one.head().unwrap().seq, 0, "a lease is no event");
}

fn fenced(make: MakePair<'_>) {
    let (one, two) = make();
    let (mut one, mut two) = (open(&*one, &me()), open(&*two, &me()));
    let at = |seconds: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
    let position = |seq| Projection { seq, tag: "t".to_owned(), bytes: b"x".to_vec() };
    let move_to = |ledger: &mut dyn UserLedger, holder, seq| {
        let lease = Some(LeaseClaim { name: "extract".to_owned(), holder });
        let projections = vec![("studied", position(seq))];
        ledger.checkpoint(&Checkpoint { projections, level: 1, lease, ..Checkpoint::default() })
    };
    one.append(0, &[one_event(72, "one")]).unwrap();
    assert!(matches!(move_to(&mut *one, 1, 1), Err(StoreError::Unavailable(_))), "nobody has the lease");
    // A lease that has expired still counts while nobody has taken it.
    assert!(one.lease(&LeaseRequest { name: "extract", holder: 1, now: at(100), until: at(100) }).unwrap());
    move_to(&mut *one, 1, 1).unwrap();
    assert!(two.lease(&LeaseRequest { name: "extract", holder: 2, now: at(101), until: at(10_000) }).unwrap());
    move_to(&mut *two, 2, 5).unwrap();
    assert!(matches!(move_to(&mut *one, 1, 2), Err(StoreError::Unavailable(_))), "it was taken over");
    two.release("extract", 2).unwrap();
    assert!(matches!(move_to(&mut *one, 1, 2), Err(StoreError::Unavailable(_))), "and stays lost");
    assert_eq!(one.projection("studied").unwrap(), Some(position(5)));
}

fn removed_at(make: MakePair<'_>) {
    let (one, two) = make();
    let mut ledger = open(&*one, &me());
    let mut sample = Sample::new(&me(), 65);
    let first = sample.say("one").unwrap();
    ledger.append(0, std::slice::from_ref(&first)).unwrap();
    let second = sample.say("two").unwrap();
    ledger.append(1, std::slice::from_ref(&second)).unwrap();
    let outcome = two.remove(&me(), Some(1));
    assert!(matches!(outcome, Err(StoreError::Conflict { expected: 1, head: 2 })), "{outcome:?}");
    assert_eq!(everything(&mut *open(&*two, &me())), [first, second]);
    two.remove(&me(), Some(2)).unwrap();
    for store in [&one, &two] {
        assert_eq!(store.users().unwrap(), []);
        assert!(matches!(store.remove(&me(), Some(2)), Err(StoreError::NotFound(_))));
    }
}

fn removed(make: MakePair<'_>) {
    let (one, two) = make();
    let (mut old, mut watch) = (open(&*one, &me()), one.watch(&me()));
    let watch = watch.as_mut().unwrap();
    let mut sample = Sample::new(&me(), 66);
    let first = sample.say("one").unwrap();
    old.append(0, std::slice::from_ref(&first)).unwrap();
    watch.look().unwrap();
    two.remove(&me(), None).unwrap();
    let mut new = open(&*two, &me());
    let kept = one_event(67, "of the new one");
    new.append(0, std::slice::from_ref(&kept)).unwrap();
    assert_eq!(watch.look().unwrap(), WatchEvent::Removed);
    assert_eq!(watch.look().unwrap(), WatchEvent::Removed, "and stays so");
    let late = sample.say("late").unwrap();
    let checkpoint = Checkpoint { snapshot: Some((1, b"old".to_vec())), level: 1, ..Checkpoint::default() };
    let outcomes = [
        old.append(1, std::slice::from_ref(&late)),
        old.erase(1, &[], &late),
        old.checkpoint(&checkpoint),
        old.put_vectors(1, "m", &[([1; 16], vec![1])]),
    ];
    for outcome in outcomes {
        assert!(matches!(outcome, Err(StoreError::Removed(_))), "{outcome:?}");
    }
    drop(old);
    assert_eq!(everything(&mut *new), std::slice::from_ref(&kept));
    assert_eq!(new.snapshots().unwrap(), [0; 0]);
    drop(new);
    assert_eq!(everything(&mut *open(&*one, &me())), [kept]);
}

fn built(make: MakePair<'_>) {
    let (one, two) = make();
    let mut sample = Sample::new(&me(), 68);
    let events = [sample.say("one").unwrap(), sample.say("two").unwrap()];
    let outcome = one.build(&me(), false, &mut |ledger| {
        ledger.append(0, &events[..1])?;
        Err(StoreError::Unavailable("as it is told".to_owned()))
    });
    assert!(matches!(&outcome, Err(StoreError::Unavailable(text)) if text == "as it is told"), "{outcome:?}");
    for store in [&one, &two] {
        assert_eq!(store.users().unwrap(), []);
        assert!(matches!(store.open(&me(), false).map(drop), Err(StoreError::NotFound(_))));
    }
    let aside = one.build(&me(), false, &mut |ledger| {
        assert_eq!(ledger.head()?.seq, 0);
        // Other calls to the store work in the meantime and do not see the new ledger.
        open(&*one, &other());
        ledger.append(0, &events[..1])?;
        assert!(matches!(two.open(&me(), false).map(drop), Err(StoreError::NotFound(_))));
        ledger.append(1, &events[1..])
    });
    assert_eq!(aside.unwrap(), None);
    assert_eq!(everything(&mut *two.open(&me(), false).unwrap()), events);
}

fn replaced(make: MakePair<'_>) {
    let (one, two) = make();
    let old = one_event(69, "old");
    let mut ledger = open(&*one, &me());
    ledger.append(0, std::slice::from_ref(&old)).unwrap();
    let begun = Cell::new(false);
    let outcome = one.build(&me(), false, &mut |_| {
        begun.set(true);
        Ok(())
    });
    assert!(matches!(outcome, Err(StoreError::Exists(_))), "{outcome:?}");
    assert!(!begun.get(), "nobody works for nothing");
    // Only one process is left.
    drop(two);
    let new = one_event(70, "new");
    let failed = one.build(&me(), true, &mut |_| Err(StoreError::Unavailable("no".to_owned())));
    assert!(failed.is_err());
    assert_eq!(everything(&mut *ledger), std::slice::from_ref(&old));
    let aside = one.build(&me(), true, &mut |ledger| ledger.append(0, std::slice::from_ref(&new))).unwrap();
    let late = ledger.append(1, &[one_event(71, "late")]);
    assert!(matches!(late, Err(StoreError::Removed(_))), "{late:?}");
    drop(ledger);
    assert_eq!(everything(&mut *open(&*one, &me())), [new]);
    // The old one was set aside, not deleted.
    one.restore(&me(), &aside.unwrap(), true).unwrap();
    assert_eq!(everything(&mut *open(&*one, &me())), [old]);
}
