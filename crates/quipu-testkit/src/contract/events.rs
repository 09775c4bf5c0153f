//! Appending and reading events.

use jiff::Timestamp;
use quipu_core::event::{Actor, Change, Draft, NO_HASH, SourceKind};
use quipu_core::ledger::{SealedEvent, Verifier};
use quipu_engine::ports::{Head, KeyUse, StoreError};

use super::{ContractCase, Make, between, everything, head_of, me, open};
use crate::sample::Sample;

pub(super) const CASES: &[ContractCase] = &[
    ("an empty ledger has no head and no events", empty),
    ("bytes are read as they were written", exact_bytes),
    ("an append succeeds only at the position that the writer expects", compare_and_set),
    ("an append of several events is all or nothing", all_or_nothing),
    ("an id and an idempotency key are used once", unique),
    ("an event is stored at its own position", own_position),
    ("a range is read in order and stops on request", ranges),
    ("large numbers of events can be appended and read", many),
    ("control events are found without reading the others", controls),
    ("an event is found by its id, a key by its event", look_up),
    ("a time is turned into the last position before it", position_at),
    ("appended events are present after reopening", reopened),
    ("two open ledgers of one user see the same events", two_handles),
];

fn empty(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    assert_eq!(ledger.head().unwrap(), Head { seq: 0, hash: NO_HASH });
    assert_eq!(everything(&mut *ledger), []);
    assert_eq!(ledger.controls(10).unwrap(), []);
    assert_eq!(ledger.position_at(Timestamp::MAX).unwrap(), 0);
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
}

/// Events that use every column of a store, in all relevant combinations.
fn diverse(sample: &mut Sample) -> Vec<SealedEvent> {
    let mut several = vec![sample.source("one of two"), sample.source("two of two \u{1f9f6} ñ \u{202e}")];
    several[0].session = None;
    let changes = several.into_iter().map(Change::SourceRecorded).collect();
    vec![
        sample.say("plain").unwrap(),
        sample.say_once("with a key", "key-1").unwrap(),
        sample.seal(&Draft::new(Actor::Agent, SourceKind::AssistantSaid, changes)).unwrap(),
        sample
            .seal(&Draft::new(Actor::User, SourceKind::UserEdited, vec![Change::Reverted { events: vec![1, 2] }]))
            .unwrap(),
        sample.say(&"long ".repeat(40_000)).unwrap(),
    ]
}

fn exact_bytes(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut events = diverse(&mut Sample::new(&me(), 1));
    // Stores do not interpret payloads, so arbitrary bytes must be preserved.
    let strange: Vec<u8> = (0..=255).collect();
    events[0].header = strange.clone();
    events[0].changes[0].bytes = Some(strange);
    events[1].changes[0].bytes = Some(Vec::new());
    events[2].recorded_at_micros = -1;
    events[3].format = u16::MAX;
    ledger.append(0, &events).unwrap();
    assert_eq!(everything(&mut *ledger), events);
    assert_eq!(ledger.head().unwrap(), head_of(&events[4]));
}

fn compare_and_set(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut sample = Sample::new(&me(), 2);
    let events = [sample.say("one").unwrap(), sample.say("two").unwrap()];
    ledger.append(0, &events).unwrap();
    let mut rival = Sample::new(&me(), 3);
    let late = [rival.say("one, too").unwrap()];
    for expected in [0, 1, 3] {
        let outcome = ledger.append(expected, &late);
        let said = matches!(outcome, Err(StoreError::Conflict { expected: was, head: 2 }) if was == expected);
        assert!(said, "{outcome:?}");
    }
    assert_eq!(everything(&mut *ledger), events, "a conflict leaves nothing behind");
}

fn all_or_nothing(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut sample = Sample::new(&me(), 4);
    let first = sample.say("one").unwrap();
    ledger.append(0, std::slice::from_ref(&first)).unwrap();
    let mut more = vec![sample.say("two").unwrap(), sample.say("three").unwrap(), sample.say("four").unwrap()];
    more[2].id = first.id;
    let outcome = ledger.append(1, &more);
    assert!(matches!(outcome, Err(StoreError::Exists(_))), "{outcome:?}");
    assert_eq!(everything(&mut *ledger), [first], "the good events of a bad append are not there either");
}

fn unique(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut sample = Sample::new(&me(), 5);
    let first = sample.say_once("one", "a key").unwrap();
    ledger.append(0, std::slice::from_ref(&first)).unwrap();
    let mut same_id = sample.clone().say("two").unwrap();
    same_id.id = first.id;
    let same_key = sample.clone().say_once("two", "a key").unwrap();
    for again in [same_id, same_key] {
        let outcome = ledger.append(1, &[again]);
        assert!(matches!(outcome, Err(StoreError::Exists(_))), "{outcome:?}");
    }
    let twice = [sample.say_once("two", "new").unwrap(), sample.say_once("three", "new").unwrap()];
    let outcome = ledger.append(1, &twice);
    assert!(matches!(outcome, Err(StoreError::Exists(_))), "a key twice in one append: {outcome:?}");
    assert_eq!(ledger.head().unwrap(), head_of(&first));
}

fn own_position(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut event = Sample::new(&me(), 6).say("one").unwrap();
    event.seq = 5;
    assert!(ledger.append(0, &[event]).is_err());
    assert_eq!(ledger.head().unwrap().seq, 0);
}

