//! Snapshots, projections and vectors.

use quipu_engine::ports::{Checkpoint, Projection, UserLedger};

use super::{ContractCase, Make, everything, head_of, me, open};
use crate::sample::Sample;

pub(super) const CASES: &[ContractCase] = &[
    ("snapshots are stored, up to the limit", snapshots),
    ("a projection is replaced by the next of its name", projections),
    ("a checkpoint without a snapshot leaves the snapshots", partial),
    ("large blobs come back whole, also when they shrink", large),
    ("single vectors are stored until a checkpoint includes them", vectors),
    ("vectors of another model replace the old ones", other_model),
    ("dropping derived data leaves the events", dropped),
];

fn snapshot(seq: u64, bytes: &[u8], kept: usize) -> Checkpoint {
    Checkpoint { snapshot: Some((seq, bytes.to_vec())), snapshots_kept: kept, ..Checkpoint::default() }
}

fn projection(seq: u64, tag: &str, bytes: &[u8]) -> Projection {
    Projection { seq, tag: tag.to_owned(), bytes: bytes.to_vec() }
}

fn with_projection(name: &'static str, projection: Projection) -> Checkpoint {
    Checkpoint { projections: vec![(name, projection)], ..Checkpoint::default() }
}

fn snapshots(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    assert_eq!(ledger.snapshots().unwrap(), [0; 0]);
    for seq in [1, 2, 30, 4] {
        ledger.checkpoint(&snapshot(seq, &seq.to_le_bytes(), 4)).unwrap();
    }
    assert_eq!(ledger.snapshots().unwrap(), [1, 2, 4, 30]);
    ledger.checkpoint(&snapshot(31, b"newest", 3)).unwrap();
    assert_eq!(ledger.snapshots().unwrap(), [4, 30, 31], "the newest stay, this one included");
    assert_eq!(ledger.snapshot(31).unwrap().as_deref(), Some(b"newest".as_slice()));
    assert_eq!(ledger.snapshot(2).unwrap(), None);
    ledger.checkpoint(&snapshot(31, b"again", 3)).unwrap();
    assert_eq!(ledger.snapshot(31).unwrap().as_deref(), Some(b"again".as_slice()));
    drop(ledger);
    assert_eq!(open(&*store, &me()).snapshots().unwrap(), [4, 30, 31]);
}

fn projections(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    assert_eq!(ledger.projection("recall").unwrap(), None);
    ledger.checkpoint(&with_projection("recall", projection(3, "old", b"first"))).unwrap();
    ledger.checkpoint(&with_projection("files", projection(3, "old", b""))).unwrap();
    ledger.checkpoint(&with_projection("recall", projection(7, "new", b"second"))).unwrap();
    drop(ledger);
    let mut ledger = open(&*store, &me());
    assert_eq!(ledger.projection("recall").unwrap(), Some(projection(7, "new", b"second")));
    assert_eq!(ledger.projection("files").unwrap(), Some(projection(3, "old", b"")));
}

fn partial(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    ledger.checkpoint(&snapshot(1, b"one", 4)).unwrap();
    ledger.checkpoint(&snapshot(2, b"two", 4)).unwrap();
    ledger.checkpoint(&with_projection("recall", projection(2, "t", b"x"))).unwrap();
    assert_eq!(ledger.snapshots().unwrap(), [1, 2]);
}

fn large(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let bytes: Vec<u8> = (0..5_000_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    ledger.checkpoint(&snapshot(1, &bytes, 1)).unwrap();
    assert!(ledger.snapshot(1).unwrap() == Some(bytes.clone()));
    ledger.checkpoint(&snapshot(1, &bytes[..1_500_000], 1)).unwrap();
    assert!(ledger.snapshot(1).unwrap().as_deref() == Some(&bytes[..1_500_000]));
}

fn sorted(ledger: &mut dyn UserLedger, tag: &str) -> Vec<([u8; 16], Vec<u8>)> {
    let mut vectors = ledger.vectors(tag).unwrap();
    vectors.sort();
    vectors
}

fn vectors(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    ledger.put_vectors(1, "m", &[([2; 16], vec![2]), ([1; 16], vec![1])]).unwrap();
    ledger.put_vectors(1, "m", &[([2; 16], vec![3])]).unwrap();
    drop(ledger);
    let mut ledger = open(&*store, &me());
    assert_eq!(sorted(&mut *ledger, "m"), [([1; 16], vec![1]), ([2; 16], vec![3])]);
    ledger.checkpoint(&with_projection("recall", projection(1, "t", b"x"))).unwrap();
    assert_eq!(ledger.vectors("m").unwrap().len(), 2, "this checkpoint does not hold them");
    ledger.checkpoint(&Checkpoint { clear_vectors: true, ..Checkpoint::default() }).unwrap();
    assert_eq!(ledger.vectors("m").unwrap(), []);
}

fn other_model(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    ledger.put_vectors(1, "old", &[([1; 16], vec![1])]).unwrap();
    assert_eq!(ledger.vectors("new").unwrap(), []);
    assert_eq!(ledger.vectors("old").unwrap().len(), 1, "asking for others drops nothing");
    ledger.put_vectors(1, "new", &[([2; 16], vec![2])]).unwrap();
    assert_eq!(ledger.vectors("old").unwrap(), []);
    assert_eq!(ledger.vectors("new").unwrap(), [([2; 16], vec![2])]);
}

fn dropped(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let event = Sample::new(&me(), 30).say("one").unwrap();
    ledger.append(0, std::slice::from_ref(&event)).unwrap();
    ledger.checkpoint(&snapshot(1, b"s", 4)).unwrap();
    ledger.checkpoint(&with_projection("recall", projection(1, "t", b"p"))).unwrap();
    ledger.put_vectors(1, "t", &[([1; 16], vec![1])]).unwrap();
    ledger.drop_projections().unwrap();
    assert_eq!(ledger.snapshots().unwrap(), [0; 0]);
    assert_eq!(ledger.projection("recall").unwrap(), None);
    assert_eq!(ledger.vectors("t").unwrap(), []);
    assert_eq!(ledger.head().unwrap(), head_of(&event));
    assert_eq!(everything(&mut *ledger), [event]);
    ledger.checkpoint(&snapshot(1, b"again", 4)).unwrap();
    assert_eq!(ledger.snapshots().unwrap(), [1]);
}
