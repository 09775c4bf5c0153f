//! Forged ledgers: verify detects every change to stored events, at every position.
//!
//! Truncating the ledger, or rewriting history from some event on, breaks no link. Only the holder of an older head
//! can detect these forgeries, so they are checked with a pin.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeMap;

use quipu_core::event::{ChangeRef, Hash};
use quipu_core::id::UserId;
use quipu_core::ledger::{self, Pin, SealedChange, SealedEvent, Verification, Verifier};
use quipu_engine::erase::EraseTarget;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    CoreEdit, Engine, PatchOptions, RememberOptions, Utterance, edit_core, erase, fork, remember, revert,
};
use quipu_testkit::{MemoryStore, Rng, effort, engine, seed};
use serde_json::{Value, json};

type Events = Vec<SealedEvent>;

/// Modifies the events at a position in one way. Returns false if there is nothing to modify.
type Forge = fn(&mut Events, usize, &mut Case) -> bool;

/// The material available to a forger.
struct Case {
    dice: Rng,
    /// The same ledger before the erasures, as in an old backup.
    before_erasing: Events,
    /// Another user's ledger of the same length.
    foreign: Events,
}

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

/// Events of every kind that an engine records in one ledger.
fn grow(engine: &Engine, me: &UserId, turns: u64) {
    for n in 0..turns {
        let said =
            Utterance { session: Some(format!("s{}", n % 3)), ..Utterance::of_user(format!("text {n} of {me}")) };
        let key = (n % 4 == 0).then(|| format!("key {n}"));
        remember(engine, me, &said, &RememberOptions { idempotency_key: key, ..RememberOptions::default() }).unwrap();
        if n % 5 == 0 {
            let edit = CoreEdit::Set("/uncategorized/n".to_owned(), json!(n));
            edit_core(engine, me, &edit, &PatchOptions::default()).unwrap();
        }
        if n % 9 == 8 {
            let last = Selection::Events(vec![EventRef::Seq(n)]);
            revert(engine, me, &last, &RevertOptions::default(), &mut |_| {}).unwrap();
        }
    }
}

fn events_of(store: &MemoryStore, user: &UserId) -> Events {
    let mut events = Vec::new();
    store.tamper(user, |held| events.clone_from(held));
    events
}

/// A ledger that was forked and contains erasures followed by other events, with the forger's material.
fn original() -> (Events, Case) {
    let store = MemoryStore::new();
    let engine = engine(Box::new(store.clone()));
    let (root, me, other) = (user("root"), user("me"), user("other"));
    let turns = effort(20).into();
    grow(&engine, &root, 20);
    grow(&engine, &other, 2 * turns + 20);
    fork(&engine, &root, &me, When::Seq(12), &mut |_| {}).unwrap();
    grow_on(&engine, &me, turns);
    let before_erasing = events_of(&store, &me);
    for seq in [3, 20] {
        erase(&engine, &me, &[EraseTarget::Event(seq)], "asked to", &mut |_| {}).unwrap();
    }
    remember(&engine, &me, &Utterance::of_user("after the erasures"), &RememberOptions::default()).unwrap();
    let case = Case { dice: Rng::new(seed()), before_erasing, foreign: events_of(&store, &other) };
    let events = events_of(&store, &me);
    assert!(events.len() >= 50 && case.foreign.len() >= events.len(), "{} {}", events.len(), case.foreign.len());
    (events, case)
}

/// As [`grow`], without the keys that the fork already has.
fn grow_on(engine: &Engine, me: &UserId, turns: u64) {
    for n in 0..turns {
        let key = (n % 3 == 0).then(|| format!("own key {n}"));
        let options = RememberOptions { idempotency_key: key, ..RememberOptions::default() };
        remember(engine, me, &Utterance::of_user(format!("own text {n}")), &options).unwrap();
        let edit = CoreEdit::Set("/uncategorized/own".to_owned(), json!(n));
        edit_core(engine, me, &edit, &PatchOptions::default()).unwrap();
    }
    revert(engine, me, &Selection::Since(When::Seq(30)), &RevertOptions::default(), &mut |_| {}).unwrap();
}

fn judge(events: &[SealedEvent], pins: &[Pin]) -> Verification {
    let mut verifier = Verifier::new(user("me"), pins);
    events.iter().for_each(|event| verifier.check(event));
    verifier.finish()
}

