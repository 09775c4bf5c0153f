//! Snapshots, projections and vectors.

use quipu_engine::ports::{Checkpoint, Projection, VectorKey};

use crate::fixture::{Place, fill, open};

fn noise(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|index| ((index * 31 + seed * 7) % 251) as u8).collect()
}

fn snapshot(seq: u64, kept: usize) -> Checkpoint {
    Checkpoint { snapshot: Some((seq, noise(2_500_000, seq as usize))), snapshots_kept: kept, ..Checkpoint::default() }
}

#[test]
fn the_newest_snapshots_are_kept() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    for seq in 1..=6 {
        ledger.checkpoint(&snapshot(seq, 3)).unwrap();
    }
    assert_eq!(ledger.snapshots().unwrap(), [4, 5, 6]);
    assert_eq!(ledger.snapshot(5).unwrap().unwrap(), noise(2_500_000, 5));
    assert_eq!(ledger.snapshot(3).unwrap(), None);
    ledger.checkpoint(&Checkpoint::default()).unwrap();
    assert_eq!(ledger.snapshots().unwrap(), [4, 5, 6], "a checkpoint without a snapshot drops none");
    ledger.checkpoint(&snapshot(7, 0)).unwrap();
    assert_eq!(ledger.snapshots().unwrap(), [7], "the newest always stays");
}

#[test]
fn a_projection_is_replaced_whole() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    assert_eq!(ledger.projection("passages").unwrap(), None);
    for (seq, length) in [(1, 3_000_000), (2, 3_000_000), (3, 1 << 20), (4, 5), (5, 0), (6, 4_000_000)] {
        let wanted = Projection { seq, tag: format!("tag {seq}"), bytes: noise(length, seq as usize) };
        let other = Projection { seq, tag: "other".into(), bytes: noise(10, 0) };
        let projections = vec![("passages", wanted.clone()), ("other", other.clone())];
        ledger.checkpoint(&Checkpoint { projections, ..Checkpoint::default() }).unwrap();
        assert_eq!(ledger.projection("passages").unwrap(), Some(wanted));
        assert_eq!(ledger.projection("other").unwrap(), Some(other));
    }
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
}

fn vectors(count: u64) -> Vec<(VectorKey, Vec<u8>)> {
    (0..count).map(|index| (u128::from(index).to_be_bytes(), noise(384, index as usize))).collect()
}

#[test]
fn a_thousand_vectors_come_back() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    let all = vectors(1000);
    for batch in all.chunks(64) {
        ledger.put_vectors(0, "minilm", batch).unwrap();
    }
    ledger.put_vectors(0, "minilm", &all[..10]).unwrap();
    assert_eq!(ledger.vectors("minilm").unwrap(), all);
    assert!(ledger.vectors("other").unwrap().is_empty());
    ledger.put_vectors(0, "other", &all[..2]).unwrap();
    assert!(ledger.vectors("minilm").unwrap().is_empty(), "vectors of another model are dropped");
    assert_eq!(ledger.vectors("other").unwrap(), &all[..2]);
    ledger.checkpoint(&Checkpoint { clear_vectors: true, ..Checkpoint::default() }).unwrap();
    assert!(ledger.vectors("other").unwrap().is_empty());
}

#[test]
fn dropping_projections_leaves_the_ledger() {
    let place = Place::new();
    let store = place.store();
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 5);
    ledger.checkpoint(&snapshot(5, 2)).unwrap();
    ledger.put_vectors(5, "minilm", &vectors(3)).unwrap();
    let projection = Projection { seq: 5, tag: "t".into(), bytes: noise(100, 1) };
    ledger.checkpoint(&Checkpoint { projections: vec![("p", projection)], ..Checkpoint::default() }).unwrap();
    ledger.drop_projections().unwrap();
    assert!(ledger.snapshots().unwrap().is_empty());
    assert_eq!(ledger.projection("p").unwrap(), None);
    assert!(ledger.vectors("minilm").unwrap().is_empty());
    assert_eq!(ledger.head().unwrap().seq, 5);
}

#[test]
fn a_ledger_knows_its_size() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    let before = ledger.bytes().unwrap();
    ledger.checkpoint(&snapshot(1, 1)).unwrap();
    assert!(ledger.bytes().unwrap() >= before + 2_500_000);
}

