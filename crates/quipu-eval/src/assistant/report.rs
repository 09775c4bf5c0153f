//! Reports totals and, on request, every question.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::bootstrap;
use super::super::certainty::{self, Certainty, Stated, VerdictCount};
use super::super::metrics::{Figures, Scores};
use super::asking::{Answered, Detail, PACK_SIZES, Requested};
use crate::render;

const FOUND: [&str; 3] = ["turn.recall.1", "turn.recall.5", "turn.recall.10"];
const FIRST: [&str; 4] = ["first.statement", "first.turn", "first.episode", "first.wrong"];
const PACKS: [&str; 6] = [
    "pack.500.there",
    "pack.500.strictly",
    "pack.500.noise",
    "pack.1500.there",
    "pack.1500.strictly",
    "pack.1500.noise",
];
const OTHERS: [&str; 2] = ["outdated_first", "verdict.right"];

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct About {
    /// How the memories were made.
    pub(super) memory: &'static str,
    pub(super) people: usize,
    /// In all memories, including noise.
    pub(super) turns: usize,
    pub(super) noise_turns: usize,
    pub(super) model: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    #[serde(flatten)]
    about: About,
    /// Questions that the chats answer.
    answerable: Figures,
    /// Those that share no content word with a turn that answers.
    no_shared_word: Figures,
    by_kind: BTreeMap<String, Figures>,
    /// Correct verdicts over all questions.
    verdict_right: Figures,
    verdicts: BTreeMap<&'static str, VerdictCount>,
    certainty: Certainty,
    /// Mean tokens of packs, by budget.
    pack_tokens: BTreeMap<usize, f64>,
    requests: Requests,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Detail<'a>>,
}

/// Everyday requests, and what a pack of the default size injects for them.
#[derive(Debug, Serialize)]
struct Requests {
    /// Requests on which nothing in memory bears.
    unrelated: Injected,
    related: Injected,
    /// The share of the turns bearing on a request that its pack contains.
    there: Figures,
}

#[derive(Debug, Serialize)]
struct Injected {
    requests: usize,
    tokens_median: f64,
    tokens_mean: f64,
}

impl Injected {
    fn of(requests: &[&Requested]) -> Self {
        let mut tokens: Vec<f64> = requests.iter().map(|one| one.tokens as f64).collect();
        tokens.sort_by(f64::total_cmp);
        let at = |place: usize| tokens.get(place).copied().unwrap_or_default();
        let (middle, count) = (tokens.len() / 2, tokens.len());
        let median = if count % 2 == 1 { at(middle) } else { (at(middle.saturating_sub(1)) + at(middle)) / 2.0 };
        let mean = bootstrap::mean(tokens.iter().copied()).unwrap_or_default();
        Self { requests: count, tokens_median: median, tokens_mean: mean }
    }
}

impl<'a> Report<'a> {
    pub(super) fn of(about: About, answers: &'a [Answered], requests: &[Requested], detail: bool) -> Self {
        let names = [&FOUND[..], &FIRST, &PACKS, &OTHERS].concat();
        let answerable: Vec<&Answered> = answers.iter().filter(|one| one.asked.answerable).collect();
        let rows = |all: &[&Answered], wanted: &dyn Fn(&Answered) -> bool| -> Figures {
            let rows: Vec<&Scores> = all.iter().filter(|one| wanted(one)).map(|one| &one.scores).collect();
            Figures::of(&names, &rows)
        };
        let stated: Vec<Stated> = answers.iter().map(|one| one.stated).collect();
        let tokens = |size: usize| answerable.iter().filter_map(move |one| one.pack_tokens.get(&size));
        let mean = |size: usize| bootstrap::mean(tokens(size).map(|&used| used as f64)).unwrap_or_default();
        let part = |bears: bool| requests.iter().filter(|one| one.bears == bears).collect::<Vec<_>>();
        let there: Vec<Scores> =
            requests.iter().filter_map(|one| Some(Scores::from([("there".to_owned(), one.there?)]))).collect();
        let all: Vec<&Scores> = answers.iter().map(|one| &one.scores).collect();
        Self {
            about,
            answerable: rows(&answerable, &|_| true),
            no_shared_word: rows(&answerable, &|one| !one.shares_a_word),
            by_kind: Figures::split(&names, answers.iter().map(|one| (one.asked.group.as_str(), &one.scores))),
            verdict_right: Figures::of(&["verdict.right"], &all),
            verdicts: certainty::verdicts(answers.iter().map(|one| (one.verdict, one.asked.answerable))),
            certainty: Certainty::of(&stated),
            pack_tokens: PACK_SIZES.map(|size| (size, mean(size))).into(),
            requests: Requests {
                unrelated: Injected::of(&part(false)),
                related: Injected::of(&part(true)),
                there: Figures::of(&["there"], &there.iter().collect::<Vec<_>>()),
            },
            details: answers.iter().filter(|_| detail).map(|one| one.detail(true)).collect(),
        }
    }
}