fn ranges(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut sample = Sample::new(&me(), 7);
    let events: Vec<SealedEvent> = (0..7).map(|n| sample.say(&format!("text {n}")).unwrap()).collect();
    ledger.append(0, &events).unwrap();
    assert_eq!(between(&mut *ledger, 3, 5), events[2..5]);
    assert_eq!(between(&mut *ledger, 6, 99), events[5..]);
    assert_eq!(between(&mut *ledger, 0, 1), events[..1]);
    assert_eq!(between(&mut *ledger, 8, 99), []);
    #[expect(clippy::reversed_empty_ranges, reason = "a reader may ask for nothing")]
    let nothing = 5..=4;
    ledger.read(nothing, &mut |event| panic!("event {} is not in an empty range", event.seq)).unwrap();
    let mut seen = 0;
    ledger
        .read(1..=7, &mut |_| {
            seen += 1;
            seen < 3
        })
        .unwrap();
    assert_eq!(seen, 3);
}

fn many(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut sample = Sample::new(&me(), 8);
    let events: Vec<SealedEvent> = (0..1500).map(|n| sample.say(&format!("text {n}")).unwrap()).collect();
    for (number, chunk) in events.chunks(400).enumerate() {
        ledger.append(number as u64 * 400, chunk).unwrap();
    }
    let mut verifier = Verifier::new(me(), &[]);
    everything(&mut *ledger).iter().for_each(|event| verifier.check(event));
    let verdict = verifier.finish();
    assert!(verdict.is_intact() && verdict.events == 1500, "{verdict:?}");
}

fn controls(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut sample = Sample::new(&me(), 9);
    let revert = |sample: &mut Sample, of: u64| {
        sample
            .seal(&Draft::new(Actor::User, SourceKind::UserEdited, vec![Change::Reverted { events: vec![of] }]))
            .unwrap()
    };
    let events = [
        sample.say("one").unwrap(),
        revert(&mut sample, 1),
        sample.say("three").unwrap(),
        revert(&mut sample, 2),
        revert(&mut sample, 3),
    ];
    ledger.append(0, &events).unwrap();
    let found = |up_to, ledger: &mut dyn quipu_engine::ports::UserLedger| ledger.controls(up_to).unwrap();
    assert_eq!(found(5, &mut *ledger), [events[1].clone(), events[3].clone(), events[4].clone()]);
    assert_eq!(found(4, &mut *ledger), [events[1].clone(), events[3].clone()]);
    assert_eq!(found(1, &mut *ledger), []);
}

fn look_up(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut sample = Sample::new(&me(), 10);
    let events = [sample.say("one").unwrap(), sample.say_once("two", "Schlüssel \u{1f511}").unwrap()];
    ledger.append(0, &events).unwrap();
    assert_eq!(ledger.position_of(events[1].id).unwrap(), Some(2));
    assert_eq!(ledger.position_of(uuid::Uuid::max()).unwrap(), None);
    // A store returns the hash as stored in the event, which is salted.
    let request = events[1].idempotency.as_ref().map(|(_, request)| *request).unwrap();
    assert_eq!(quipu_core::ledger::answers(&events[1], &blake3::hash(b"two")), Some(true));
    assert_eq!(quipu_core::ledger::answers(&events[1], &blake3::hash(b"one")), Some(false));
    assert_eq!(ledger.key_use("Schlüssel \u{1f511}").unwrap(), Some(KeyUse { seq: 2, request }));
    for unused in ["schlüssel \u{1f511}", "", "%"] {
        assert_eq!(ledger.key_use(unused).unwrap(), None, "{unused:?}");
    }
}

fn position_at(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let mut sample = Sample::new(&me(), 11);
    let mut times = Vec::new();
    for n in 0..3 {
        let event = sample.say(&format!("text {n}")).unwrap();
        ledger.append(n, &[event]).unwrap();
        times.push(sample.recorded_at().unwrap());
    }
    let micro = jiff::SignedDuration::from_micros(1);
    for (at, time) in times.iter().enumerate() {
        let seq = at as u64 + 1;
        assert_eq!(ledger.position_at(*time).unwrap(), seq);
        assert_eq!(ledger.position_at(*time - micro).unwrap(), seq - 1);
        assert_eq!(ledger.position_at(*time + micro).unwrap(), seq);
    }
    assert_eq!(ledger.position_at(Timestamp::MIN).unwrap(), 0);
    assert_eq!(ledger.position_at(Timestamp::MAX).unwrap(), 3);
}

fn reopened(make: Make<'_>) {
    let store = make();
    let events = diverse(&mut Sample::new(&me(), 12));
    open(&*store, &me()).append(0, &events).unwrap();
    let mut ledger = store.open(&me(), false).unwrap();
    assert_eq!(everything(&mut *ledger), events);
    assert_eq!(ledger.head().unwrap(), head_of(&events[4]));
}

fn two_handles(make: Make<'_>) {
    let store = make();
    let (mut one, mut two) = (open(&*store, &me()), open(&*store, &me()));
    let mut sample = Sample::new(&me(), 13);
    let first = sample.say("one").unwrap();
    one.append(0, std::slice::from_ref(&first)).unwrap();
    assert_eq!(two.head().unwrap(), head_of(&first));
    let second = sample.say("two").unwrap();
    assert!(matches!(two.append(0, std::slice::from_ref(&second)), Err(StoreError::Conflict { .. })));
    two.append(1, std::slice::from_ref(&second)).unwrap();
    assert_eq!(everything(&mut *one), [first, second]);
}
