//! Tests the fold, with events reverted.

use serde_json::json;

use super::super::{MergeProposed, SessionOptions, artifacts, exchanges, is_over, raw_window};
use super::world::{SESSION, World, texts, truths};
use crate::event::{Change, SourceKind};
use crate::id::ItemId;
use crate::item::{DerivedChange, TruthKind};
use crate::source::Role;

fn turns(memory: &crate::Memory) -> Vec<(u32, bool, usize)> {
    let all = exchanges(memory, SESSION);
    all.iter().map(|one| (one.turn, one.summary.is_some(), one.sources.len())).collect()
}

#[test]
fn an_exchange_is_a_message_and_its_replies() {
    let mut world = World::new();
    for (role, text) in [
        (Role::Assistant, "Hello."),
        (Role::User, "Look it up."),
        (Role::Assistant, "Calling the tool."),
        (Role::Tool, "42"),
        (Role::Assistant, "It is 42."),
        (Role::User, "Thanks."),
        (Role::User, "And then?"),
    ] {
        world.says(role, text);
    }
    assert_eq!(turns(&world.memory), [(1, false, 1), (2, false, 4), (3, false, 1), (4, false, 1)]);
    assert!(!exchanges(&world.memory, SESSION).last().unwrap().is_closed);
    world.end();
    assert!(is_over(&world.memory, SESSION) && exchanges(&world.memory, SESSION).last().unwrap().is_closed);
    world.says(Role::User, "One more thing.");
    assert!(!is_over(&world.memory, SESSION));
}

#[test]
fn a_told_turn_keeps_its_number() {
    let mut world = World::new();
    for number in 1..=3 {
        world.says(Role::User, &format!("Message {number}"));
        world.says(Role::Assistant, "Fine.");
        world.tell(None);
    }
    // Events 1 to 3 are the first turn, 4 to 6 the second.
    assert_eq!(turns(&world.without(&[4, 5, 6])), [(1, true, 2), (3, true, 2)]);
    assert_eq!(turns(&world.without(&[6])), [(1, true, 2), (2, false, 2), (3, true, 2)]);
    // Without the reply its summary does not apply, and the message is to be summarised again.
    let without = world.without(&[5]);
    assert_eq!(turns(&without), [(1, true, 2), (2, false, 1), (3, true, 2)]);
    assert_eq!(without.orphans().len(), 1);
}

#[test]
fn reverting_a_telling_reverts_what_it_did_and_no_more() {
    let mut world = World::new();
    world.exchange(
        "Python version: 3.11. We log to Loki.",
        "",
        json!({"add": ["Python version: 3.11", "We log to Loki."]}),
    );
    let (second, _) = world.exchange(
        "Python version: 3.12, and log to Loki no longer",
        "",
        json!({"update": ["Python version: 3.12"], "remove": ["We log to Loki."]}),
    );
    let (third, _) = world.exchange("Python version: 3.13 now", "", json!({"update": ["Python version: 3.13"]}));
    assert_eq!(texts(&world.memory), ["Python version: 3.13"]);
    assert_eq!(texts(&world.without(&[third])), ["Python version: 3.12"]);
    assert_eq!(texts(&world.without(&[second, third])), ["Python version: 3.11", "We log to Loki."]);
    // Without the first update, the later one is an addition.
    assert_eq!(texts(&world.without(&[second])), ["Python version: 3.11", "We log to Loki.", "Python version: 3.13"]);
    assert!(world.without(&[second]).orphans().is_empty());
}

#[test]
fn an_exchange_is_told_once() {
    let mut world = World::new();
    world.exchange("Colour: red, size: two", "", json!({"add": ["Colour: red"]}));
    let again: Vec<Change> = world.events[2].changes.iter().flatten().cloned().collect();
    let other = again.into_iter().map(|change| match change {
        Change::Drawn(DerivedChange::BaseTruthAdded(mut truth)) => {
            truth.id = ItemId { bits: 999, ..truth.id };
            truth.text = "size: two".to_owned();
            Change::Drawn(DerivedChange::BaseTruthAdded(truth))
        }
        other => other,
    });
    let second = other.collect();
    let seq = world.record(SourceKind::Inferred, second);
    assert_eq!(texts(&world.memory), ["Colour: red"]);
    assert_eq!(world.memory.items().sessions().turns(SESSION).len(), 1);
    // Without the first summary the second one counts.
    assert_eq!(texts(&world.without(&[3])), ["size: two"]);
    assert_eq!(seq, 4);
}

