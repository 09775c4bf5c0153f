//! Forks and picks.

use quipu_core::id::UserId;
use quipu_core::ledger::Pin;
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{Error, fork, show, status, verify};
use quipu_testkit::{MemoryStore, engine, tale::check};

use crate::{me, said};

#[test]
fn a_fork_shares_its_past_and_nothing_else() {
    check(
        "a fork",
        r#"
given said "one"
given set /uncategorized/n 1
given said "two"
when  fork twin at 2
then  of twin says "one"
      of twin core /uncategorized/n 1
      of twin version 3
when  of twin said "three"
and   said "four"
and   erase 1
then  of twin says "one" "three"
      says "two" "four"
      of twin intact
      intact
and   refused Refused fork twin
      refused Invalid fork me
      refused NotFound fork other at 99
when  of twin rebuild
then  of twin says "one" "three"
      refused Refused of twin revert 3
"#,
    );
}

#[test]
fn a_fork_of_a_fork_verifies() {
    check(
        "a fork of a fork",
        r#"
given said "one"
given fork twin
given of twin said "two"
when  of twin fork child
and   of child said "three"
then  of child says "one" "two" "three"
      of child intact
when  of child revert 1
then  of child says "two" "three"
      of twin says "one" "two"
      says "one"
"#,
    );
}

#[test]
fn a_fork_of_a_past_that_was_erased_since_verifies() {
    check(
        "erased after the fork's version",
        r#"
given said "one"
given said "two"
given erase 1
when  fork twin at 2
then  of twin says "two"
      of twin erased 1
      of twin intact
when  of twin fork child
then  of child intact
"#,
    );
}

#[test]
fn a_fork_has_the_hashes_of_the_original_and_keeps_its_pin() {
    // given a memory with a pinned head
    let engine = engine(Box::new(MemoryStore::new()));
    said(&engine, &["one", "two", "three"]);
    let pinned = verify(&engine, &me(), &[], &mut |_| {}).unwrap();
    let event = |user: &UserId, seq| show(&engine, user, EventRef::Seq(seq)).unwrap();
    let pin = Pin { seq: 2, hash: event(&me(), 2).hash };
    // when it is forked there
    let twin = UserId::parse("twin").unwrap();
    fork(&engine, &me(), &twin, When::Seq(2), &mut |_| {}).unwrap();
    // then the shared events are the same, and the pin holds in both
    for seq in 1..=2 {
        assert_eq!(event(&me(), seq), event(&twin, seq));
    }
    for user in [&me(), &twin] {
        let report = verify(&engine, user, &[pin], &mut |_| {}).unwrap();
        assert!(report.is_intact(), "{report:?}");
    }
    // and a pin from after the fork does not hold in the copy
    let later = Pin { seq: 3, hash: event(&me(), 3).hash };
    let report = verify(&engine, &twin, &[later], &mut |_| {}).unwrap();
    assert!(!report.is_intact() && report.ledger.damage.is_empty(), "{report:?}");
    assert_eq!(pinned.ledger.head_hash, status(&engine, &me()).unwrap().head);
}

#[test]
fn a_pick_takes_what_applies_and_lists_what_does_not() {
    check(
        "a pick",
        r#"
given said "one"
given set /uncategorized/n 1
given set /uncategorized/n 2
given pin 1
given said "erased"
given erase 5
given said "seven"
given revert 7
when  pick 3 4 5 6 7 8 into new
then  left-out 3 4 5 6 8
      of new says "seven"
      of new version 1
when  pick 1 2 3 4 7 into new
then  left-out 7
      of new says "seven" "one"
      of new core /uncategorized/n 2
      of new marked 2 pinned 0
      of new version 5
      of new intact
when  pick 1 2 3 into new
then  left-out 1 2 3
      of new version 5
"#,
    );
}

#[test]
fn a_picked_event_names_where_it_came_from() {
    let engine = engine(Box::new(MemoryStore::new()));
    said(&engine, &["one", "two"]);
    let new = UserId::parse("new").unwrap();
    let events = quipu_engine::chosen(&engine, &me(), &[EventRef::Seq(2)]).unwrap();
    let picked = quipu_engine::pick(&engine, &events, &new, &mut |_| {}).unwrap();
    assert_eq!(picked.receipts.len(), 1);
    let (old, copy) = (show(&engine, &me(), EventRef::Seq(2)).unwrap(), show(&engine, &new, EventRef::Seq(1)).unwrap());
    assert_eq!(copy.header.caused_by, [old.header.id]);
    assert_eq!(copy.changes, old.changes);
    assert_ne!(copy.header.id, old.header.id);
    let missing = quipu_engine::chosen(&engine, &me(), &[EventRef::Seq(3)]);
    assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
}
