//! What the indexes over the items contain.

use super::Items;
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Evidence, Fact, FactChange};
use crate::recall::sample;

fn turn(number: u64) -> ItemId {
    ItemId { kind: ItemKind::Turn, bits: number }
}

fn fact(number: u64, said_in: &[u64]) -> Fact {
    let evidence = said_in.iter().map(|&number| quote(number, 0)).collect();
    Fact { evidence, ..sample::fact(number, ("Ines", "likes", &format!("tea {number}")), ("2026-01-01", "…")) }
}

fn quote(number: u64, start: u32) -> Evidence {
    Evidence { source: turn(number), start, end: start + 4 }
}

fn asserted(fact: Fact) -> DerivedChange {
    DerivedChange::FactAsserted { fact: Box::new(Fact { single: false, ..fact }), ends: Vec::new(), corrects: false }
}

/// The facts quoting a source, as the index and as a search through all facts say.
fn quoting(items: &Items, source: ItemId) -> (Vec<u64>, Vec<u64>) {
    let in_it = |fact: &&Fact| fact.evidence.iter().any(|at| at.source == source);
    (
        items.quoting(source).map(|fact| fact.id.bits).collect(),
        items.facts().filter(in_it).map(|fact| fact.id.bits).collect(),
    )
}

#[test]
fn the_facts_that_quote_a_source_are_found_without_looking_at_the_others() {
    let (first, second, third) = (fact(1, &[1, 2]), fact(2, &[2]), fact(3, &[9]));
    let (one, two, three) = (first.id, second.id, third.id);
    let mut items = Items::default();
    let changes = [
        asserted(first),
        asserted(second),
        asserted(third),
        DerivedChange::FactSeen { fact: three, evidence: quote(2, 8), at: None },
        // Twice in one source is one fact.
        DerivedChange::FactSeen { fact: two, evidence: quote(2, 16), at: None },
        DerivedChange::FactChanged(FactChange { evidence: Some(quote(4, 0)), ..FactChange::of(two) }),
        DerivedChange::ItemsMerged { from: vec![two], into: one },
        // The id of a fact that is asserted again, with other evidence.
        asserted(fact(3, &[5])),
    ];
    let expected: [(u64, [&[u64]; 8]); 5] = [
        (1, [&[1], &[1], &[1], &[1], &[1], &[1], &[1], &[1]]),
        (2, [&[1], &[1, 2], &[1, 2], &[1, 2, 3], &[1, 2, 3], &[1, 2, 3], &[1, 2, 3], &[1, 2]]),
        (4, [&[], &[], &[], &[], &[], &[2], &[1, 2], &[1, 2]]),
        (5, [&[], &[], &[], &[], &[], &[], &[], &[3]]),
        (9, [&[], &[], &[3], &[3], &[3], &[3], &[3], &[]]),
    ];
    for (step, change) in changes.into_iter().enumerate() {
        items.apply(change, step as u64 + 1);
        for (source, after) in &expected {
            let (found, searched) = quoting(&items, turn(*source));
            assert_eq!((found.as_slice(), &found), (after[step], &searched), "turn {source} after step {step}");
        }
        let mut restored = items.clone();
        restored.restore();
        assert_eq!(restored, items, "after step {step}");
    }
}
