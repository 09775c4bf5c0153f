//! Chooses a subset of the questions, spread evenly over conversations and groups. A small subset is part of any larger
//! one.

use super::super::bootstrap;
use super::super::corpus::{EvalQuestion, EvalSample};
use super::super::worlds::WorldRng;

/// The first `most` questions in a seeded order, as indices of the conversation and of the question.
pub(super) fn chosen(
    told: &[EvalSample],
    is_wanted: impl Fn(&EvalQuestion) -> bool,
    seed: u64,
    most: usize,
) -> Vec<(usize, usize)> {
    let mut dice = WorldRng::new(seed);
    let mut groups: Vec<&str> =
        told.iter().flat_map(|one| &one.asked).filter(|one| is_wanted(one)).map(|one| one.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    dice.shuffle(&mut groups);
    let mut places: Vec<usize> = (0..told.len()).collect();
    dice.shuffle(&mut places);
    // One shuffled list for each group of each conversation.
    let mut list = |conversation: usize, group: &str| -> Vec<usize> {
        let all = told[conversation].asked.iter().enumerate();
        let own = all.filter(|(_, asked)| asked.group == group && is_wanted(asked));
        let mut own: Vec<usize> = own.map(|(place, _)| place).collect();
        dice.shuffle(&mut own);
        own
    };
    let mut cells = Vec::new();
    // Walks diagonals, so that the next question is of another group and another conversation as long as there are any.
    for shift in 0..places.len() {
        for (number, group) in groups.iter().enumerate() {
            let conversation = places[(number + shift) % places.len()];
            cells.push((conversation, list(conversation, group)));
        }
    }
    let longest = cells.iter().map(|(_, own)| own.len()).max().unwrap_or(0);
    let round = |round: usize| cells.iter().filter_map(move |(at, own)| Some((*at, *own.get(round)?)));
    (0..longest).flat_map(round).take(most).collect()
}

/// Fixed, so that the questions are the same every time.
pub(super) const SEED: u64 = bootstrap::SEED;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::corpus::EvalSample;
    use super::*;

    #[test]
    fn a_few_are_spread_and_are_among_more() {
        let groups = ["x", "y", "z"];
        let told: Vec<EvalSample> =
            ["a", "b", "c", "d"].iter().filter_map(|name| EvalSample::asking(name, &groups, 5)).collect();
        let all = chosen(&told, |_| true, SEED, usize::MAX);
        assert_eq!(all.len(), 4 * 3 * 5);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        let group = |&(at, place): &(usize, usize)| told[at].asked[place].group.as_str();
        let few = chosen(&told, |_| true, SEED, 12);
        assert_eq!(few, all[..12]);
        assert_eq!(few.iter().map(|one| (one.0, group(one))).collect::<BTreeSet<_>>().len(), 12, "each cell once");
        assert_eq!(few[..3].iter().map(group).collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(few[..3].iter().map(|one| one.0).collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(chosen(&told, |asked| asked.group == "y", SEED, usize::MAX).len(), 20);
    }
}
