//! Selects the passages to score: all of a small memory, or those nominated by the arms.

use serde::Serialize;

use crate::limit;
use crate::recall::index::cues::QuestionForm;
use crate::recall::index::dense::{QueryVector, bit, for_each_bit};
use crate::recall::index::passage_index::{Index, NO_DAY, NONE};
use crate::recall::index::words::WordScores;
use crate::recall::query::agreement::Agreements;

/// A way of nominating passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RecallArm"))]
#[serde(rename_all = "snake_case")]
pub enum Arm {
    /// All passages: the memory, or the filtered part of it, is small.
    All,
    /// Its vector is near the question's.
    Dense,
    /// It contains the question's words.
    Words,
    /// It is next to a passage that contains them.
    Neighbours,
    /// It was said around a date in the question.
    Date,
    /// Its session contains the question's words.
    Sessions,
    /// It was read from a nominated source.
    Evidence,
}

impl std::fmt::Display for Arm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::All => "all",
            Self::Dense => "dense",
            Self::Words => "words",
            Self::Neighbours => "neighbours",
            Self::Date => "date",
            Self::Sessions => "sessions",
            Self::Evidence => "evidence",
        })
    }
}

impl Arm {
    /// Every arm, in declaration order.
    pub const EVERY: [Self; 7] =
        [Self::All, Self::Dense, Self::Words, Self::Neighbours, Self::Date, Self::Sessions, Self::Evidence];
}

/// The set of arms that nominated a passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arms(u8);

impl Arms {
    /// Returns true if this arm is in the set.
    pub fn has(self, arm: Arm) -> bool {
        self.0 >> arm as u8 & 1 == 1
    }

    /// The arms in the set, in declaration order.
    pub fn iter(self) -> impl Iterator<Item = Arm> {
        Arm::EVERY.into_iter().filter(move |&arm| self.has(arm))
    }

    pub(in crate::recall) fn add(&mut self, arm: Arm) {
        self.0 |= 1 << arm as u8;
    }

    fn only(arm: Arm) -> Self {
        Self(1 << arm as u8)
    }
}

impl Serialize for Arms {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// Passages to score in full, ascending.
pub(in crate::recall) struct Candidates {
    pub(in crate::recall) passages: Vec<u32>,
    pub(in crate::recall) arms: Vec<Arms>,
    /// Number of nominees of each arm, including those shared with others.
    pub(in crate::recall) counts: Vec<(Arm, usize)>,
}

/// The input of the arms.
pub(in crate::recall) struct Evidence<'a> {
    pub(in crate::recall) index: &'a Index,
    /// Bit mask of the passages that pass the filter.
    pub(in crate::recall) allowed: &'a [u64],
    pub(in crate::recall) words: &'a WordScores,
    pub(in crate::recall) dates: &'a Agreements,
    pub(in crate::recall) vector: Option<&'a QueryVector>,
    /// The author the question names.
    pub(in crate::recall) speaker: Option<u32>,
    /// True if the question asks for a time.
    pub(in crate::recall) asks_when: bool,
    /// What the form of the question asks for.
    pub(in crate::recall) asked: QuestionForm,
    /// Score of each passage for the codes in the question; `None` if it contains none.
    pub(in crate::recall) codes: Option<&'a [f32]>,
}

/// Weight of the session's score in nominations by words, as in the final score.
const SESSION_SHARE: f32 = 0.75;

/// First-stage nominees for each place the dense arm fills.
const SIGN_NOMINEES: usize = 4;

impl Candidates {
    /// All allowed passages if they are at most `exhaustive_max`, else the union of the arms' nominees.
    pub(in crate::recall) fn nominate(evidence: &Evidence<'_>, exhaustive_max: usize) -> Self {
        let allowed: usize = evidence.allowed.iter().map(|word| word.count_ones() as usize).sum();
        if allowed <= exhaustive_max {
            let mut passages = Vec::with_capacity(allowed);
            for_each_bit(evidence.allowed, |passage| passages.push(passage));
            return Self { arms: vec![Arms::only(Arm::All); allowed], counts: vec![(Arm::All, allowed)], passages };
        }
        let words = evidence.words_arm();
        let nominees = [
            (Arm::Dense, evidence.dense_arm()),
            (Arm::Neighbours, evidence.neighbours(&words)),
            (Arm::Words, words),
            (Arm::Date, evidence.date_arm()),
            (Arm::Sessions, evidence.sessions_arm()),
        ];
        Self::union(&nominees)
    }