/// Edits a header as JSON and seals it again with a matching hash.
fn reseal(event: &mut SealedEvent, edit: impl FnOnce(&mut Value)) {
    let mut header: Value = serde_json::from_slice(&event.header).unwrap();
    edit(&mut header);
    event.header = serde_json::to_vec(&header).unwrap();
    event.hash = blake3::Hasher::new_derive_key("quipu ledger event v1").update(&event.header).finalize();
}

fn edit_header(event: &mut SealedEvent, edit: impl FnOnce(&mut Value)) {
    let hash = event.hash;
    reseal(event, edit);
    event.hash = hash;
}

/// Replaces the payload and salt, with a matching digest in the header, as a writer would.
fn rewrite(event: &mut SealedEvent) -> bool {
    let Some(change) = event.changes.first_mut().filter(|change| change.bytes.is_some()) else { return false };
    let bytes = br#"{"type":"core_patched","patch":[]}"#.to_vec();
    let salt = [7; 32];
    let digest = blake3::keyed_hash(&salt, &bytes).to_hex().to_string();
    *change = SealedChange { bytes: Some(bytes), salt: Some(salt) };
    event.control = false;
    reseal(event, |header| header["digests"][0] = json!(digest));
    true
}

/// Relinks every event from a position on to its predecessor.
fn relink(events: &mut Events, from: usize) {
    for at in from.max(1)..events.len() {
        let prev = events[at - 1].hash.to_hex().to_string();
        reseal(&mut events[at], |header| header["prev"] = json!(prev));
    }
}

fn has_payload(events: &Events, at: usize) -> bool {
    events[at].changes.iter().any(|change| change.bytes.is_some())
}

