//! The features of a passage and their weighted sum.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::recall::index::passage_index::{ASKS, REPLY, SAYS_WHEN};
use crate::recall::index::words::SCORE_MAX;
use crate::recall::query::cues::{BRIEF, LIKES, NAME, NUMBER, RULE};
use crate::recall::rank::candidates::Evidence;

/// One number for each feature: how it came out, what it counts, or, the two multiplied, what it adds to a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Normalised BM25 of the passage, 0 … 1.9.
    pub n: f32,
    /// The same of the passage before it in the session.
    pub n_prev: f32,
    /// The same of the passage after it.
    pub n_next: f32,
    /// Normalised BM25 of the whole session, 0 … 1.9.
    pub n_sess: f32,
    /// 1 if the question names one author and the passage is theirs.
    pub spk: f32,
    /// Agreement of the passage's day with a date in the question, 0 … 1.
    pub date: f32,
    /// 1 if the passage ends with a question mark.
    pub isq: f32,
    /// Cosine of the question in the first person and the passage with the one before it, −1 … 1.
    pub x: f32,
    /// If the passage names a time: 1 where the question asks for one, else .2, since what happened is told with its time
    /// and small talk is not.
    pub when: f32,
    /// How well the passage's tokens cover the question's by meaning, 0 … 1.
    pub late: f32,
    /// The same of the passage with its neighbours.
    pub late_near: f32,
    /// Cosine of the question and the passage that answers this one, or that this one answers, −1 … 1.
    pub x_near: f32,
    /// 1 if the words are not an assistant's; 2 if the question asks for the order in which things were brought up.
    pub own: f32,
    /// 1 if the words are an assistant's and the question asks what it said.
    pub reply: f32,
    /// 1 for few words, 0 for 400 terms and more: `1 − ln(1 + terms) / 6`.
    pub concise: f32,
    /// 1 if the passage has hardly any words of its own.
    pub brief: f32,
    /// 1 if the user tells the assistant how to behave; 2 if something is to be made or explained.
    pub rule: f32,
    /// 1 if the user says what they like or avoid, and something is to be made or suggested.
    pub likes: f32,
    /// 1 if there is a number in it and the question asks for one.
    pub number: f32,
    /// 1 if there is a name in it and the question asks for one.
    pub name: f32,
    /// How late in memory it stands, 0 … 1, if the question asks what is.
    pub late_told: f32,
    /// How early in memory it stands, 0 … 1, if the question asks what was.
    pub early_told: f32,
    /// Of a statement: how much of the question it answers for the person and the time that are asked about, 0 … 1; less
    /// than 0 if it is about somebody else. 0 for a passage.
    pub holds: f32,
    /// How much of the codes in the question it has, 0 … 1: of terms that name one thing, as the number of an
    /// order does.
    #[serde(default)]
    pub code: f32,
}

/// What each feature adds to a score.
pub type Contributions = Features;

impl Features {
    /// How many there are.
    pub(in crate::recall) const COUNT: usize = 24;

    /// Which of them speak for a passage, see [`Self::score`], in the order of [`Self::array`].
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

    /// The score these contributions make.
    pub fn sum(&self) -> f32 {
        self.array().iter().sum()
    }

    /// The score, and at most 0 where neither words, meaning, date nor speaker speak for the passage: its form and its time alone are
    /// no reason to find it.
    pub(in crate::recall) fn score(&self) -> f32 {
        let Self { n, n_prev, n_next, n_sess, spk, date, x, late, late_near, .. } = *self;
        let speaks = [n, n_prev, n_next, n_sess, spk, date, x, late, late_near].iter().any(|&part| part > 0.0);
        if speaks { self.sum() } else { self.sum().min(0.0) }
    }

    /// What each feature adds under these weights.
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

/// What each feature counts, in two stages: all candidates are scored by the first; where there are tokens to compare,
/// everything is scored again by the second, in which the tokens of the best are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// For every candidate.
    pub first: Features,
    /// Once tokens were compared: by meaning they tell what words alone tell in the first stage. None: one stage.
    pub late: Option<Features>,
}

