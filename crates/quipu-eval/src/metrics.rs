//! Retrieval metrics. All figures are fractions from 0 to 1, averaged over questions.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::bootstrap::{self, Interval};

/// One question's figures by name, such as `turn.recall.10`. Figures that do not apply are missing.
pub(super) type Scores = BTreeMap<String, f64>;

/// Depths at which turns are counted.
const TURN_DEPTHS: [usize; 4] = [5, 10, 20, 50];
/// Depths at which sessions are counted.
const SESSION_DEPTHS: [usize; 3] = [1, 5, 10];

/// The figures of [`of_turns`].
pub(super) const TURN_FIGURES: [&str; 7] = [
    "turn.recall.5",
    "turn.recall.10",
    "turn.recall.20",
    "turn.recall.50",
    "turn.recall_all.10",
    "turn.ndcg.10",
    "turn.mrr",
];

/// The figures of [`of_sessions`].
pub(super) const SESSION_FIGURES: [&str; 3] = ["session.recall.1", "session.recall.5", "session.recall.10"];

/// Scores a ranking of turns. `wanted` must not be empty and must not contain duplicates.
pub(super) fn of_turns(found: &[&str], wanted: &[&str]) -> Scores {
    let depths = TURN_DEPTHS.iter().map(|&depth| (format!("turn.recall.{depth}"), recall(found, wanted, depth)));
    let mut scores: Scores = depths.collect();
    scores.insert("turn.recall_all.10".to_owned(), all_of(found, wanted, 10));
    scores.insert("turn.ndcg.10".to_owned(), ndcg_10(found, wanted));
    scores.insert("turn.mrr".to_owned(), reciprocal_rank(found, wanted));
    scores
}

/// Scores a ranking of sessions, each at its first position. Neither list may contain duplicates.
pub(super) fn of_sessions(found: &[&str], wanted: &[&str]) -> Scores {
    let recall = |&depth: &usize| (format!("session.recall.{depth}"), recall(found, wanted, depth));
    SESSION_DEPTHS.iter().map(recall).collect()
}

/// The share of `wanted` among the first `depth` of `found`.
pub(super) fn recall(found: &[&str], wanted: &[&str], depth: usize) -> f64 {
    let hit = wanted.iter().filter(|name| found.iter().take(depth).any(|other| other == *name)).count();
    hit as f64 / wanted.len() as f64
}

/// 1 if all of `wanted` are among the first `depth`, else 0.
pub(super) fn all_of(found: &[&str], wanted: &[&str], depth: usize) -> f64 {
    f64::from(u8::from(recall(found, wanted, depth) >= 1.0))
}

/// 1 if any of `wanted` is among the first `depth`, else 0.
pub(super) fn any_of(found: &[&str], wanted: &[&str], depth: usize) -> f64 {
    f64::from(u8::from(recall(found, wanted, depth) > 0.0))
}

/// Normalised discounted cumulative gain at 10 with binary gains; rank *p* is discounted by log₂(*p* + 1).
fn ndcg_10(found: &[&str], wanted: &[&str]) -> f64 {
    gain_10(found, wanted, |place| 1.0 / (place as f64 + 2.0).log2())
}

/// The variant of Järvelin and Kekäläinen (2002), used by LongMemEval: the first two ranks count in full.
pub(super) fn ndcg_10_undiscounted_at_2(found: &[&str], wanted: &[&str]) -> f64 {
    gain_10(found, wanted, |place| if place == 0 { 1.0 } else { 1.0 / (place as f64 + 1.0).log2() })
}

fn gain_10(found: &[&str], wanted: &[&str], gain: fn(usize) -> f64) -> f64 {
    let gained: f64 = (0..found.len().min(10)).filter(|&place| wanted.contains(&found[place])).map(gain).sum();
    let ideal: f64 = (0..wanted.len().min(10)).map(gain).sum();
    gained / ideal
}

/// The reciprocal rank of the first wanted item; 0 if none was found.
fn reciprocal_rank(found: &[&str], wanted: &[&str]) -> f64 {
    found.iter().position(|name| wanted.contains(name)).map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
}