/// Forgeries that break a link.
const KINDS: &[(&str, Forge)] = &[
    ("two neighbours swapped", |events, at, _| {
        at + 1 < events.len() && {
            events.swap(at, at + 1);
            true
        }
    }),
    ("two neighbours swapped, positions exchanged too", |events, at, _| {
        at + 1 < events.len() && {
            events.swap(at, at + 1);
            let seq = events[at].seq;
            events[at].seq = events[at + 1].seq;
            events[at + 1].seq = seq;
            true
        }
    }),
    ("an event repeated", |events, at, _| {
        let again = events[at].clone();
        events.insert(at, again);
        true
    }),
    ("a position used twice", |events, at, _| {
        at > 0 && {
            events[at].seq = events[at - 1].seq;
            true
        }
    }),
    ("the position changed", |events, at, case| {
        events[at].seq += 1 + case.dice.below(9) as u64;
        true
    }),
    ("the head cut off", |events, at, _| {
        at > 0 && {
            events.drain(..at);
            true
        }
    }),
    ("the head cut off and positions moved up", |events, at, _| {
        at > 0 && {
            events.drain(..at);
            (1..).zip(events.iter_mut()).for_each(|(seq, event)| event.seq = seq);
            true
        }
    }),
    ("one event taken out", |events, at, _| {
        at + 1 < events.len() && {
            events.remove(at);
            true
        }
    }),
    ("one event taken out and positions moved up", |events, at, _| {
        at + 1 < events.len() && {
            events.remove(at);
            (1..).zip(events.iter_mut()).for_each(|(seq, event)| event.seq = seq);
            true
        }
    }),
    ("a bit of the header flipped", |events, at, case| {
        let bytes = events[at].header.len();
        events[at].header[case.dice.below(bytes)] ^= 1 << case.dice.below(8);
        true
    }),
    ("a bit of the hash flipped", |events, at, case| {
        let mut hash = *events[at].hash.as_bytes();
        hash[case.dice.below(32)] ^= 1 << case.dice.below(8);
        events[at].hash = Hash::from_bytes(hash);
        true
    }),
    ("the time in the header changed", |events, at, _| {
        edit_header(&mut events[at], |header| header["recorded_at"] = json!("2020-01-01T00:00:00Z"));
        true
    }),
    ("the trust in the header raised", |events, at, _| {
        edit_header(&mut events[at], |header| header["trust"] = json!("web"));
        true
    }),
    ("a rationale put into the header", |events, at, _| {
        edit_header(&mut events[at], |header| header["rationale"] = json!("because I say so"));
        true
    }),
    ("the header changed and hashed again", |events, at, _| {
        at + 1 < events.len() && {
            reseal(&mut events[at], |header| header["actor"] = json!("system"));
            true
        }
    }),
    ("the owner in the header changed and hashed again", |events, at, _| {
        reseal(&mut events[at], |header| header["user_id"] = json!("mallory"));
        true
    }),
    ("the owner changed from here on, every link mended", |events, at, _| {
        for event in &mut events[at..] {
            reseal(event, |header| header["user_id"] = json!("mallory"));
        }
        relink(events, at);
        true
    }),
    ("the payload replaced", |events, at, _| {
        has_payload(events, at) && {
            events[at].changes[0].bytes = Some(b"{}".to_vec());
            true
        }
    }),
    ("a bit of the payload flipped", |events, at, case| {
        let Some(bytes) = events[at].changes[0].bytes.as_mut() else { return false };
        let place = case.dice.below(bytes.len());
        bytes[place] ^= 1 << case.dice.below(8);
        true
    }),
    ("the salt replaced", |events, at, _| {
        has_payload(events, at) && {
            events[at].changes[0].salt = Some([9; 32]);
            true
        }
    }),
    ("payload and salt replaced", |events, at, _| {
        has_payload(events, at) && {
            events[at].changes[0] = SealedChange { bytes: Some(b"{}".to_vec()), salt: Some([9; 32]) };
            true
        }
    }),
    ("payload, salt and digest replaced, hashed again", |events, at, _| {
        at + 1 < events.len() && rewrite(&mut events[at])
    }),
    ("payload and salt of another event put here", |events, at, _| {
        let other = (at + 1) % events.len();
        has_payload(events, at) && has_payload(events, other) && {
            events[at].changes = events[other].changes.clone();
            true
        }
    }),
    ("the payload gone without an erasure, its salt left", |events, at, _| {
        has_payload(events, at) && {
            events[at].changes[0].bytes = None;
            true
        }
    }),
    ("the salt gone, the payload left", |events, at, _| {
        has_payload(events, at) && {
            events[at].changes[0].salt = None;
            true
        }
    }),
    ("payload and salt gone without an erasure", |events, at, _| {
        has_payload(events, at) && {
            events[at].changes[0] = SealedChange { bytes: None, salt: None };
            true
        }
    }),
    ("an erased payload put back from an old backup", |events, at, case| {
        let Some(before) = case.before_erasing.get(at) else { return false };
        !has_payload(events, at) && {
            events[at].changes.clone_from(&before.changes);
            true
        }
    }),
    ("a change taken out", |events, at, _| {
        events[at].changes.pop();
        true
    }),
    ("a change added", |events, at, _| {
        events[at].changes.push(SealedChange { bytes: Some(b"{}".to_vec()), salt: Some([1; 32]) });
        true
    }),
    ("a change without a payload added", |events, at, _| {
        events[at].changes.push(SealedChange { bytes: None, salt: None });
        true
    }),
    ("the key column changed", |events, at, _| {
        let request = blake3::hash(b"forged");
        events[at].idempotency = Some(("forged".to_owned(), request));
        true
    }),
    ("the key column emptied", |events, at, _| events[at].idempotency.take().is_some()),
    ("the request behind a key changed", |events, at, _| {
        let Some((_, request)) = &mut events[at].idempotency else { return false };
        *request = blake3::hash(b"forged");
        true
    }),
    ("the time column changed", |events, at, _| {
        events[at].recorded_at_micros += 1;
        true
    }),
    ("the id column changed", |events, at, _| {
        events[at].id = uuid::Uuid::from_u128(7);
        true
    }),
    ("the control column changed", |events, at, _| {
        events[at].control = !events[at].control;
        true
    }),
    ("the format column changed", |events, at, _| {
        events[at].format += 1;
        true
    }),
    ("the position column at its very end", |events, at, _| {
        events[at].seq = u64::MAX;
        true
    }),
    ("another user's event put in the place", |events, at, case| {
        events[at] = case.foreign[at].clone();
        true
    }),
    ("another user's events put between", |events, at, case| {
        let spliced = case.foreign[at..(at + 3).min(case.foreign.len())].to_vec();
        drop(events.splice(at..at, spliced));
        true
    }),
    ("another user's tail put on", |events, at, case| {
        events.truncate(at);
        events.extend_from_slice(&case.foreign[at..]);
        true
    }),
    ("another user's event put on as the next, every link mended", |events, at, case| {
        events.truncate(at + 1);
        let mut next = case.foreign[0].clone();
        next.seq = events[at].seq + 1;
        let seq = next.seq;
        reseal(&mut next, |header| header["seq"] = json!(seq));
        events.push(next);
        relink(events, at + 1);
        true
    }),
    ("an erasure taken out, every link mended", |events, at, _| {
        let erased_here = |event: &SealedEvent| {
            matches!(ledger::open_change(event, 0), Ok(Some(quipu_core::event::Change::Erased { .. })))
        };
        erased_here(&events[at]) && {
            events.remove(at);
            for (place, event) in events.iter_mut().enumerate().skip(at) {
                let seq = place as u64 + 1;
                event.seq = seq;
                reseal(event, |header| header["seq"] = json!(seq));
            }
            relink(events, at);
            true
        }
    }),
    ("a foreign fork: the fork names another past, every link mended", |events, at, case| {
        // Replaces the events before the fork by those of another user.
        let fork = events.iter().position(|event| {
            matches!(ledger::open_change(event, 0), Ok(Some(quipu_core::event::Change::Forked { .. })))
        });
        fork.is_some_and(|fork| {
            at < fork && {
                events.splice(..fork, case.foreign[..fork].to_vec());
                relink(events, fork);
                true
            }
        })
    }),
];