/// A statement that damages stored data, and a word of the resulting report.
const DAMAGE: [(&str, &str); 9] = [
    (
        "UPDATE piece SET bytes = CAST(X'00' || substr(bytes, 2) AS BLOB) WHERE owner = 'snapshot:5' AND part = 0",
        "snapshot of version 5",
    ),
    (
        "UPDATE piece SET bytes = CAST(X'00' || substr(bytes, 2) AS BLOB) WHERE owner = 'projection:recall' AND part = 2",
        "projection recall",
    ),
    ("UPDATE piece SET bytes = zeroblob(32) WHERE owner = 'projection:cursor' AND part = 1", "projection cursor"),
    (
        "UPDATE piece SET bytes = CAST(X'00' || substr(bytes, 2) AS BLOB) WHERE owner = 'projection:cursor' AND part = 0",
        "projection cursor",
    ),
    ("UPDATE projection SET seq = 4 WHERE name = 'cursor'", "projection cursor"),
    ("UPDATE projection SET tag = 'u' WHERE name = 'cursor'", "projection cursor"),
    ("UPDATE projection SET length = length + 32 WHERE name = 'recall'", "projection recall"),
    ("UPDATE snapshot SET seq = 6 WHERE seq = 5", "snapshot of version 6"),
    (
        "UPDATE vector SET bytes = CAST(X'00' || substr(bytes, 2) AS BLOB) WHERE key = X'00000000000000000000000000000001'",
        "1 vectors are damaged",
    ),
];

#[test]
fn what_is_damaged_counts_as_absent_and_is_told() {
    for (sql, told) in DAMAGE {
        let place = Place::new();
        let mut ledger = open(&place.store());
        fill(&mut *ledger, 1, 5);
        let recall = Projection { seq: 5, tag: "t".into(), bytes: noise(2_500_000, 1) };
        let cursor = Projection { seq: 5, tag: "t".into(), bytes: noise(16, 2) };
        let projections = vec![("recall", recall), ("cursor", cursor)];
        let whole = Checkpoint { projections, ..snapshot(5, 2) };
        ledger.checkpoint(&whole).unwrap();
        ledger.put_vectors(5, "minilm", &vectors(3)).unwrap();
        assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
        let file = rusqlite::Connection::open(place.user_file()).unwrap();
        assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");

        let faults = ledger.check().unwrap();
        assert!(faults.len() == 1 && faults[0].contains(told), "{sql}: {faults:?}");
        let found = [
            ledger.snapshot(5).unwrap().is_some(),
            ledger.projection("recall").unwrap().is_some(),
            ledger.projection("cursor").unwrap().is_some(),
            ledger.vectors("minilm").unwrap().len() == 3,
        ];
        assert_eq!(found.iter().filter(|found| !**found).count(), 1, "{sql}: {found:?}");
        // The next append deletes data that was found damaged.
        fill(&mut *ledger, 6, 6);
        let stays = told.contains("vectors") || told.contains("version 6");
        assert_eq!(ledger.check().unwrap().len(), usize::from(stays), "{sql}");
        // Rebuilding overwrites damaged data. A snapshot of another version is deleted by the limit on snapshots.
        ledger.checkpoint(&Checkpoint { snapshots_kept: 1, snapshot: Some((7, noise(9, 9))), ..whole }).unwrap();
        ledger.put_vectors(5, "minilm", &vectors(3)).unwrap();
        assert_eq!(ledger.check().unwrap(), Vec::<String>::new(), "{sql}");
    }
}

#[test]
fn what_was_written_before_there_were_checksums_is_made_again() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    ledger.checkpoint(&snapshot(5, 2)).unwrap();
    let file = rusqlite::Connection::open(place.user_file()).unwrap();
    file.execute_batch(
        "DELETE FROM piece WHERE part = 3; INSERT INTO meta VALUES ('vector_tag', 'minilm'); \
         INSERT INTO vector VALUES (zeroblob(16), zeroblob(64))",
    )
    .unwrap();
    assert_eq!(ledger.snapshot(5).unwrap(), None);
    assert!(ledger.vectors("minilm").unwrap().is_empty());
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new(), "that is no damage");
}