/// The weights of the two kinds of conversation. Which ones are used follows from the memory: people among themselves if most of
/// its passages are of sessions with several authors and no assistant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// People talk among themselves, every candidate: measured on LoCoMo's questions and cross-validated over its conversations.
    /// What a statement that holds counts was measured on made-up worlds (`quipu eval worlds`).
    pub first: Features,
    /// The second stage for people among themselves.
    pub late: Option<Features>,
    /// A user talks with an assistant, or writes alone: fitted by listwise regression on BEAM's development chats and eight invented
    /// people's, and cross-validated over them. None: the same as for people among themselves.
    pub assistant: Option<Stages>,
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
        Self { first, late: Some(late), assistant: Some(of_assistant()) }
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

impl Weights {
    /// Those for a memory of one kind or the other.
    pub(in crate::recall) fn of(&self, among_people: bool) -> Stages {
        let Self { first, late, assistant } = *self;
        assistant.filter(|_| !among_people).unwrap_or(Stages { first, late })
    }
}

/// A statement about whom and what is asked comes before the words people found around it.
const HOLDS: f32 = 2.0;

/// What was asked for by its number comes before what is about something else: vectors hardly tell numbers apart. Set by hand, on
/// numbers of orders among 600 sentences of the same five forms; the evaluations have next to no such questions.
const CODE: f32 = 1.5;

/// True for a term that names one thing, as the number of an order or the name of a version does: letters and digits together,
/// of three characters or more, or a number of four digits or more that is no year.
pub(in crate::recall) fn is_code(term: &str) -> bool {
    let is_number = term.chars().all(|c| c.is_ascii_digit());
    let is_year = term.len() == 4 && (term.starts_with("19") || term.starts_with("20"));
    let letters = term.chars().count();
    term.contains(|c: char| c.is_ascii_digit()) && if is_number { letters >= 4 && !is_year } else { letters >= 3 }
}

/// What a code counts that so many passages have: 1 up to three, and less the more there are.
pub(in crate::recall) fn code_share(passages: u32) -> f32 {
    3.0 / passages.max(3) as f32
}

/// The highest score a passage can have: every positive weight at its feature's highest value. What only a statement can
/// have, and codes, are left out, so that the scores of passages mean the same with and without statements beside them.
pub fn score_max(weights: &Features) -> f32 {
    let highest = |weight: f32, feature: f32| weight.max(0.0) * feature;
    let words = [weights.n, weights.n_prev, weights.n_next, weights.n_sess];
    let Features { spk, date, isq, x, when, late, late_near, x_near, own, reply, concise, brief, .. } = *weights;
    let Features { rule, likes, number, name, late_told, early_told, .. } = *weights;
    let rest = [spk, date, isq, x, when, late, late_near, x_near, concise, brief, rule, likes, number, name];
    // Words are the user's or an assistant's, and a question asks what is or what was.
    let either = [own.max(reply), late_told.max(early_told)];
    words.iter().map(|&weight| highest(weight, SCORE_MAX)).sum::<f32>()
        + rest.iter().chain(&either).map(|&weight| highest(weight, 1.0)).sum::<f32>()
}

/// What naming a time counts where no time was asked for.
const TOLD_WITH_ITS_TIME: f32 = 0.2;

/// A text of so many terms is not concise: `e⁶`.
const LONG_TEXT_LN: f32 = 6.0;

/// `1 − ln(1 + terms) / 6` by the number of terms, as far as it is more than 0.
static CONCISE: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let concise = |terms: u32| (1.0 - (1.0 + terms as f32).ln() / LONG_TEXT_LN).max(0.0);
    (0..).map(concise).take_while(|concise| *concise > 0.0).collect()
});

/// The features of one passage, its tokens left out. `cosine` is the question's with the passage, `near` with the one beside it, see
/// [`Features::x_near`].
pub(in crate::recall) fn features(evidence: &Evidence<'_>, passage: u32, cosine: f32, near: f32) -> Features {
    let columns = &evidence.index.passages;
    let at = passage as usize;
    // A number that stands for none is beyond the end, so it scores 0.
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
