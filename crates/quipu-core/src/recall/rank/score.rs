//! The features of a passage and their weighted sum.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::recall::index::cues::{BRIEF, LIKES, NAME, NUMBER, RULE};
use crate::recall::index::passage_index::{ASKS, REPLY, SAYS_WHEN};
use crate::recall::index::words::SCORE_MAX;
use crate::recall::rank::candidates::Evidence;

/// One number per feature: a value, a weight, or their product, the contribution to a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Contributions"))]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Normalised BM25 of the passage, 0 … 1.9.
    pub n: f32,
    /// The same of the previous passage of the session.
    pub n_prev: f32,
    /// The same of the next passage.
    pub n_next: f32,
    /// Normalised BM25 of the whole session, 0 … 1.9.
    pub n_sess: f32,
    /// 1 if the question names one author and the passage is theirs.
    pub spk: f32,
    /// Agreement of the passage's day with a date in the question, 0 … 1.
    pub date: f32,
    /// 1 if the passage ends with a question mark.
    pub isq: f32,
    /// Cosine of the question in the first person with the passage and its predecessor, −1 … 1.
    pub x: f32,
    /// If the passage names a time: 1 if the question asks for one, else .2, since events are told with a time and
    /// small talk is not.
    pub when: f32,
    /// How well the passage's tokens cover the question's by meaning, 0 … 1.
    pub late: f32,
    /// The same including its neighbours.
    pub late_near: f32,
    /// Cosine of the question with the passage that answers this one, or that this one answers, −1 … 1.
    pub x_near: f32,
    /// 1 if the words are not an assistant's; 2 if the question asks for the order in which things were mentioned.
    pub own: f32,
    /// 1 if the words are an assistant's and the question asks what it said.
    pub reply: f32,
    /// Conciseness: near 1 for few words, 0 for 400 terms and more: `1 − ln(1 + terms) / 6`.
    pub concise: f32,
    /// 1 if the passage has hardly any content words.
    pub brief: f32,
    /// 1 if the user tells the assistant how to behave; 2 if the question is a request.
    pub rule: f32,
    /// 1 if the user states a like or dislike and the question is a request.
    pub likes: f32,
    /// 1 if it contains a number and the question asks for one.
    pub number: f32,
    /// 1 if it contains a name and the question asks for one.
    pub name: f32,
    /// Position in memory, 0 … 1, if the question asks about the present.
    pub late_told: f32,
    /// Reverse position in memory, 0 … 1, if the question asks about the past.
    pub early_told: f32,
    /// For a statement: how much of the question it answers for the person and time in question, 0 … 1; negative if it
    /// is about someone else. 0 for a passage.
    pub holds: f32,
    /// How well it matches the codes in the question, 0 … 1: terms that identify one thing, such as an order number.
    #[serde(default)]
    pub code: f32,
}

/// Contribution of each feature to a score.
pub type Contributions = Features;

impl Features {
    /// Number of features.
    pub(in crate::recall) const COUNT: usize = 24;

    /// The features that can support a passage, see [`Self::score`], in the order of [`Self::array`].
    pub(in crate::recall) const SPEAKS: [bool; Self::COUNT] = {
        let mut speaks = [false; Self::COUNT];
        let places = [0, 1, 2, 3, 4, 5, 7, 9, 10];
        let mut at = 0;
        while at < places.len() {
            speaks[places[at]] = true;
            at += 1;
        }
        speaks
    };

    pub(in crate::recall) fn array(&self) -> [f32; Self::COUNT] {
        let Self {
            n,
            n_prev,
            n_next,
            n_sess,
            spk,
            date,
            isq,
            x,
            when,
            late,
            late_near,
            x_near,
            own,
            reply,
            concise,
            brief,
            rule,
            likes,
            number,
            name,
            late_told,
            early_told,
            holds,
            code,
        } = *self;
        [
            n, n_prev, n_next, n_sess, spk, date, isq, x, when, late, late_near, x_near, own, reply, concise, brief,
            rule, likes, number, name, late_told, early_told, holds, code,
        ]
    }

    /// The sum of the contributions.
    pub fn sum(&self) -> f32 {
        self.array().iter().sum()
    }

    /// The score; at most 0 unless words, meaning, date or speaker support the passage, since its form and position
    /// alone are not evidence.
    pub(in crate::recall) fn score(&self) -> f32 {
        let Self { n, n_prev, n_next, n_sess, spk, date, x, late, late_near, .. } = *self;
        let speaks = [n, n_prev, n_next, n_sess, spk, date, x, late, late_near].iter().any(|&part| part > 0.0);
        if speaks { self.sum() } else { self.sum().min(0.0) }
    }