/// Each name once, at its first position.
pub(super) fn firsts<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// Averages over questions, with their 95 % intervals.
///
/// Serialised as `{"questions": …, "turn": {"recall": {"5": …}}, …, "intervals": {"turn": …}}`: the dots of a name are
/// levels, and the intervals have the same structure as the figures.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    pub(super) questions: usize,
    means: Scores,
    intervals: BTreeMap<String, Interval>,
}

impl Figures {
    /// The averages of the named figures. A figure that no question has is 0, without an interval.
    pub(super) fn of(names: &[&str], rows: &[&Scores]) -> Self {
        let column = |name: &&str| rows.iter().map(|row| row.get(*name).copied()).collect::<Vec<_>>();
        let columns: Vec<Vec<Option<f64>>> = names.iter().map(column).collect();
        let mean = |column: &Vec<Option<f64>>| bootstrap::mean(column.iter().copied().flatten()).unwrap_or(0.0);
        let named = || names.iter().map(|&name| name.to_owned());
        let intervals = named().zip(bootstrap::intervals(&columns));
        Self {
            questions: rows.len(),
            means: named().zip(columns.iter().map(mean)).collect(),
            intervals: intervals.filter_map(|(name, interval)| Some((name, interval?))).collect(),
        }
    }

    /// Splits the rows into groups. A group has only the figures that some question of it has.
    pub(super) fn split<'a>(
        names: &[&str],
        rows: impl Iterator<Item = (&'a str, &'a Scores)>,
    ) -> BTreeMap<String, Self> {
        let mut split: BTreeMap<String, Vec<&Scores>> = BTreeMap::new();
        for (about, scores) in rows {
            split.entry(about.to_owned()).or_default().push(scores);
        }
        let asked = |rows: &[&Scores]| -> Vec<&str> {
            names.iter().copied().filter(|name| rows.iter().any(|row| row.contains_key(*name))).collect()
        };
        split.into_iter().map(|(about, rows)| (about, Self::of(&asked(&rows), &rows))).collect()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.means.keys()
    }

    pub(super) fn mean(&self, name: &str) -> Option<f64> {
        self.means.get(name).copied()
    }

    pub(super) fn interval(&self, name: &str) -> Option<Interval> {
        self.intervals.get(name).copied()
    }

    /// `80.5 (77.9–83.0)`: percent, with the interval.
    pub(super) fn in_percent(&self, name: &str) -> String {
        match (self.mean(name), self.interval(name)) {
            (Some(mean), Some([low, high])) => {
                format!("{:.1} ({:.1}–{:.1})", mean * 100.0, low * 100.0, high * 100.0)
            }
            _ => "–".to_owned(),
        }
    }

    /// A row of a table: label, number of questions, and these figures.
    pub(super) fn row(&self, about: &str, names: &[&str]) -> Vec<String> {
        let mut cells = vec![about.to_owned(), self.questions.to_string()];
        cells.extend(names.iter().map(|name| self.in_percent(name)));
        cells
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("questions", &self.questions)?;
        for (name, value) in nested(&self.means, |&mean| mean.into()) {
            members.serialize_entry(&name, &value)?;
        }
        members.serialize_entry("intervals", &nested(&self.intervals, |interval| interval.to_vec().into()))?;
        members.end()
    }
}

/// Turns names with dots into a tree.
pub(super) fn nested<T>(flat: &BTreeMap<String, T>, value: impl Fn(&T) -> Value) -> Map<String, Value> {
    let mut tree = Map::new();
    for (name, leaf) in flat {
        let mut at = &mut tree;
        let (above, own) = name.rsplit_once('.').unwrap_or(("", name));
        for level in above.split('.').filter(|level| !level.is_empty()) {
            let below = at.entry(level).or_insert_with(|| Value::Object(Map::new()));
            // A name is never both a figure and a level above others.
            let Value::Object(below) = below else { return tree };
            at = below;
        }
        at.insert(own.to_owned(), value(leaf));
    }
    tree
}

/// Two quantiles of a series of times.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Quantiles {
    pub(crate) p50: f64,
    pub(crate) p95: f64,
}

