//! Keys that change after an erasure, while other processes have the ledger open.

use std::time::Duration;

use quipu_core::id::Seq;
use quipu_core::ledger::Verifier;
use quipu_encryption::{EncryptedStore, MasterKeys, UserKeys, new_master_key, rewrap};
use quipu_engine::ports::{
    Checkpoint, Clock, KeyRotation, LeaseRequest, LedgerStore, Projection, StoreError, UserKeyState, UserKeyStore,
};
use quipu_testkit::{FixedClock, Sample, SeededEntropy};

use crate::{Place, at, everything, filled, me, user_keys};

#[test]
fn after_an_erasure_nothing_that_is_left_opens_the_old_form() {
    let place = Place::default();
    let store = place.process(1);
    let (mut sample, mut events) = filled(&store);
    let before = place.raw();
    assert!(place.opens(&before));
    let mut ledger = store.open(&me(), false).unwrap();
    let erasure = sample.erase(&[at(1)]).unwrap();
    ledger.erase(3, &[at(1)], &erasure).unwrap();
    assert!(place.opens(&before), "the previous key is needed until the rest is sealed again");
    let done = ledger.finish_erasures().unwrap();
    assert_eq!(done, Some(KeyRotation { changes_resealed: 2, keys_destroyed: 1 }));
    assert_eq!(ledger.finish_erasures().unwrap(), None, "nothing is left to do");
    assert_eq!(place.key_count(), 1);
    for event in &before {
        let mut alone = event.clone();
        alone.seq = 1;
        assert!(!place.opens(&[alone]));
    }
    (events[0].changes[0].bytes, events[0].changes[0].salt) = (None, None);
    events.push(erasure);
    assert_eq!(everything(ledger.as_mut()).unwrap(), events);
    let mut verifier = Verifier::new(me(), &[]);
    everything(place.process(2).open(&me(), false).unwrap().as_mut()).unwrap().iter().for_each(|e| verifier.check(e));
    assert!(verifier.finish().is_intact());
}