const FOUND_HEADINGS: [&str; 7] = ["turns", "questions", "R@1", "R@5", "R@10", "outdated first", "verdict right"];
const FIRST_HEADINGS: [&str; 6] = ["first hit is", "questions", "statement", "turn", "episode", "wrong"];
const PACK_HEADINGS: [&str; 8] =
    ["in the pack", "questions", "500: 60 %", "90 %", "noise", "1500: 60 %", "90 %", "noise"];

pub(super) fn in_words(report: &Report<'_>) -> String {
    let table = |headings: &[&str], names: &[&str], by_kind: bool| {
        let kinds = report.by_kind.iter().filter(|_| by_kind);
        let mut rows: Vec<Vec<String>> = kinds.map(|(kind, figures)| figures.row(kind, names)).collect();
        rows.push(report.no_shared_word.row("no shared word", names));
        rows.push(report.answerable.row("answerable", names));
        render::table(headings, &rows)
    };
    let found: Vec<&str> = FOUND.into_iter().chain(OTHERS).collect();
    let requests = |name: &str, one: &Injected| {
        vec![
            name.to_owned(),
            one.requests.to_string(),
            format!("{:.0}", one.tokens_median),
            format!("{:.0}", one.tokens_mean),
        ]
    };
    let rows = [
        requests("nothing in memory bears on it", &report.requests.unrelated),
        requests("something in memory bears on it", &report.requests.related),
    ];
    let tokens: Vec<String> = report.pack_tokens.iter().map(|(size, used)| format!("{used:.0} of {size}")).collect();
    let about = &report.about;
    format!(
        "{}\n{}\n{}\n{}\n{}\n{}\nPercent, with the 95 % interval of {} resamples of the questions\n\
         Verdicts right, of all questions: {}; turns that bear on a request in its pack: {}\n\
         Tokens of a pack, mean: {}\n\
         {} people, {} turns, {} of them noise\nMemory: {}\nModel: {}\n{}",
        table(&FOUND_HEADINGS, &found, true),
        table(&FIRST_HEADINGS, &FIRST, true),
        table(&PACK_HEADINGS, &PACKS, true),
        render::table(&["verdict", "answerable", "not"], &certainty::verdict_rows(&report.verdicts)),
        render::table(&["", "AUROC", "ECE", "Brier"], &[report.certainty.row("answerable or not")]),
        render::table(&["requests", "", "tokens, median", "mean"], &rows),
        bootstrap::RESAMPLES,
        report.verdict_right.in_percent("verdict.right"),
        report.requests.there.in_percent("there"),
        tokens.join(", "),
        about.people,
        about.turns,
        about.noise_turns,
        about.memory,
        about.model,
        details(&report.details)
    )
}

/// One line for each question.
fn details(details: &[Detail<'_>]) -> String {
    if details.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = details.iter().map(Detail::row).collect();
    format!("\n{}", render::table(&["question", "kind", "R@10", "verdict", "first hit", "", ""], &rows))
}