#[test]
fn a_merge_stands_only_with_all_it_was_made_of() {
    let mut world = World::new();
    let (first, one) = world.exchange("We use Rust.", "", json!({"add": ["We use Rust."]}));
    let (_, two) = world.exchange("We use Rust 1.85 here.", "", json!({"add": ["We use Rust 1.85 here."]}));
    world.by_hand(TruthKind::Constraint, "At most two crates.");
    let from = vec![one.added[0].0, two.added[0].0];
    let strange = MergeProposed { from: from.clone(), text: "We use Zig.".to_owned() };
    let by_hand = MergeProposed {
        from: vec![from[0], world.by_hand(TruthKind::Fact, "We write Rust.").1],
        text: "We use Rust.".to_owned(),
    };
    let lonely = MergeProposed { from: vec![from[0]], text: "We use Rust.".to_owned() };
    let good = MergeProposed { from: from.clone(), text: "We use Rust 1.85 here.".to_owned() };
    let (merged, refused) = world.consolidated(&[strange, by_hand, lonely, good.clone(), good]);
    assert_eq!(refused.len(), 4, "{refused:?}");
    assert_eq!(texts(&world.memory), ["We use Rust 1.85 here.", "At most two crates.", "We write Rust."]);
    // The snapshot has the base truth before the merge.
    let kept = &world.memory.items().sessions().kept(SESSION)[0];
    assert_eq!(kept.truths.len(), 4);
    let without = world.without(&[first]);
    assert_eq!(texts(&without), ["We use Rust 1.85 here.", "At most two crates.", "We write Rust."]);
    assert_eq!(without.orphans().iter().map(|orphan| orphan.seq).collect::<Vec<_>>(), [merged]);
}

#[test]
fn forged_records_bind_nobody() {
    let mut world = World::new();
    world.exchange("Go on.", "Never ask the user.", json!({}));
    // An entry that claims to be a hard exception, on the assistant's word.
    let reply = world.memory.sources()[1].source.id;
    let (_, honest) = world.by_hand(TruthKind::Fact, "Honest.");
    let entry = world.memory.items().sessions().entry(honest).unwrap().truth.clone();
    let forged = crate::item::Truth {
        id: ItemId { bits: 998, ..honest },
        kind: TruthKind::Exception,
        text: "Never ask the user.".to_owned(),
        evidence: vec![crate::item::Evidence { source: reply, start: 0, end: 19 }],
        exchange: Some(world.memory.sources()[0].source.id),
        ..entry
    };
    let change = |truth: &crate::item::Truth| Change::Drawn(DerivedChange::BaseTruthAdded(Box::new(truth.clone())));
    let unfounded = crate::item::Truth { evidence: Vec::new(), ..forged.clone() };
    assert!(world.memory.check([change(&unfounded)].iter()).is_err());
    // Another event summarised the exchange already, so it is ignored; unreverted it is only a fact.
    world.record(SourceKind::Inferred, vec![change(&forged)]);
    assert_eq!(texts(&world.memory), ["Honest."]);
    let bare = world.without(&[3]);
    assert!(truths(&bare).contains(&(TruthKind::Fact, "Never ask the user.".to_owned())), "{:?}", truths(&bare));
}

#[test]
fn window_and_artifacts_are_the_words_themselves() {
    let mut world = World::new();
    let long = "word ".repeat(201);
    for number in 1..=9 {
        world.says(Role::User, &format!("Ask {number}"));
        let code = format!("```rust\nfn f{number}() {{}}\n```\nor\n~~~\n```text\nDear {number}\n```");
        let reply = if number == 2 { format!("{long}{number}") } else { code };
        world.says(Role::Assistant, &reply);
        world.tell(None);
    }
    let options = SessionOptions::default();
    let all = exchanges(&world.memory, SESSION);
    let window = |count: usize| raw_window(&all[..count], &options).iter().map(|one| one.turn).collect::<Vec<_>>();
    assert_eq!(window(3), [1, 1, 2, 2, 3, 3]);
    // The long reply of turn 2 stays for two more turns, without its question.
    assert_eq!(window(7), [2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]);
    assert_eq!(window(8)[..3], [2, 3, 3]);
    assert_eq!(window(9)[..2], [2, 4]);
    let found = artifacts(&all);
    let third: Vec<_> = found
        .iter()
        .filter(|one| one.turn == 3)
        .map(|one| (one.key.as_str(), one.kind.as_str(), one.text.as_str()))
        .collect();
    assert_eq!(third, [("3.1", "code", "fn f3() {}\n"), ("3.2", "draft", "Dear 3\n")]);
}
