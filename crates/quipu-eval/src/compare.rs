//! Compare: two files of details over the same questions, pair by pair.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use quipu_engine::{Error, Result};
use serde::Serialize;

use super::bootstrap::{self, Interval};
use super::lines::{self, ResultLine};
use crate::environment::Measurement;
use crate::render;

/// Most changed questions shown, of both directions together.
const CHANGED_SHOWN: usize = 10;

/// Ids named in a message.
const NAMED: usize = 3;

/// Smaller differences are ties; a different order of summation causes that much.
const TIE: f64 = 1e-9;

#[derive(Debug, Serialize)]
struct Report {
    a: String,
    b: String,
    questions: usize,
    /// By figure. Differences are B minus A: above zero, B is better.
    figures: BTreeMap<String, Difference>,
    by_group: BTreeMap<String, BTreeMap<String, Difference>>,
    /// The questions with the largest sums of differences.
    changed: Vec<Changed>,
    /// Figures that only one of the files has.
    not_compared: BTreeSet<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Difference {
    questions: usize,
    a: f64,
    b: f64,
    difference: f64,
    /// The 95 % interval, from resampled pairs of questions.
    interval: Interval,
    /// Questions on which B is better.
    wins: usize,
    losses: usize,
    ties: usize,
}

#[derive(Debug, Clone, Serialize)]
struct Changed {
    id: String,
    group: String,
    question: String,
    /// The sum of the differences of its figures.
    difference: f64,
    /// Changed figures, from A to B.
    figures: BTreeMap<String, [f64; 2]>,
}

/// The two lines of one question.
type Pair<'a> = (&'a ResultLine, &'a ResultLine);

pub(crate) fn compare(a: &Path, b: &Path) -> Result<Measurement> {
    let (lines_a, lines_b) = (lines::read(a)?, lines::read(b)?);
    let pairs = pairs((a, &lines_a), (b, &lines_b))?;
    let mut by_group: BTreeMap<String, Vec<Pair<'_>>> = BTreeMap::new();
    for pair in &pairs {
        by_group.entry(pair.0.group.clone()).or_default().push(*pair);
    }
    let report = Report {
        a: a.display().to_string(),
        b: b.display().to_string(),
        questions: pairs.len(),
        figures: differences(&pairs),
        by_group: by_group.into_iter().map(|(group, pairs)| (group, differences(&pairs))).collect(),
        changed: changed(&pairs),
        not_compared: names(&lines_a).symmetric_difference(&names(&lines_b)).cloned().collect(),
    };
    Measurement::of(&report, in_words)
}

fn names(lines: &[ResultLine]) -> BTreeSet<String> {
    lines.iter().flat_map(|line| line.metrics.keys().cloned()).collect()
}

/// Pairs the questions, in the order of the first file.
fn pairs<'a>((at_a, a): (&Path, &'a [ResultLine]), (at_b, b): (&Path, &'a [ResultLine])) -> Result<Vec<Pair<'a>>> {
    let in_b: HashMap<&str, &ResultLine> = b.iter().map(|line| (line.id.as_str(), line)).collect();
    let in_a: HashMap<&str, &ResultLine> = a.iter().map(|line| (line.id.as_str(), line)).collect();
    let only = |lines: &'a [ResultLine], other: &HashMap<&str, &ResultLine>| {
        lines.iter().map(|line| line.id.as_str()).filter(|id| !other.contains_key(id)).collect::<Vec<_>>()
    };
    let (only_a, only_b) = (only(a, &in_b), only(b, &in_a));
    if !only_a.is_empty() || !only_b.is_empty() {
        let told = |ids: &[&str], at: &Path| match ids {
            [] => format!("none only in {}", at.display()),
            ids => {
                let more = if ids.len() > NAMED { " …" } else { "" };
                format!("{} only in {} ({}{more})", ids.len(), at.display(), ids[..ids.len().min(NAMED)].join(", "))
            }
        };
        return Err(Error::Invalid(format!(
            "the files are not of the same questions: {}, {}; compare runs over the same file with the same options",
            told(&only_a, at_a),
            told(&only_b, at_b)
        )));
    }
    let paired: Vec<Pair<'a>> =
        a.iter().filter_map(|line| in_b.get(line.id.as_str()).map(|other| (line, *other))).collect();
    if let Some((one, other)) =
        paired.iter().find(|(one, other)| (&one.eval, &one.question) != (&other.eval, &other.question))
    {
        return Err(Error::Invalid(format!(
            "question {} is {:?} of {} in {} and {:?} of {} in {}; compare runs over the same file",
            one.id,
            one.question,
            one.eval,
            at_a.display(),
            other.question,
            other.eval,
            at_b.display()
        )));
    }
    Ok(paired)
}

