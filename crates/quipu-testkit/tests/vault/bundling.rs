//! Bundles: signed on export, verified and imported elsewhere.

use std::sync::Arc;

use quipu_engine::bundle::{bundle, import_bundle, verify_bundle};
use quipu_engine::erase::EraseTarget;
use quipu_engine::{Engine, Error, erase, rebuild, verify};
use quipu_files::KeyFile;
use quipu_testkit::{MemoryStore, SeededEntropy};

use crate::{House, me};

fn signer(house: &House, name: &str) -> KeyFile {
    let seed = name.bytes().map(u64::from).sum();
    KeyFile::new(house.place.path().join(name), Arc::new(SeededEntropy::new(seed)))
}

fn house() -> House {
    let house = House::new();
    house.says("I live in Lyon");
    let told = house.says("My sister is called Zanzibarina");
    house.says("I like tea");
    erase(&house.engine, &me(), &[EraseTarget::Event(told)], "asked", &mut |_| {}).unwrap();
    house
}

fn hash(engine: &Engine) -> String {
    rebuild(engine, &me(), &mut |_| {}).unwrap().memory_hash
}

#[test]
fn a_bundle_is_taken_up_elsewhere_byte_for_byte() {
    let house = house();
    let here = signer(&house, "here.key");
    let text = bundle(&house.engine, &me(), &here).unwrap();
    assert!(!text.contains("Zanzibarina"));
    assert_eq!(text, bundle(&house.engine, &me(), &here).unwrap());
    let there = signer(&house, "there.key");
    let verdict = verify_bundle(&text, None, &there, &[]).unwrap();
    assert!(verdict.is_intact(), "{verdict:?}");

    let engine = house.rig.engine(Box::new(MemoryStore::new()));
    let (tried, _) = import_bundle(&engine, &text, None, &there, true, &mut |_| {}).unwrap();
    assert!(tried.dry_run && quipu_engine::users(&engine).unwrap().is_empty());
    let (restored, _) = import_bundle(&engine, &text, Some(&verdict.public_key), &there, false, &mut |_| {}).unwrap();
    assert_eq!(restored.head_hash, verdict.ledger.head_hash);
    assert!(verify(&engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
    assert_eq!(hash(&engine), hash(&house.engine));
    assert_eq!(bundle(&engine, &me(), &here).unwrap(), text);
    let again = import_bundle(&engine, &text, None, &there, false, &mut |_| {});
    assert!(matches!(again, Err(Error::Refused(_))), "{again:?}");
}

/// Modifies a bundle, and checks that verification and import both reject it.
#[track_caller]
fn check_forged(change: impl Fn(&str) -> String, why: &str) {
    let house = house();
    let here = signer(&house, "here.key");
    let text = bundle(&house.engine, &me(), &here).unwrap();
    let forged = change(&text);
    assert_ne!(text, forged);
    assert!(!verify_bundle(&forged, None, &here, &[]).unwrap().is_intact());
    let engine = house.rig.engine(Box::new(MemoryStore::new()));
    let outcome = import_bundle(&engine, &forged, None, &here, false, &mut |_| {});
    assert!(matches!(&outcome, Err(Error::Corrupt(text)) if text.contains(why)), "{outcome:?}");
    assert!(quipu_engine::users(&engine).unwrap().is_empty());
}

#[test]
fn forged_bundles_are_refused() {
    check_forged(|text| text.replace("Lyon", "Rome"), "does not match its digest");
    check_forged(
        |text| {
            text.lines()
                .filter(|line| !line.is_empty())
                .rev()
                .skip(1)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect::<Vec<_>>()
                .join("\n")
        },
        "no event erased it",
    );
    let other = |text: &str| {
        let house = house();
        let stranger = bundle(&house.engine, &me(), &signer(&house, "stranger.key")).unwrap();
        let key = |text: &str| text.split("\"public_key\":\"").nth(1).unwrap()[..64].to_owned();
        text.replace(&key(text), &key(&stranger))
    };
    check_forged(other, "the signature does not hold");
}

#[test]
fn events_beyond_the_seal_and_short_of_it_are_noticed() {
    let house = House::new();
    house.says("I live in Lyon");
    let here = signer(&house, "here.key");
    let short = bundle(&house.engine, &me(), &here).unwrap();
    house.says("I like tea");
    let long = bundle(&house.engine, &me(), &here).unwrap();
    let events = |text: &str| text.split_once('\n').map(|(_, events)| events.to_owned()).unwrap();
    let first = |text: &str| text.split_once('\n').map(|(first, _)| first.to_owned()).unwrap();
    for (seal, lines) in [(&short, &long), (&long, &short)] {
        let mixed = format!("{}\n{}", first(seal), events(lines));
        assert!(!verify_bundle(&mixed, None, &here, &[]).unwrap().is_intact());
    }
}

#[test]
fn a_bundle_of_another_key_is_not_what_was_expected() {
    let house = house();
    let here = signer(&house, "here.key");
    let text = bundle(&house.engine, &me(), &here).unwrap();
    let wrong = "00".repeat(32);
    let verdict = verify_bundle(&text, Some(&wrong), &here, &[]).unwrap();
    assert!(verdict.signature_holds && verdict.expected_key == Some(false) && !verdict.is_intact());
}