    /// The contributions under these weights.
    pub fn weighed(&self, weights: &Self) -> Contributions {
        Self {
            n: self.n * weights.n,
            n_prev: self.n_prev * weights.n_prev,
            n_next: self.n_next * weights.n_next,
            n_sess: self.n_sess * weights.n_sess,
            spk: self.spk * weights.spk,
            date: self.date * weights.date,
            isq: self.isq * weights.isq,
            x: self.x * weights.x,
            when: self.when * weights.when,
            late: self.late * weights.late,
            late_near: self.late_near * weights.late_near,
            x_near: self.x_near * weights.x_near,
            own: self.own * weights.own,
            reply: self.reply * weights.reply,
            concise: self.concise * weights.concise,
            brief: self.brief * weights.brief,
            rule: self.rule * weights.rule,
            likes: self.likes * weights.likes,
            number: self.number * weights.number,
            name: self.name * weights.name,
            late_told: self.late_told * weights.late_told,
            early_told: self.early_told * weights.early_told,
            holds: self.holds * weights.holds,
            code: self.code * weights.code,
        }
    }
}

/// Weights of the two stages: all candidates are scored by the first; if tokens are available, those of the best are
/// compared and all candidates are rescored by the second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// For every candidate.
    pub first: Features,
    /// After the token comparison, which replaces part of the word scores. `None` for a single stage.
    pub late: Option<Features>,
}

/// The weights of the two kinds of conversation. A memory counts as one among people if most of its passages are of
/// sessions with several authors and no assistant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Among people, first stage: measured on LoCoMo's questions and cross-validated over its conversations. The weight
    /// of `holds` was measured on synthetic worlds (`quipu eval worlds`).
    pub first: Features,
    /// Among people, second stage.
    pub late: Option<Features>,
    /// With an assistant, or a single writer: fitted by listwise regression on BEAM's development chats and those of
    /// eight invented people, and cross-validated over them. `None` uses the weights for people.
    pub assistant: Option<Stages>,
    /// Both kinds, for a question in a language that the embedding model was not trained on: words count for more.
    /// Measured on statements in eight languages (`quipu eval languages`). `None` uses the other weights.
    #[serde(default)]
    pub other_language: Option<Stages>,
}

impl Default for Weights {
    fn default() -> Self {
        let first = Features {
            n: 1.0,
            n_prev: 0.4,
            n_next: 0.25,
            n_sess: 0.75,
            spk: 0.6,
            date: 1.1,
            isq: -0.2,
            x: 2.0,
            holds: HOLDS,
            code: CODE,
            ..Features::default()
        };
        let late = Features {
            n: 0.25,
            n_prev: 0.15,
            n_sess: 0.65,
            spk: 0.6,
            date: 1.05,
            isq: -0.15,
            x: 1.1,
            when: 0.5,
            late: 1.4,
            late_near: 1.5,
            holds: HOLDS,
            code: CODE,
            ..Features::default()
        };
        Self { first, late: Some(late), assistant: Some(of_assistant()), other_language: Some(of_other_language()) }
    }
}

/// See [`Weights::assistant`].
fn of_assistant() -> Stages {
    let by_form = Features {
        spk: 0.2,
        date: 0.6,
        isq: -0.03,
        when: 0.1,
        own: 0.68,
        reply: 0.68,
        concise: 0.9,
        brief: -0.64,
        rule: 0.12,
        likes: 0.3,
        number: 0.52,
        name: 0.25,
        late_told: 0.2,
        early_told: 0.25,
        holds: HOLDS,
        code: CODE,
        ..Features::default()
    };
    let first = Features { n: 0.6, n_sess: 0.1, x: 2.2, x_near: 1.0, ..by_form };
    let late = Features { n: 0.1, x: 1.1, x_near: 0.82, late: 2.1, late_near: 1.67, ..by_form };
    Stages { first, late: Some(late) }
}

/// See [`Weights::other_language`]. Even there the model recognises names and words that languages share.
fn of_other_language() -> Stages {
    const WORDS: f32 = 2.0;
    let Stages { first, late } = of_assistant();
    Stages { first: Features { n: WORDS, ..first }, late: late.map(|late| Features { n: WORDS, ..late }) }
}

impl Weights {
    /// The weights for a kind of memory and a question whose language the embedding model reads, or not.
    pub(in crate::recall) fn of(&self, among_people: bool, is_foreign: bool) -> Stages {
        let Self { first, late, assistant, other_language } = *self;
        if let Some(stages) = other_language.filter(|_| is_foreign) {
            return stages;
        }
        assistant.filter(|_| !among_people).unwrap_or(Stages { first, late })
    }
}

/// A statement that answers ranks above the passages around it.
const HOLDS: f32 = 2.0;

/// A match of a code outranks other matches: vectors hardly distinguish numbers. Set by hand, on order numbers among
/// 600 sentences of the same five forms; the evaluations have hardly any such questions.
const CODE: f32 = 1.5;

