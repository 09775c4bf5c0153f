//! Episodes: every turn of a finished session is in one episode, whatever is reverted.

use jiff::{SignedDuration, Timestamp};
use quipu_core::id::ItemId;
use quipu_core::item::Episode;
use quipu_engine::erase::EraseTarget;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    Engine, ListOptions, RememberOptions, Utterance, episodes, erase, list, rebuild, remember, revert, status,
    tell_episodes, versions::When,
};
use quipu_testkit::{MemoryStore, TestEngine};

use crate::me;

const STORIES: usize = 5;
const TURNS: usize = 3;

/// Five stories of three turns each, summarized in one event.
fn told_engine() -> Engine {
    let engine = TestEngine::new(1).engine(Box::new(MemoryStore::new()));
    let start: Timestamp = "2025-03-01T08:00:00Z".parse().unwrap();
    let later = RememberOptions { durable_only: true, ..RememberOptions::default() };
    for story in 0..STORIES {
        for turn in 0..TURNS {
            let after = SignedDuration::from_hours(2 * story as i64) + SignedDuration::from_mins(turn as i64);
            let said = Utterance {
                session: Some("monday".to_owned()),
                said_at: Some(start + after),
                ..Utterance::of_user(format!("Story {story} has a turn {turn} about the garden."))
            };
            remember(&engine, &me(), &said, &later).unwrap();
        }
    }
    assert_eq!(tell_episodes(&engine, &me()).unwrap().len(), 1, "they share an event");
    engine
}

fn told(engine: &Engine) -> Vec<Episode> {
    let mut all = episodes(engine, &me(), None).unwrap();
    all.sort_by_key(|one| (one.start, one.id));
    all
}

fn turns(engine: &Engine) -> Vec<ItemId> {
    let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: 99 };
    list(engine, &me(), &all).unwrap().items.iter().map(|item| item.id).collect()
}

fn take_back(engine: &Engine, seq: u64) -> u64 {
    let selection = Selection::Events(vec![EventRef::Seq(seq)]);
    revert(engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap().0.seq
}

/// Checks that every remaining turn is in exactly one episode.
fn check(engine: &Engine, when: &str) {
    let mut told: Vec<ItemId> = told(engine).iter().flat_map(|one| one.sources.clone()).collect();
    let mut left = turns(engine);
    told.sort_unstable();
    left.sort_unstable();
    assert_eq!(told, left, "{when}");
    assert!(rebuild(engine, &me(), &mut |_| {}).unwrap().identical, "{when}");
    let head = status(engine, &me()).unwrap().version;
    tell_episodes(engine, &me()).unwrap();
    assert_eq!(status(engine, &me()).unwrap().version, head, "{when}: nothing is left to tell");
}

#[test]
fn a_turn_that_is_taken_back_takes_no_other_story_along() {
    // the first turn of a story, one in the middle, the last of all
    for seq in [1, 8, (STORIES * TURNS) as u64] {
        let engine = told_engine();
        let first = told(&engine);
        assert_eq!(first.len(), STORIES);
        check(&engine, "at first");
        let undo = take_back(&engine, seq);
        check(&engine, &format!("without turn {seq}"));
        let story = (seq as usize - 1) / TURNS;
        for (number, (now, then)) in told(&engine).iter().zip(&first).enumerate() {
            let same = (&now.id, &now.summary, &now.sources) == (&then.id, &then.summary, &then.sources);
            assert_eq!(same, number != story, "story {number} without turn {seq}");
        }
        // and undoing restores it, any number of times
        let again = take_back(&engine, undo);
        assert_eq!(told(&engine), first, "with turn {seq} again");
        check(&engine, &format!("with turn {seq} again"));
        take_back(&engine, again);
        assert_eq!(told(&engine).len(), STORIES);
        check(&engine, &format!("without turn {seq} once more"));
    }
}

#[test]
fn an_erased_turn_takes_no_other_story_along() {
    for turns_gone in [&[0][..], &[7], &[6, 7, 8], &[0, 7, 14]] {
        let engine = told_engine();
        let all = turns(&engine);
        for &turn in turns_gone {
            erase(&engine, &me(), &[EraseTarget::Item(all[turn])], "asked to", &mut |_| {}).unwrap();
            check(&engine, &format!("{turns_gone:?} erased, up to {turn}"));
        }
        let stories = if turns_gone.len() == TURNS && turns_gone[0] == 6 { STORIES - 1 } else { STORIES };
        assert_eq!(told(&engine).len(), stories, "{turns_gone:?}");
    }
}

#[test]
fn two_turns_that_are_taken_back_come_back_in_any_order() {
    for (first, second) in [(0, 1), (1, 0)] {
        let engine = told_engine();
        let before = told(&engine);
        let undo = [take_back(&engine, 2), take_back(&engine, 11)];
        check(&engine, "without both");
        take_back(&engine, undo[first]);
        check(&engine, "with one of them");
        take_back(&engine, undo[second]);
        check(&engine, "with both");
        let texts = |all: &[Episode]| all.iter().map(|one| one.sources.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&told(&engine)), texts(&before));
    }
}

#[test]
fn a_telling_that_is_reverted_stays_away() {
    let engine = told_engine();
    take_back(&engine, status(&engine, &me()).unwrap().version);
    assert_eq!(told(&engine), []);
    take_back(&engine, 1);
    assert_eq!(told(&engine), []);
}
