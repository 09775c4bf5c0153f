use std::ops::Range;

use jiff::SignedDuration;
use proptest::prelude::*;

use super::super::{EpisodeTurn, SegmentOptions, Segmentation, is_over, segment, segment_so_far};
use super::{at, dialogue};

const GARDEN: &str = "The tomato seedlings in the garden need compost and water before the frost.";
const BIKE: &str = "My bicycle chain broke again and the brake pads squeal on every hill.";
const GLAD: &str = "What a wonderful evening, I love it and I am so happy.";
const ANGRY: &str = "This is horrible, I hate it and I am furious and sad.";

/// Builds turns: `A` is about gardens, `B` about bicycles, `+` and `-` express feelings, a blank is a silence of a day.
fn turns_of(plan: &str) -> Vec<EpisodeTurn<'static>> {
    let mut day = 1;
    let mut turns = Vec::new();
    for letter in plan.chars() {
        let text = match letter {
            'A' => GARDEN,
            'B' => BIKE,
            '+' => GLAD,
            '-' => ANGRY,
            _ => {
                day += 1;
                continue;
            }
        };
        let mut turn = dialogue(&[("Ada", text)])[0];
        turn.said_at = Some(at(&format!("2024-03-{day:02}T10:00:00Z")));
        turns.push(turn);
    }
    turns
}

/// Lengths of the ranges.
fn lengths(ranges: &[Range<usize>]) -> Vec<usize> {
    ranges.iter().map(Range::len).collect()
}

#[test]
fn sessions_are_cut_where_something_changes() {
    let table: [(&str, &[usize]); 12] = [
        ("", &[]),
        ("A", &[1]),
        ("AAAAAAAA", &[8]),
        ("AAAAAABBBBBB", &[6, 6]),
        ("AAAABBBB", &[4, 4]),
        // Too short to stand alone.
        ("AABBBBBB", &[8]),
        ("AAA BBB", &[3, 3]),
        ("A B A", &[1, 1, 1]),
        ("AAAAAABBBBBB AAAAAA", &[6, 6, 6]),
        ("++++++------", &[6, 6]),
        ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", &[12, 18]),
        ("AAAAAABBBBBBAAAAAABBBBBB", &[6, 6, 6, 6]),
    ];
    for (plan, expected) in table {
        assert_eq!(lengths(&segment(&turns_of(plan), &SegmentOptions::default())), expected, "{plan:?}");
    }
}

#[test]
fn only_silences_between_known_times_count() {
    let hours: [(&[Option<&str>], usize); 5] = [
        (&[Some("10:00"), Some("10:30")], 1),
        (&[Some("10:00"), Some("10:31")], 2),
        (&[Some("10:00"), None, Some("10:31")], 2),
        (&[None, None, Some("10:31")], 1),
        // A clock that goes back is not a silence.
        (&[Some("10:31"), Some("08:00")], 1),
    ];
    for (times, expected) in hours {
        let mut turns = dialogue(&[("Ada", GARDEN)]).repeat(times.len());
        for (turn, time) in turns.iter_mut().zip(times) {
            turn.said_at = time.map(|time| at(&format!("2024-03-01T{time}:00Z")));
        }
        assert_eq!(segment(&turns, &SegmentOptions::default()).len(), expected, "{times:?}");
    }
    let options = SegmentOptions::default();
    assert!(!is_over(at("2024-03-01T10:00:00Z"), at("2024-03-01T10:30:00Z"), &options));
    assert!(is_over(at("2024-03-01T10:00:00Z"), at("2024-03-01T10:30:01Z"), &options));
}

#[test]
fn vectors_decide_if_every_turn_has_one() {
    let (east, north) = ([1.0, 0.0], [0.1, 1.0]);
    let mut turns = dialogue(&[("Ada", GARDEN)]).repeat(12);
    for (number, turn) in turns.iter_mut().enumerate() {
        turn.vector = Some(if number < 6 { &east } else { &north });
    }
    assert_eq!(lengths(&segment(&turns, &SegmentOptions::default())), [6, 6]);
    turns[0].vector = None;
    assert_eq!(lengths(&segment(&turns, &SegmentOptions::default())), [12], "the words are the same");
    let broken = [f32::NAN, 1.0];
    turns[0].vector = Some(&broken);
    assert_eq!(lengths(&segment(&turns, &SegmentOptions::default())), [12]);
}

