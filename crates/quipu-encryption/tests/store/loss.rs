//! Lost and wrong keys, and damage.

use quipu_core::ledger::Verifier;
use quipu_encryption::{EncryptedStore, UserKeys};
use quipu_engine::ports::{Checkpoint, LedgerStore, Projection, StoreError};
use quipu_engine::verify::verify_headers;
use quipu_testkit::{FixedClock, MemoryUserKeys, SeededEntropy};

use crate::{Place, everything, filled, masters, me};

fn told(outcome: Result<impl Sized, StoreError>) -> String {
    match outcome {
        Err(StoreError::Unavailable(text)) => text,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was not refused"),
    }
}

#[test]
fn a_lost_key_store_is_told_plainly_and_nothing_is_written() {
    let place = Place::default();
    let store = place.process(1);
    let (mut sample, events) = filled(&store);
    let backup = place.keys.all();
    place.keys.replace(Vec::new());
    let mut ledger = place.process(2).open(&me(), false).unwrap();
    let text = told(everything(ledger.as_mut()));
    for part in ["user me", "is not in memory", "user_keys", "backup", "destroyed", "Nothing was changed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // No new key is made for a ledger that cannot be read.
    told(ledger.append(3, &[sample.say("four").unwrap()]));
    told(ledger.controls(3).map(|_| ()).and(everything(ledger.as_mut()).map(drop)));
    assert_eq!((place.key_count(), place.raw().len()), (0, 3));
    place.keys.replace(backup);
    assert_eq!(everything(ledger.as_mut()).unwrap(), events, "the next call finds the key");
}

#[test]
fn headers_and_chain_are_verified_without_a_key() {
    let place = Place::default();
    filled(&place.process(1));
    place.keys.replace(Vec::new());
    let checked = || {
        let verdict = verify_headers(place.inner.open(&me(), false).unwrap().as_mut(), &me(), &[]).unwrap();
        verdict.damage.into_iter().map(|damage| (damage.seq, damage.change)).collect::<Vec<_>>()
    };
    assert_eq!(checked(), []);
    // A payload is not looked at, a header and a link are.
    place.inner.tamper(&me(), |events| events[0].changes[0].bytes.as_mut().unwrap()[9] ^= 1);
    assert_eq!(checked(), []);
    place.inner.tamper(&me(), |events| drop(events.remove(1)));
    assert_eq!(checked(), [(2, None), (3, None)], "event 2 is missing, and event 3 does not continue event 1");
    place.inner.tamper(&me(), |events| events[0].header[40] ^= 1);
    assert_eq!(checked()[0], (1, None));
}

#[test]
fn encryption_that_is_off_refuses_what_is_sealed() {
    let place = Place::default();
    let store = place.process(1);
    filled(&store);
    let checkpoint = Checkpoint { snapshot: Some((3, b"x".to_vec())), level: 3, ..Checkpoint::default() };
    store.open(&me(), false).unwrap().checkpoint(&checkpoint).unwrap();
    let off = EncryptedStore::off(Box::new(place.inner.clone()));
    let mut ledger = off.open(&me(), false).unwrap();
    let text = told(everything(ledger.as_mut()));
    assert!(text.contains("encryption is off here") && text.contains("QUIPU_ENCRYPTION"), "{text}");
    assert_eq!(ledger.snapshot(3).unwrap(), None);
    assert!(off.examine().iter().any(|line| line.as_ref().is_ok_and(|text| text.contains("in the clear"))));
}

#[test]
fn a_wrong_master_key_is_told_plainly() {
    let place = Place::default();
    filled(&place.process(1));
    let keys = UserKeys {
        store: Box::new(place.keys.clone()),
        masters: masters(1),
        clock: std::sync::Arc::new(FixedClock::new()),
        entropy: std::sync::Arc::new(SeededEntropy::new(1)),
    };
    let store = EncryptedStore::new(Box::new(place.inner.clone()), std::sync::Arc::new(keys)).unwrap();
    let text = told(everything(store.open(&me(), false).unwrap().as_mut()));
    assert!(text.contains("master key") && text.contains("master_key_file"), "{text}");
}

#[test]
fn damage_and_swapped_rows_are_found_where_they_are() {
    let place = Place::default();
    let store = place.process(1);
    filled(&store);
    place.inner.tamper(&me(), |events| {
        let one = events[0].changes[0].clone();
        events[0].changes[0] = std::mem::replace(&mut events[1].changes[0], one);
    });
    let mut verifier = Verifier::new(me(), &[]);
    everything(store.open(&me(), false).unwrap().as_mut()).unwrap().iter().for_each(|event| verifier.check(event));
    let damaged: Vec<u64> = verifier.finish().damage.iter().map(|damage| damage.seq).collect();
    assert_eq!(damaged, [1, 2]);
}

#[test]
fn derived_data_whose_key_is_gone_counts_as_absent() {
    let place = Place::default();
    let store = place.process(1);
    filled(&store);
    let projection = Projection { seq: 3, tag: "t".to_owned(), bytes: b"words".to_vec() };
    let mut ledger = store.open(&me(), false).unwrap();
    ledger
        .checkpoint(&Checkpoint {
            snapshot: Some((3, b"memory".to_vec())),
            snapshots_kept: 1,
            projections: vec![("recall", projection.clone())],
            clear_vectors: false,
            level: 3,
            lease: None,
        })
        .unwrap();
    ledger.put_vectors(3, "t", &[([4; 16], vec![1, 2])]).unwrap();
    // Nothing of it is stored in the clear, not even the hash of the text of the vector.
    let mut inner = place.inner.open(&me(), false).unwrap();
    assert!(!crate::contains(&inner.snapshot(3).unwrap().unwrap(), "memory"));
    assert!(!crate::contains(&inner.projection("recall").unwrap().unwrap().bytes, "words"));
    assert_ne!(inner.vectors("t").unwrap()[0].0, [4; 16]);
    assert_eq!(ledger.projection("recall").unwrap(), Some(projection));
    let without = crate::encrypted(Box::new(place.inner.clone()), &MemoryUserKeys::new(), 3);
    let mut ledger = without.open(&me(), false).unwrap();
    assert_eq!(ledger.snapshot(3).unwrap(), None);
    assert_eq!(ledger.projection("recall").unwrap(), None);
    assert_eq!(ledger.vectors("t").unwrap(), []);
}
