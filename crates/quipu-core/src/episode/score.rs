//! Baseline episode scorer, without vectors or tunable weights.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::item::Episode;

/// Scores an episode for the requested topics and paths: `topicOverlap·3 + pathOverlap·4 + importance`.
///
/// An overlap is the number of the episode's distinct topics (paths) that are requested. Topics are compared
/// case-insensitively, paths exactly.
pub fn score(episode: &Episode, topics: &[String], paths: &[String]) -> u32 {
    let asked: BTreeSet<String> = topics.iter().map(|topic| topic.to_lowercase()).collect();
    let own: BTreeSet<String> = episode.topics.iter().map(|topic| topic.to_lowercase()).collect();
    let places: BTreeSet<&String> = episode.related_paths.iter().filter(|path| paths.contains(path)).collect();
    let overlap = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    overlap(own.intersection(&asked).count())
        .saturating_mul(3)
        .saturating_add(overlap(places.len()).saturating_mul(4))
        .saturating_add(u32::from(episode.importance))
}

/// Returns the `k` best episodes with their scores, best first; ties are broken by id.
pub fn rank<'a>(
    episodes: impl IntoIterator<Item = &'a Episode>,
    topics: &[String],
    paths: &[String],
    k: usize,
) -> Vec<(u32, &'a Episode)> {
    let mut ranked: Vec<_> = episodes.into_iter().map(|episode| (score(episode, topics, paths), episode)).collect();
    ranked.sort_by_key(|&(score, episode)| (Reverse(score), episode.id));
    ranked.truncate(k);
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ItemId, ItemKind};
    use crate::item::episode::{Affect, Sentiment};

    fn owned(list: &[&str]) -> Vec<String> {
        list.iter().map(|&text| text.to_owned()).collect()
    }

    fn episode(bits: u64, topics: &[&str], paths: &[&str], importance: u8) -> Episode {
        Episode {
            id: ItemId { kind: ItemKind::Episode, bits },
            session_id: None,
            sources: vec![ItemId { kind: ItemKind::Turn, bits }],
            turn_range: (0, 0),
            title: String::new(),
            summary: String::new(),
            raw_excerpt: String::new(),
            start: None,
            end: None,
            participants: Vec::new(),
            topics: owned(topics),
            sentiment: Sentiment::Neutral,
            affect: Affect::default(),
            importance,
            related_paths: owned(paths),
            facts: Vec::new(),
            domain: None,
            tags: Vec::new(),
        }
    }

    #[test]
    fn topics_count_three_paths_four_importance_one() {
        let table: [(&[&str], &[&str], u8, u32); 7] = [
            (&[], &[], 5, 5),
            (&["yoga"], &[], 5, 8),
            (&["Yoga", "yoga"], &[], 5, 8),
            (&["yoga", "stress"], &["/health/sleep"], 1, 11),
            (&["cooking"], &["/health"], 10, 10),
            (&["yoga", "cooking"], &["/health/sleep", "/health/sleep", "/work"], 2, 9),
            (&["yoga", "stress"], &["/health/sleep", "/health/diet"], 8, 22),
        ];
        for (topics, paths, importance, expected) in table {
            let found = score(
                &episode(1, topics, paths, importance),
                &owned(&["yoga", "stress", "stress"]),
                &owned(&["/health/sleep", "/health/diet"]),
            );
            assert_eq!(found, expected, "{topics:?} {paths:?} {importance}");
        }
    }

    #[test]
    fn equals_are_ordered_by_id() {
        let all =
            [episode(9, &[], &[], 5), episode(3, &[], &[], 5), episode(4, &["yoga"], &[], 1), episode(1, &[], &[], 6)];
        let ranked = rank(&all, &owned(&["yoga"]), &[], 3);
        let found: Vec<_> = ranked.iter().map(|(score, episode)| (*score, episode.id.bits)).collect();
        assert_eq!(found, [(6, 1), (5, 3), (5, 9)]);
    }
}