/// The differences of every figure that both lines of some question have.
fn differences(pairs: &[Pair<'_>]) -> BTreeMap<String, Difference> {
    let shared: BTreeSet<&String> =
        pairs.iter().flat_map(|(a, b)| a.metrics.keys().filter(|name| b.metrics.contains_key(*name))).collect();
    let both = |name: &String| {
        let value = |(a, b): &Pair<'_>| Some((*a.metrics.get(name)?, *b.metrics.get(name)?));
        pairs.iter().map(value).collect::<Vec<_>>()
    };
    let columns: Vec<Vec<Option<(f64, f64)>>> = shared.iter().map(|name| both(name)).collect();
    let less = |column: &Vec<Option<(f64, f64)>>| column.iter().map(|pair| pair.map(|(a, b)| b - a)).collect();
    let intervals = bootstrap::intervals(&columns.iter().map(less).collect::<Vec<_>>());
    let named = shared.into_iter().cloned().zip(columns.iter().zip(intervals));
    named.filter_map(|(name, (column, interval))| Some((name, difference(column, interval?)?))).collect()
}

fn difference(column: &[Option<(f64, f64)>], interval: Interval) -> Option<Difference> {
    let pairs = || column.iter().copied().flatten();
    let count = |holds: fn(f64) -> bool| pairs().filter(|(a, b)| holds(b - a)).count();
    let (a, b) = (bootstrap::mean(pairs().map(|(a, _)| a))?, bootstrap::mean(pairs().map(|(_, b)| b))?);
    Some(Difference {
        questions: pairs().count(),
        a,
        b,
        difference: b - a,
        interval,
        wins: count(|by| by > TIE),
        losses: count(|by| by < -TIE),
        ties: count(|by| by.abs() <= TIE),
    })
}

fn changed(pairs: &[Pair<'_>]) -> Vec<Changed> {
    let change = |(a, b): &Pair<'_>| {
        let both = a.metrics.iter().filter_map(|(name, one)| Some((name.clone(), [*one, *b.metrics.get(name)?])));
        let figures: BTreeMap<String, [f64; 2]> = both.filter(|(_, [one, other])| (one - other).abs() > TIE).collect();
        let difference = figures.values().map(|[one, other]| other - one).sum();
        (!figures.is_empty()).then(|| Changed {
            id: a.id.clone(),
            group: a.group.clone(),
            question: a.question.clone(),
            difference,
            figures,
        })
    };
    let mut all: Vec<Changed> = pairs.iter().filter_map(change).collect();
    // The sort is stable: equal ones stay in the order of the file.
    all.sort_by(|one, other| other.difference.abs().total_cmp(&one.difference.abs()));
    all.truncate(CHANGED_SHOWN);
    all
}

fn in_words(report: &Report) -> String {
    let row = |(name, one): (&String, &Difference)| {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let signed = |share: f64| format!("{:+.1}", share * 100.0);
        let [low, high] = one.interval;
        vec![
            name.clone(),
            one.questions.to_string(),
            percent(one.a),
            percent(one.b),
            format!("{} ({} to {})", signed(one.difference), signed(low), signed(high)),
            one.wins.to_string(),
            one.losses.to_string(),
            one.ties.to_string(),
        ]
    };
    let headings = ["figure", "questions", "A", "B", "B − A", "B better", "A better", "equal"];
    let mut text = format!("A: {}\nB: {}\n\n", report.a, report.b);
    text += &render::table(&headings, &report.figures.iter().map(row).collect::<Vec<_>>());
    text += &format!(
        "\nPercent, with the 95 % interval of {} resamples of the {} questions, in pairs\n",
        bootstrap::RESAMPLES,
        report.questions
    );
    if !report.not_compared.is_empty() {
        let names: Vec<&str> = report.not_compared.iter().map(String::as_str).collect();
        text += &format!("Not compared, as only one file has it: {}\n", names.join(", "));
    }
    if !report.changed.is_empty() {
        text += "\nChanged most:\n";
    }
    for one in &report.changed {
        text +=
            &format!("  {:+.2}  {} ({}): {}\n", one.difference, one.id, one.group, render::excerpt(&one.question, 90));
    }
    text
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    fn line(id: &str, value: f64) -> ResultLine {
        let metrics = [("turn.mrr".to_owned(), value)].into();
        ResultLine { id: id.to_owned(), question: format!("{id}?"), metrics, ..ResultLine::default() }
    }

    fn check<'a>(a: &'a [ResultLine], b: &'a [ResultLine]) -> Result<Vec<Pair<'a>>> {
        pairs((Path::new("a.jsonl"), a), (Path::new("b.jsonl"), b))
    }

    #[test]
    fn differences_by_hand() {
        let (a, b) =
            ([line("1", 0.0), line("2", 1.0), line("3", 0.5)], [line("3", 0.5), line("1", 1.0), line("2", 0.5)]);
        let pairs = check(&a, &b).unwrap();
        let found = &differences(&pairs)["turn.mrr"];
        assert!((found.a - 0.5).abs() < 1e-12 && (found.b - 2.0 / 3.0).abs() < 1e-12);
        assert!((found.difference - 0.5 / 3.0).abs() < 1e-12);
        assert_eq!((found.wins, found.losses, found.ties), (1, 1, 1));
        assert!(found.interval[0] < 0.0 && found.interval[1] > 0.0);
        let changed = changed(&pairs);
        assert_eq!(changed.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn a_file_compared_with_itself_is_all_ties() {
        let a = [line("1", 0.2), line("2", 0.9)];
        let pairs = check(&a, &a).unwrap();
        let found = &differences(&pairs)["turn.mrr"];
        assert_eq!((found.interval, found.ties, changed(&pairs).len()), ([0.0, 0.0], 2, 0));
    }

    #[test]
    fn other_questions_are_refused_by_name() {
        let refusal = check(&[line("1", 0.0), line("2", 0.0)], &[line("1", 0.0)]).unwrap_err().to_string();
        assert!(refusal.contains("1 only in a.jsonl (2), none only in b.jsonl"), "{refusal}");
        let other = ResultLine { question: "else?".to_owned(), ..line("1", 0.0) };
        let refusal = check(&[line("1", 0.0)], &[other]).unwrap_err().to_string();
        assert!(refusal.contains("question 1 is \"1?\""), "{refusal}");
    }
}
