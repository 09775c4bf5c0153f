//! Aligns the elements of two lists.

use std::collections::HashMap;
use std::hash::Hash;

use serde_json::Value;

use super::guard::identity;

/// What happened to an element, in list order. Numbers are indices into the first and the second list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    Same,
    Changed(usize, usize),
    Gone(usize),
    New(usize),
}

/// Largest comparison table; longer lists are compared index by index.
const CELLS_MAX: usize = 1 << 20;
/// An equal element weighs more than one with the same `id` or `name`, but less than two of those.
const EQUAL: u32 = 3;
const SAME_IDENTITY: u32 = 2;

/// Aligns two lists: equal elements first, then those with the same `id` or `name`, then the rest index by index.
pub(super) fn align(from: &[Value], to: &[Value]) -> Vec<Pair> {
    let head = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let (from_rest, to_rest) = (&from[head..], &to[head..]);
    let tail = from_rest.iter().rev().zip(to_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (from_mid, to_mid) = (&from_rest[..from_rest.len() - tail], &to_rest[..to_rest.len() - tail]);

    let mut pairs = vec![Pair::Same; head];
    let (mut i, mut j) = (0, 0);
    for (next_i, next_j, weight) in matches(from_mid, to_mid) {
        gap(&mut pairs, head + i..head + next_i, head + j..head + next_j);
        pairs.push(if weight == EQUAL { Pair::Same } else { Pair::Changed(head + next_i, head + next_j) });
        (i, j) = (next_i + 1, next_j + 1);
    }
    gap(&mut pairs, head + i..head + from_mid.len(), head + j..head + to_mid.len());
    pairs.extend(std::iter::repeat_n(Pair::Same, tail));
    pairs
}

/// Between two matches, elements are paired in order as changed; the rest are removed or new.
fn gap(pairs: &mut Vec<Pair>, from: std::ops::Range<usize>, to: std::ops::Range<usize>) {
    let both = from.len().min(to.len());
    pairs.extend((from.start..from.start + both).zip(to.start..).map(|(i, j)| Pair::Changed(i, j)));
    pairs.extend((from.start + both..from.end).map(Pair::Gone));
    pairs.extend((to.start + both..to.end).map(Pair::New));
}

/// The heaviest common subsequence, as (index, index, weight).
fn matches(from: &[Value], to: &[Value]) -> Vec<(usize, usize, u32)> {
    let width = to.len() + 1;
    if (from.len() + 1).saturating_mul(width) > CELLS_MAX {
        return Vec::new();
    }
    let equal = Classes::of(from.iter().map(Some), to.iter().map(Some));
    let named = Classes::of(from.iter().map(identity), to.iter().map(identity));
    let weight = |i: usize, j: usize| match (equal.joins(i, j), named.joins(i, j)) {
        (true, _) => EQUAL,
        (false, true) => SAME_IDENTITY,
        (false, false) => 0,
    };

    // best[i][j]: the greatest weight reachable from indices i and j on.
    let mut best = vec![0u32; (from.len() + 1) * width];
    for i in (0..from.len()).rev() {
        for j in (0..to.len()).rev() {
            let skip = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            let take = match weight(i, j) {
                0 => 0,
                weight => weight + best[(i + 1) * width + j + 1],
            };
            best[i * width + j] = skip.max(take);
        }
    }

    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < from.len() && j < to.len() {
        let (here, weight) = (best[i * width + j], weight(i, j));
        if weight > 0 && here == weight + best[(i + 1) * width + j + 1] {
            found.push((i, j, weight));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

/// Class numbers instead of values, so that a comparison has constant cost.
struct Classes {
    from: Vec<Option<usize>>,
    to: Vec<Option<usize>>,
}

impl Classes {
    fn of<K: Eq + Hash>(from: impl Iterator<Item = Option<K>>, to: impl Iterator<Item = Option<K>>) -> Self {
        let mut numbers = HashMap::new();
        let mut number = |key: Option<K>| {
            let next = numbers.len();
            key.map(|key| *numbers.entry(key).or_insert(next))
        };
        Self { from: from.map(&mut number).collect(), to: to.map(&mut number).collect() }
    }

    fn joins(&self, i: usize, j: usize) -> bool {
        self.from[i].is_some() && self.from[i] == self.to[j]
    }
}