#[test]
fn a_session_that_may_go_on_keeps_its_last_range_open() {
    let table: [(&str, Segmentation); 4] = [
        ("", Segmentation::default()),
        ("A", Segmentation { closed: vec![], open: Some(0..1) }),
        ("AAAA BB", Segmentation { closed: std::iter::once(0..4).collect(), open: Some(4..6) }),
        ("AAAAAABBBBBB", Segmentation { closed: vec![], open: Some(0..12) }),
    ];
    for (plan, expected) in table {
        assert_eq!(segment_so_far(&turns_of(plan), &SegmentOptions::default()), expected, "{plan:?}");
    }
}

/// Any conversation: texts, times and occasional missing vectors.
fn conversations() -> impl Strategy<Value = Vec<(usize, Option<i64>, bool)>> {
    prop::collection::vec(
        (0usize..4, prop::option::weighted(0.8, prop_oneof![8 => 0i64..5, 1 => 40i64..90]), prop::bool::weighted(0.95)),
        0..70,
    )
}

fn built(plan: &[(usize, Option<i64>, bool)]) -> Vec<EpisodeTurn<'static>> {
    const VECTORS: [[f32; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [-1.0, 0.2]];
    let mut now = at("2024-03-01T10:00:00Z");
    plan.iter()
        .map(|&(kind, minutes, with_vector)| {
            let mut turn = dialogue(&[("Ada", [GARDEN, BIKE, GLAD, ANGRY][kind])])[0];
            now += SignedDuration::from_mins(minutes.unwrap_or_default());
            turn.said_at = minutes.map(|_| now);
            turn.vector = with_vector.then_some(VECTORS[kind].as_slice());
            turn
        })
        .collect()
}

fn knobs() -> impl Strategy<Value = SegmentOptions> {
    (0usize..6, 0usize..20, 0usize..6, 0usize..6, 0.0f32..0.5, 0.0f64..1.0).prop_map(
        |(turns_min, turns_max, window_turns, reach, depth, valence_shift)| SegmentOptions {
            turns_min,
            turns_max,
            window_turns,
            reach,
            depth_by_words: depth,
            depth_by_vectors: depth,
            valence_shift,
            ..SegmentOptions::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_turn_lies_in_one_range_within_bounds(plan in conversations(), options in knobs()) {
        let turns = built(&plan);
        let ranges = segment(&turns, &options);
        prop_assert_eq!(ranges.iter().flat_map(Clone::clone).collect::<Vec<_>>(), (0..turns.len()).collect::<Vec<_>>());
        let turns_min = options.turns_min.max(1);
        let turns_max = options.turns_max.max(2 * turns_min - 1);
        for range in &ranges {
            prop_assert!((1..=turns_max).contains(&range.len()));
        }
        // Shorter ranges occur only between two silences.
        for pair in ranges.windows(2) {
            let short = pair.iter().any(|range| range.len() < turns_min);
            let known = turns[..pair[1].start].iter().rev().find_map(|turn| turn.said_at);
            let next = turns[pair[1].start].said_at;
            let silence = known.zip(next).is_some_and(|(last, now)| is_over(last, now, &options));
            prop_assert!(silence || !short, "{pair:?}");
        }
        prop_assert_eq!(segment(&turns, &options), ranges);
    }

    #[test]
    fn later_turns_change_the_open_range_only(plan in conversations(), options in knobs()) {
        let turns = built(&plan);
        let whole = segment(&turns, &options);
        let mut before: Vec<Range<usize>> = Vec::new();
        for length in 0..=turns.len() {
            let now = segment_so_far(&turns[..length], &options);
            prop_assert!(now.closed.starts_with(&before), "{before:?} became {:?} at {length}", now.closed);
            let end = now.closed.last().map_or(0, |last| last.end);
            prop_assert_eq!(now.open, (end < length).then_some(end..length));
            before = now.closed;
        }
        prop_assert!(whole.starts_with(&before));
    }

    #[test]
    fn a_turn_after_a_silence_leaves_what_was_over(plan in conversations(), options in knobs()) {
        let mut turns = built(&plan);
        let whole = segment(&turns, &options);
        let known = turns.iter().rev().find_map(|turn| turn.said_at);
        prop_assume!(known.is_some());
        let mut next = turns[0];
        next.said_at = known.map(|last| last + SignedDuration::from_mins(31));
        turns.push(next);
        prop_assert_eq!(segment_so_far(&turns, &options).closed, whole);
    }
}