/// Returns true for a term that identifies one thing, such as an order number or a version: letters and digits
/// combined, of at least three characters, or a number of at least four digits that is not a year.
pub(in crate::recall) fn is_code(term: &str) -> bool {
    let is_number = term.chars().all(|c| c.is_ascii_digit());
    let is_year = term.len() == 4 && (term.starts_with("19") || term.starts_with("20"));
    let letters = term.chars().count();
    term.contains(|c: char| c.is_ascii_digit()) && if is_number { letters >= 4 && !is_year } else { letters >= 3 }
}

/// Value of a code that occurs in this many passages: 1 up to three, then decreasing.
pub(in crate::recall) fn code_share(passages: u32) -> f32 {
    3.0 / passages.max(3) as f32
}

/// The maximum score of a passage: every positive weight times its feature's maximum. Excludes `holds`, which only
/// statements have, and `code`, so that the scores of passages are comparable with and without statements.
pub fn score_max(weights: &Features) -> f32 {
    let highest = |weight: f32, feature: f32| weight.max(0.0) * feature;
    let words = [weights.n, weights.n_prev, weights.n_next, weights.n_sess];
    let Features { spk, date, isq, x, when, late, late_near, x_near, own, reply, concise, brief, .. } = *weights;
    let Features { rule, likes, number, name, late_told, early_told, .. } = *weights;
    let rest = [spk, date, isq, x, when, late, late_near, x_near, concise, brief, rule, likes, number, name];
    // Words are either the user's or an assistant's, and a question asks about either the present or the past.
    let either = [own.max(reply), late_told.max(early_told)];
    words.iter().map(|&weight| highest(weight, SCORE_MAX)).sum::<f32>()
        + rest.iter().chain(&either).map(|&weight| highest(weight, 1.0)).sum::<f32>()
}

/// Value of `when` if the question asks for no time.
const TOLD_WITH_ITS_TIME: f32 = 0.2;

/// A text of `e⁶` terms has a conciseness of 0.
const LONG_TEXT_LN: f32 = 6.0;

/// `1 − ln(1 + terms) / 6` by the number of terms, while positive.
static CONCISE: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let concise = |terms: u32| (1.0 - (1.0 + terms as f32).ln() / LONG_TEXT_LN).max(0.0);
    (0..).map(concise).take_while(|concise| *concise > 0.0).collect()
});

/// The features of one passage without the token features. `cosine` is that of the question with the passage, `near`
/// with the one beside it, see [`Features::x_near`].
pub(in crate::recall) fn features(evidence: &Evidence<'_>, passage: u32, cosine: f32, near: f32) -> Features {
    let columns = &evidence.index.passages;
    let at = passage as usize;
    // `NONE` is out of range and scores 0.
    let words = |passage: u32| evidence.words.passages.get(passage as usize).copied().unwrap_or(0.0);
    let session = evidence.words.sessions.get(columns.session[at] as usize).copied().unwrap_or(0.0);
    let marks = columns.marks[at];
    let one = |holds: bool| if holds { 1.0 } else { 0.0 };
    let is = |mark: u8| marks & mark != 0;
    let asked = evidence.asked;
    let terms = evidence.index.words.passages.lengths.get(at).copied().unwrap_or(0);
    let place = columns.ordinal[at] as f32 / evidence.index.items.len().max(1) as f32;
    Features {
        n: words(passage),
        n_prev: words(columns.previous[at]),
        n_next: words(columns.next[at]),
        n_sess: session,
        spk: one(evidence.speaker == Some(columns.author[at])),
        date: if evidence.dates.is_empty() { 0.0 } else { evidence.dates.of(columns.day[at]) },
        isq: one(is(ASKS)),
        x: cosine,
        when: if evidence.asks_when { 1.0 } else { TOLD_WITH_ITS_TIME } * one(is(SAYS_WHEN)),
        late: 0.0,
        late_near: 0.0,
        x_near: near,
        own: one(!is(REPLY)) * if asked.order { 2.0 } else { 1.0 },
        reply: one(is(REPLY) && asked.of_reply),
        concise: CONCISE.get(terms as usize).copied().unwrap_or(0.0),
        brief: one(is(BRIEF)),
        rule: one(is(RULE)) * if asked.request { 2.0 } else { 1.0 },
        likes: one(is(LIKES) && asked.request),
        number: one(is(NUMBER) && asked.number),
        name: one(is(NAME) && asked.name),
        late_told: if asked.past { 0.0 } else { place },
        early_told: if asked.past { 1.0 - place } else { 0.0 },
        holds: 0.0,
        code: evidence.codes.map_or(0.0, |codes| codes.get(at).copied().unwrap_or(0.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_name_one_thing() {
        for (term, expected) in [
            ("8946", true),
            ("b12", true),
            ("v0.9.3", true),
            ("99001", true),
            ("2019", false),
            ("1987", false),
            ("500", false),
            ("7b", false),
            ("order", false),
        ] {
            assert_eq!(is_code(term), expected, "{term}");
        }
        assert_eq!((code_share(1), code_share(3), code_share(12)), (1.0, 1.0, 0.25));
    }
}