#[test]
fn a_server_that_has_the_user_open_follows_the_rotation_of_another() {
    let place = Place::default();
    let (one, two) = (place.process(1), place.process(2));
    let (mut sample, _) = filled(&one);
    let mut open = one.open(&me(), false).unwrap();
    // It has the first key in use.
    open.append(3, &[sample.say("four").unwrap()]).unwrap();
    let stale = sample.clone().say("too late").unwrap();
    let mut other = two.open(&me(), false).unwrap();
    other.erase(4, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    other.finish_erasures().unwrap().unwrap();
    assert_eq!(place.key_count(), 1);
    assert!(matches!(open.append(4, &[stale]), Err(StoreError::Conflict { .. })));
    // It meets a key that it does not know, and asks for it.
    assert_eq!(everything(open.as_mut()).unwrap().len(), 5);
    let next = sample.say("six").unwrap();
    open.append(5, std::slice::from_ref(&next)).unwrap();
    open.checkpoint(&Checkpoint { snapshot: Some((6, b"six".to_vec())), level: 6, ..Checkpoint::default() }).unwrap();
    open.put_vectors(6, "t", &[([1; 16], vec![9])]).unwrap();
    assert_eq!(everything(other.as_mut()).unwrap()[5], next);
    assert_eq!(other.snapshot(6).unwrap().as_deref(), Some(b"six".as_slice()));
    assert_eq!(other.vectors("t").unwrap(), [([1; 16], vec![9])]);
}

#[test]
fn a_server_that_saved_a_position_asks_for_the_key_again_after_an_erasure() {
    let place = Place::default();
    let (one, two) = (place.process(1), place.process(2));
    let (mut sample, _) = filled(&one);
    let mut open = one.open(&me(), false).unwrap();
    // Positions are saved at a level beyond every event.
    let position = Projection { seq: 3, tag: "1".to_owned(), bytes: b"p".to_vec() };
    let saved = Checkpoint { projections: vec![("read", position)], level: Seq::MAX >> 1, ..Checkpoint::default() };
    open.checkpoint(&saved).unwrap();
    let mut other = two.open(&me(), false).unwrap();
    other.erase(3, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    other.finish_erasures().unwrap().unwrap();
    let next = sample.say("five").unwrap();
    open.append(4, std::slice::from_ref(&next)).unwrap();
    assert_eq!(everything(other.as_mut()).unwrap()[4], next);
    assert_eq!(everything(place.process(3).open(&me(), false).unwrap().as_mut()).unwrap()[4], next);
}

#[test]
fn derived_data_of_a_server_that_missed_the_erasure_is_not_sealed_with_the_old_key() {
    let place = Place::default();
    let (one, two) = (place.process(1), place.process(2));
    let (mut sample, _) = filled(&one);
    let mut open = one.open(&me(), false).unwrap();
    let checkpoint = |level| Checkpoint {
        projections: vec![("recall", Projection { seq: level, tag: "t".to_owned(), bytes: b"words".to_vec() })],
        level,
        ..Checkpoint::default()
    };
    open.checkpoint(&checkpoint(3)).unwrap();
    let mut other = two.open(&me(), false).unwrap();
    other.erase(3, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    other.finish_erasures().unwrap().unwrap();
    assert!(matches!(open.checkpoint(&checkpoint(3)), Err(StoreError::Conflict { .. })));
    assert!(matches!(open.put_vectors(3, "t", &[([1; 16], vec![9])]), Err(StoreError::Conflict { .. })));
    open.checkpoint(&checkpoint(4)).unwrap();
    assert_eq!(other.projection("recall").unwrap().unwrap().bytes, b"words");
}

#[test]
fn an_erasure_that_was_interrupted_before_its_event_destroys_no_key_in_use() {
    let place = Place::default();
    let (one, two) = (place.process(1), place.process(2));
    let (mut sample, mut events) = filled(&one);
    let mut open = one.open(&me(), false).unwrap();
    let four = sample.say("four").unwrap();
    open.append(3, std::slice::from_ref(&four)).unwrap();
    events.push(four);
    // A process makes the new key, and ends before it appends.
    let keys = user_keys(Box::new(place.keys.clone()), 50);
    let held = place.keys.all();
    let never = sample.clone().erase(&[at(1)]).unwrap();
    let mut orphan = held[0].clone();
    orphan.id = [42; 8];
    keys.store.put(&orphan, Some(never.id)).unwrap();
    place.keys.destroy(&me(), &[orphan.id]).unwrap();
    // The server writes on with the key that it knows, which is retired.
    for text in ["five", "six"] {
        let event = sample.say(text).unwrap();
        open.append(event.seq - 1, std::slice::from_ref(&event)).unwrap();
        events.push(event);
    }
    let mut other = two.open(&me(), false).unwrap();
    assert_eq!(other.finish_erasures().unwrap(), None);
    assert_eq!(everything(other.as_mut()).unwrap(), events);
    // The next erasure takes it along.
    other.erase(6, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    assert!(other.finish_erasures().unwrap().unwrap().keys_destroyed >= 1);
    assert_eq!(place.key_count(), 1);
    assert_eq!(everything(other.as_mut()).unwrap()[1..6], events[1..6]);
}

#[test]
fn a_rotation_that_was_interrupted_is_finished_by_the_next_checkpoint_of_any_process() {
    let place = Place::default();
    let one = place.process(1);
    let (mut sample, _) = filled(&one);
    one.open(&me(), false).unwrap().erase(3, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    assert_eq!(place.key_count(), 2);
    let two = place.process(2);
    let mut ledger = two.open(&me(), false).unwrap();
    ledger.checkpoint(&Checkpoint { level: 4, ..Checkpoint::default() }).unwrap();
    assert_eq!(place.key_count(), 1);
    assert_eq!(everything(ledger.as_mut()).unwrap().len(), 4);
}

#[test]
fn one_process_at_a_time_seals_again_and_another_takes_over_when_its_lease_ends() {
    let place = Place::default();
    let store = place.process(1);
    let (mut sample, _) = filled(&store);
    let mut ledger = store.open(&me(), false).unwrap();
    ledger.erase(3, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    let now = FixedClock::new().now();
    let request = |seconds| LeaseRequest { name: "reseal", holder: 7, now, until: now + Duration::from_secs(seconds) };
    let mut inner = place.inner.open(&me(), false).unwrap();
    assert!(inner.lease(&request(1000)).unwrap());
    let told = ledger.finish_erasures().unwrap_err();
    assert!(matches!(&told, StoreError::Unavailable(text) if text.contains("another process")), "{told}");
    assert_eq!(place.key_count(), 2);
    assert!(inner.lease(&request(1)).unwrap());
    assert!(ledger.finish_erasures().unwrap().is_some());
}

#[test]
fn what_was_written_in_the_clear_is_sealed_by_the_next_rotation() {
    let place = Place::default();
    let (mut sample, mut events) = filled(&place.inner);
    let store = place.process(1);
    let mut ledger = store.open(&me(), false).unwrap();
    assert_eq!(everything(ledger.as_mut()).unwrap(), events, "an unencrypted ledger can be read");
    let four = sample.say("canary four").unwrap();
    ledger.append(3, std::slice::from_ref(&four)).unwrap();
    let clear = |text| place.raw().iter().any(|event| crate::contains(event.changes[0].bytes.as_ref().unwrap(), text));
    assert!(clear("canary two") && !clear("canary four"));
    let erasure = sample.erase(&[at(1)]).unwrap();
    ledger.erase(4, &[at(1)], &erasure).unwrap();
    assert_eq!(ledger.finish_erasures().unwrap().unwrap().changes_resealed, 3);
    let raw = place.raw();
    let texts = raw.iter().filter_map(|event| event.changes[0].bytes.as_ref());
    assert!(texts.into_iter().all(|bytes| !crate::contains(bytes, "canary")));
    events.extend([four, erasure]);
    assert_eq!(everything(ledger.as_mut()).unwrap()[1..], events[1..]);
}

#[test]
fn the_key_of_a_ledger_that_was_built_is_replaced_although_it_was_never_marked() {
    let place = Place::default();
    let store = place.process(1);
    let (mut sample, events) = filled(&store);
    store.build(&me(), true, &mut |ledger| ledger.append(0, &events)).unwrap();
    // The process ended before it could mark the key.
    let built = place.keys.all().last().unwrap().id;
    place.keys.mark(&me(), &[built], UserKeyState::Building).unwrap();
    let mut ledger = store.open(&me(), false).unwrap();
    assert_eq!(everything(ledger.as_mut()).unwrap(), events);
    ledger.erase(3, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    assert_eq!(ledger.finish_erasures().unwrap().unwrap().keys_destroyed, 2);
    assert_eq!(place.key_count(), 1);
    assert_eq!(everything(ledger.as_mut()).unwrap()[1..3], events[1..]);
}

#[test]
fn a_ledger_of_many_events_is_sealed_again_in_batches() {
    let place = Place::default();
    let store = place.process(1);
    let mut sample = Sample::new(&me(), 6);
    let events: Vec<_> = (0..2500).map(|n| sample.say(&format!("event {n}")).unwrap()).collect();
    let mut ledger = store.open(&me(), true).unwrap();
    ledger.append(0, &events).unwrap();
    ledger.erase(2500, &[at(9)], &sample.erase(&[at(9)]).unwrap()).unwrap();
    let done = ledger.finish_erasures().unwrap().unwrap();
    assert_eq!(done, KeyRotation { changes_resealed: 2499, keys_destroyed: 1 });
    assert_eq!(everything(ledger.as_mut()).unwrap()[9..2500], events[9..]);
}

#[test]
fn the_master_key_is_changed_while_servers_run() {
    let place = Place::default();
    let store = place.process(1);
    let (mut sample, events) = filled(&store);
    let (old, new) = (new_master_key(&SeededEntropy::new(99)), new_master_key(&SeededEntropy::new(100)));
    let with = |text: &str| UserKeys {
        store: Box::new(place.keys.clone()),
        masters: MasterKeys::from_text(text, "the test").unwrap(),
        clock: std::sync::Arc::new(FixedClock::new()),
        entropy: std::sync::Arc::new(SeededEntropy::new(60)),
    };
    let before = place.keys.all();
    let both = with(&format!("{}\n{}", *new, *old));
    let done = rewrap(&both).unwrap();
    assert_eq!((done.users, done.keys), (1, 1));
    assert_eq!(rewrap(&both).unwrap().keys, 0, "a second call has nothing to do");
    // A server with both keys, and one with the new key alone.
    for keys in [both, with(&new)] {
        let server = EncryptedStore::new(Box::new(place.inner.clone()), std::sync::Arc::new(keys)).unwrap();
        let mut ledger = server.open(&me(), false).unwrap();
        let head = ledger.head().unwrap().seq;
        ledger.append(head, &[sample.say("more").unwrap()]).unwrap();
        assert_eq!(everything(ledger.as_mut()).unwrap()[..3], events);
    }
    // The old master key opens nothing that is stored now, and what it wrapped is gone.
    assert!(matches!(rewrap(&with(&old)), Err(StoreError::Unavailable(_))));
    assert_ne!(place.keys.all()[0].wrapped, before[0].wrapped);
}