/// Forgeries with an intact chain, which only a pin detects.
const PINNED: &[(&str, Forge)] = &[
    ("the tail cut off", |events, at, _| {
        at + 1 < events.len() && {
            events.truncate(at + 1);
            true
        }
    }),
    ("everything cut off", |events, _, _| {
        events.clear();
        true
    }),
    ("an event rewritten, every link after it mended", |events, at, _| {
        rewrite(&mut events[at]) && {
            relink(events, at + 1);
            true
        }
    }),
    ("a header rewritten, every link after it mended", |events, at, _| {
        reseal(&mut events[at], |header| header["rationale"] = json!("rewritten"));
        relink(events, at + 1);
        true
    }),
    ("the tail rewritten from here on", |events, at, _| {
        let forged = (at..events.len()).filter(|&place| rewrite(&mut events[place])).count();
        relink(events, at);
        forged > 0
    }),
];

#[test]
fn no_forgery_goes_unnoticed() {
    let (events, mut case) = original();
    let head = Pin { seq: events.last().unwrap().seq, hash: events.last().unwrap().hash };
    let verdict = judge(&events, &[head]);
    assert!(verdict.is_intact() && verdict.erased.len() == 2, "the original: {verdict:#?}");

    let mut unnoticed: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    let mut forged = 0;
    for (kinds, pins) in [(KINDS, vec![]), (PINNED, vec![head])] {
        for (kind, forge) in kinds {
            let mut tried = 0;
            for at in 0..events.len() {
                let mut copy = events.clone();
                if !forge(&mut copy, at, &mut case) || copy == events {
                    continue;
                }
                tried += 1;
                let noticed = std::panic::catch_unwind(|| !judge(&copy, &pins).is_intact());
                if !matches!(noticed, Ok(true)) {
                    let how = if noticed.is_err() { "verify panicked" } else { "unnoticed" };
                    unnoticed.entry((kind, how)).or_default().push(events[at].seq);
                }
            }
            assert!(tried > 0, "nothing was forged by: {kind}");
            forged += tried;
        }
    }
    println!(
        "forged ledgers: {forged} forgeries of {} kinds at {} positions, {} unnoticed, seed {}",
        KINDS.len() + PINNED.len(),
        events.len(),
        unnoticed.len(),
        seed()
    );
    assert!(unnoticed.is_empty(), "not noticed as damage (kind, at events): {unnoticed:#?}");
}

#[test]
fn damage_is_named_where_it_is() {
    let (events, _) = original();
    for at in 0..events.len() {
        let mut copy = events.clone();
        let Some(bytes) = copy[at].changes[0].bytes.as_mut() else { continue };
        bytes[0] ^= 1;
        let damage = judge(&copy, &[]).damage;
        let places: Vec<ChangeRef> =
            damage.iter().map(|found| ChangeRef { seq: found.seq, index: found.change.unwrap_or(u32::MAX) }).collect();
        // Changed control events can cause further damage; the place itself must always be named.
        assert!(places.contains(&ChangeRef { seq: events[at].seq, index: 0 }), "{damage:?}");
    }
}