    fn union(nominees: &[(Arm, Vec<u32>)]) -> Self {
        let mut all: Vec<(u32, Arms)> = Vec::with_capacity(nominees.iter().map(|(_, found)| found.len()).sum());
        nominees.iter().for_each(|(arm, found)| all.extend(found.iter().map(|&passage| (passage, Arms::only(*arm)))));
        all.sort_unstable_by_key(|&(passage, arms)| (passage, arms.0));
        all.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1.0 |= later.1.0;
            }
            same
        });
        let (passages, arms) = all.into_iter().unzip();
        Self { passages, arms, counts: nominees.iter().map(|(arm, found)| (*arm, found.len())).collect() }
    }
}

impl Evidence<'_> {
    /// For each passage, the cosine of the question with the one beside it ([`Index::beside`]); 0 without one. `all`
    /// are the cosines of every passage of the index, if available.
    pub(in crate::recall) fn near(&self, passages: &[u32], all: Option<&Vec<f32>>) -> Vec<f32> {
        let beside = passages.iter().map(|&passage| self.index.beside(passage));
        match (all, self.vector) {
            (Some(all), _) => beside.map(|passage| all.get(passage as usize).copied().unwrap_or(0.0)).collect(),
            (None, None) => vec![0.0; passages.len()],
            (None, Some(query)) => {
                let beside: Vec<u32> = beside.collect();
                let there: Vec<u32> = beside.iter().copied().filter(|&passage| passage != NONE).collect();
                let mut found = self.index.dense.cosines_at(query, &there).into_iter();
                let cosine = |&passage: &u32| if passage == NONE { None } else { found.next() };
                beside.iter().map(cosine).map(Option::unwrap_or_default).collect()
            }
        }
    }

    fn dense_arm(&self) -> Vec<u32> {
        let Some(query) = self.vector else { return Vec::new() };
        let dense = &self.index.dense;
        let present: Vec<u64> = self.allowed.iter().zip(&dense.present).map(|(a, b)| a & b).collect();
        dense.nearest_by_signs(query, &present, SIGN_NOMINEES * limit::NOMINEES_PER_ARM)
    }

    fn words_arm(&self) -> Vec<u32> {
        // The session's score breaks ties: ten thousand passages may contain a single query word.
        let columns = &self.index.passages;
        let session =
            |passage: u32| self.words.sessions.get(columns.session[passage as usize] as usize).copied().unwrap_or(0.0);
        let worth = |(passage, &score): (u32, &f32)| {
            (score > 0.0 && bit(self.allowed, passage)).then(|| (score + SESSION_SHARE * session(passage), passage))
        };
        let found: Vec<(f32, u32)> = (0u32..).zip(&self.words.passages).filter_map(worth).collect();
        // A histogram finds the threshold of the best without sorting.
        let step = |worth: f32| (worth * 256.0) as usize;
        let mut histogram = [0usize; 1024];
        found.iter().for_each(|&(worth, _)| histogram[step(worth).min(1023)] += 1);
        let mut above = 0;
        let edge = (0..1024).rev().find(|&step| {
            above += histogram[step];
            above >= limit::NOMINEES_PER_ARM
        });
        let edge = edge.unwrap_or(0);
        best(found.into_iter().filter(|&(worth, _)| step(worth) >= edge).collect())
    }

    fn neighbours(&self, passages: &[u32]) -> Vec<u32> {
        let columns = &self.index.passages;
        let beside = |&passage: &u32| [columns.previous[passage as usize], columns.next[passage as usize]];
        // `NONE` is beyond the mask and thus excluded.
        passages.iter().flat_map(beside).filter(|&passage| bit(self.allowed, passage)).collect()
    }

    fn date_arm(&self) -> Vec<u32> {
        if self.dates.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut last = (NO_DAY, 0.0);
        for (passage, &day) in (0u32..).zip(&self.index.passages.day) {
            if day != last.0 {
                last = (day, self.dates.of(day));
            }
            if last.1 > 0.0 && bit(self.allowed, passage) {
                found.push((last.1 + self.words.passages[passage as usize], passage));
            }
        }
        best(found)
    }

    fn sessions_arm(&self) -> Vec<u32> {
        let mut sessions: Vec<(f32, u32)> =
            self.words.sessions.iter().copied().zip(0u32..).filter(|&(score, _)| score > 0.0).collect();
        keep_best(&mut sessions);
        sessions.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let passages = sessions
            .into_iter()
            .flat_map(|(_, session)| self.index.session_passages(session).take(limit::NOMINEES_PER_ARM));
        passages.filter(|&passage| bit(self.allowed, passage)).take(limit::NOMINEES_PER_ARM).collect()
    }
}

/// The best few, unordered; ties go to the earlier passage.
fn best(mut found: Vec<(f32, u32)>) -> Vec<u32> {
    keep_best(&mut found);
    found.into_iter().map(|(_, passage)| passage).collect()
}

fn keep_best(found: &mut Vec<(f32, u32)>) {
    let count = limit::NOMINEES_PER_ARM;
    if found.len() > count {
        found.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.truncate(count);
    }
}
