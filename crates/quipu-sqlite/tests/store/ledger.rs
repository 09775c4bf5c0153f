//! Appending and reading.

use jiff::Timestamp;
use quipu_core::event::NO_HASH;
use quipu_core::id::{EventId, Seq};
use quipu_core::ledger::SealedChange;
use quipu_engine::ports::{Head, KeyUse, LedgerStore, StoreError};

use crate::fixture::{Place, change, check_error, event, fill, hash, me, open, read_all};

#[test]
fn bytes_come_back_as_they_went_in() {
    let place = Place::new();
    let mut events = vec![event(1, "first"), event(2, ""), event(3, "third"), event(4, "fourth")];
    events[0].idempotency = Some(("a key\u{1f600} ' \"".into(), hash("request")));
    events[0].recorded_at_micros = -1;
    events[1].changes = Vec::new();
    events[1].header = (0..=255).collect();
    events[2].changes = vec![
        change("one"),
        SealedChange { bytes: Some(Vec::new()), salt: Some([255; 32]) },
        SealedChange { bytes: None, salt: None },
        SealedChange { bytes: Some(vec![0, 1, 2]), salt: None },
        SealedChange { bytes: None, salt: Some([0; 32]) },
        SealedChange { bytes: Some((0..1_000_000u32).flat_map(u32::to_le_bytes).collect()), salt: Some([7; 32]) },
    ];
    events[3].control = true;
    events[3].format = u16::MAX;
    {
        let store = place.store();
        let mut ledger = open(&store);
        ledger.append(0, &events[..1]).unwrap();
        ledger.append(1, &events[1..]).unwrap();
        assert_eq!(read_all(&mut *ledger), events);
    }
    let store = place.store();
    let mut ledger = store.open(&me(), false).unwrap();
    assert_eq!(read_all(&mut *ledger), events);
    assert_eq!(ledger.head().unwrap(), Head { seq: 4, hash: events[3].hash });
    assert_eq!(ledger.controls(4).unwrap(), &events[3..]);
    assert!(ledger.controls(3).unwrap().is_empty());
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
}

#[test]
fn an_empty_ledger_has_no_head() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    assert_eq!(ledger.head().unwrap(), Head { seq: 0, hash: NO_HASH });
    assert!(read_all(&mut *ledger).is_empty());
    ledger.append(0, &[]).unwrap();
}

#[test]
fn long_reads_cross_batches_and_stop_when_told() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    let events: Vec<_> = (1..=1500).map(|seq| event(seq, "x")).collect();
    ledger.append(0, &events).unwrap();
    assert_eq!(read_all(&mut *ledger), events);
    let mut seen: Vec<Seq> = Vec::new();
    ledger
        .read(500..=1400, &mut |event| {
            seen.push(event.seq);
            seen.len() < 700
        })
        .unwrap();
    assert_eq!(seen, (500..1200).collect::<Vec<_>>());
    #[expect(clippy::reversed_empty_ranges, reason = "the case to test")]
    ledger.read(7..=3, &mut |_| panic!("an empty range has no events")).unwrap();
}

#[test]
fn an_event_may_be_appended_while_another_handle_reads() {
    let place = Place::new();
    let store = place.store();
    let (mut reader, mut writer) = (open(&store), open(&store));
    fill(&mut *writer, 1, 3);
    let mut next = 4;
    reader
        .read(1..=3, &mut |_| {
            writer.append(next - 1, &[event(next, "more")]).unwrap();
            next += 1;
            true
        })
        .unwrap();
    assert_eq!(reader.head().unwrap().seq, 6);
}

#[test]
fn the_slower_of_two_writers_gets_a_conflict() {
    let place = Place::new();
    let store = place.store();
    let (mut one, mut two) = (open(&store), open(&store));
    one.append(0, &[event(1, "one")]).unwrap();
    let late = two.append(0, &[event(1, "two")]);
    assert!(matches!(late, Err(StoreError::Conflict { expected: 0, head: 1 })), "{late:?}");
    let early = two.append(5, &[event(6, "two")]);
    assert!(matches!(early, Err(StoreError::Conflict { expected: 5, head: 1 })), "{early:?}");
    assert_eq!(read_all(&mut *two), [event(1, "one")]);
}

#[test]
fn appending_is_all_or_nothing() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    check_error(ledger.append(0, &[event(1, "one"), event(3, "three")]), "Corrupt", &["position 3", "bug"]);
    let mut twin = event(2, "two");
    twin.id = event(1, "").id;
    check_error(ledger.append(0, &[event(1, "one"), twin]), "Exists", &["in the ledger already"]);
    assert_eq!(ledger.head().unwrap().seq, 0);
}

#[test]
fn an_idempotency_key_is_used_once() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    let keyed = |seq, key: &str| {
        let mut event = event(seq, "x");
        event.idempotency = Some((key.into(), hash("request")));
        event
    };
    ledger.append(0, &[keyed(1, "a"), keyed(2, "b"), event(3, "no key"), event(4, "no key")]).unwrap();
    check_error(ledger.append(4, &[keyed(5, "a")]), "Exists", &["\"a\"", "used before"]);
    assert_eq!(ledger.key_use("b").unwrap(), Some(KeyUse { seq: 2, request: hash("request") }));
    assert_eq!(ledger.key_use("c").unwrap(), None);
}

#[test]
fn positions_are_found_by_id_and_time() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    let mut events = [event(1, "a"), event(2, "b"), event(3, "c"), event(4, "d")];
    for (event, micros) in events.iter_mut().zip([-5, 10, 10, 20]) {
        event.recorded_at_micros = micros;
    }
    ledger.append(0, &events).unwrap();
    assert_eq!(ledger.position_of(events[2].id).unwrap(), Some(3));
    assert_eq!(ledger.position_of(EventId::from_u128(1)).unwrap(), None);
    let times = [(-6_000, 0), (-5_001, 0), (-5_000, 1), (-4_500, 1), (9_999, 1), (10_000, 3), (19_999, 3), (20_000, 4)];
    for (nanoseconds, seq) in times {
        let time = Timestamp::from_nanosecond(nanoseconds).unwrap();
        assert_eq!(ledger.position_at(time).unwrap(), seq, "at {nanoseconds} ns");
    }
    assert_eq!(ledger.position_at(Timestamp::MAX).unwrap(), 4);
    assert_eq!(ledger.position_at(Timestamp::MIN).unwrap(), 0);
}

#[test]
fn controls_are_listed_over_many_batches() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    let mut events: Vec<_> = (1..=1300).map(|seq| event(seq, "x")).collect();
    for event in &mut events {
        event.control = event.seq != 700;
    }
    ledger.append(0, &events).unwrap();
    let listed: Vec<Seq> = ledger.controls(1200).unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(listed, (1..=1200).filter(|seq| *seq != 700).collect::<Vec<_>>());
}