impl Quantiles {
    /// The quantiles of times in milliseconds; 0 for none.
    pub(crate) fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times.get(((times.len() as f64 - 1.0) * share).round() as usize).copied().unwrap_or(0.0);
        Self { p50: at(0.5), p95: at(0.95) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-12, "{one} is not {other}");
    }

    #[test]
    fn figures_by_hand() {
        let marks = of_turns(&["b", "x", "a"], &["a", "b", "c"]);
        near(marks["turn.recall.5"], 2.0 / 3.0);
        near(marks["turn.recall_all.10"], 0.0);
        let ideal = 1.0 + 1.0 / 3f64.log2() + 0.5;
        near(marks["turn.ndcg.10"], 1.5 / ideal);
        near(marks["turn.mrr"], 1.0);
        assert_eq!(marks.keys().collect::<Vec<_>>().len(), TURN_FIGURES.len());
        assert!(TURN_FIGURES.iter().all(|name| marks.contains_key(*name)));
        let marks = of_sessions(&["s1", "s2"], &["s2"]);
        assert_eq!(SESSION_FIGURES.map(|name| marks[name]), [0.0, 1.0, 1.0]);
    }

    #[test]
    fn the_place_of_the_first_that_is_wanted() {
        near(reciprocal_rank(&["x", "y", "a", "b"], &["b", "a"]), 1.0 / 3.0);
        near(reciprocal_rank(&["x"], &["a"]), 0.0);
    }

    #[test]
    fn recall_counts_to_the_depth_and_no_further() {
        let found: Vec<String> = (0..60).map(|number| format!("t{number}")).collect();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let marks = of_turns(&found, &["t4", "t5", "t9", "t10", "t49", "t50"]);
        near(marks["turn.recall.5"], 1.0 / 6.0);
        near(marks["turn.recall.10"], 3.0 / 6.0);
        near(marks["turn.recall.20"], 4.0 / 6.0);
        near(marks["turn.recall.50"], 5.0 / 6.0);
        near(marks["turn.mrr"], 1.0 / 5.0);
    }

    #[test]
    fn the_first_two_places_count_in_full_where_that_is_the_definition() {
        near(ndcg_10_undiscounted_at_2(&["x", "a"], &["a"]), 1.0);
        near(ndcg_10_undiscounted_at_2(&["a", "x", "b"], &["a", "b"]), (1.0 + 1.0 / 3f64.log2()) / 2.0);
    }

    #[test]
    fn any_or_all_of_them() {
        let found = ["x", "a", "b"];
        near(any_of(&found, &["a", "c"], 2), 1.0);
        near(any_of(&found, &["b", "c"], 2), 0.0);
        near(all_of(&found, &["a", "b"], 2), 0.0);
        near(all_of(&found, &["a", "b"], 3), 1.0);
    }

    #[test]
    fn means_and_their_shape() {
        let rows = [of_sessions(&["a"], &["a"]), of_sessions(&["b"], &["a"]), Scores::new()];
        let figures = Figures::of(&["session.recall.1", "turn.mrr"], &rows.iter().collect::<Vec<_>>());
        near(figures.mean("session.recall.1").unwrap_or_default(), 0.5);
        let json = serde_json::to_value(&figures).unwrap_or_default();
        assert_eq!(json["session"]["recall"]["1"], 0.5);
        assert_eq!(json["intervals"]["session"]["recall"]["1"], serde_json::json!([0.0, 1.0]));
        assert_eq!((&json["turn"]["mrr"], &json["questions"]), (&0.0.into(), &3.into()));
        assert!(json["intervals"].get("turn").is_none());
    }

    #[test]
    fn a_part_has_no_figure_nobody_in_it_was_asked_for() {
        let rows = [("turns", of_turns(&["x"], &["a"])), ("sessions", of_sessions(&["s"], &["s"]))];
        let parts = Figures::split(&["session.recall.1", "turn.mrr"], rows.iter().map(|(about, row)| (*about, row)));
        assert_eq!(parts["turns"].mean("turn.mrr"), Some(0.0), "asked, and not found");
        assert_eq!(parts["turns"].mean("session.recall.1"), None);
        assert_eq!((parts["sessions"].mean("session.recall.1"), parts["sessions"].mean("turn.mrr")), (Some(1.0), None));
    }

    #[test]
    fn quantiles_of_few() {
        let few = Quantiles::of(vec![3.0, 1.0, 2.0]);
        assert!((few.p50 - 2.0).abs() < 1e-12 && (few.p95 - 3.0).abs() < 1e-12);
        assert!(Quantiles::of(Vec::new()).p50.abs() < 1e-12);
    }
}
