//! Finds the boundaries between episodes.

use std::ops::Range;

use jiff::{SignedDuration, Timestamp};

use super::EpisodeTurn;
use super::cohesion::Meanings;
use super::session::AnalysedSession;

/// Penalty at the far end for a cut off the middle of an overlong range, in units of boundary strength.
const OFF_MIDDLE: f32 = 0.2;

/// Thresholds for episode boundaries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SegmentOptions {
    /// A longer silence between two known times always ends an episode. Default: 30 minutes.
    pub gap_max: SignedDuration,
    /// Minimum number of turns between two soft boundaries (topic, sentiment). A stretch between two gaps may be
    /// shorter. At least 1; default: 4.
    pub turns_min: usize,
    /// Maximum number of turns of an episode; a longer one is cut where it coheres least. At least `2 · turns_min − 1`;
    /// default: 24.
    pub turns_max: usize,
    /// Number of turns compared on either side of a possible boundary. At least 1; default: 5.
    pub window_turns: usize,
    /// Number of possible boundaries searched on either side for a peak and for a stronger boundary. Default: 5.
    pub reach: usize,
    /// Minimum depth of a similarity valley for a topic boundary, without vectors, 0 to 2. Default: 0.16.
    pub depth_by_words: f32,
    /// The same with vectors, 0 to 2. Default: 0.16, not measured; the best value depends on the embedder.
    pub depth_by_vectors: f32,
    /// Difference of two windows' mean valence that counts as a change of sentiment, 0 to 2. Default: 0.6.
    pub valence_shift: f64,
}

impl Default for SegmentOptions {
    fn default() -> Self {
        Self {
            gap_max: SignedDuration::from_mins(30),
            turns_min: 4,
            turns_max: 24,
            window_turns: 5,
            reach: 5,
            depth_by_words: 0.16,
            depth_by_vectors: 0.16,
            valence_shift: 0.6,
        }
    }
}

/// The segmentation of a session that may continue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Segmentation {
    /// Episodes that no later turn can change, in order and without gaps from turn 0.
    pub closed: Vec<Range<usize>>,
    /// The remaining turns; `None` if there are no turns. May be split later, but is never merged into a closed
    /// episode.
    pub open: Option<Range<usize>>,
}

/// Splits a session that is over, or has been silent for longer than [`SegmentOptions::gap_max`]: every turn lies in
/// exactly one range, in order, and no range is longer than `turns_max`.
///
/// Deterministic. The ranges start with those of [`segment_so_far`]'s `closed`, and a turn after a gap does not change
/// them.
pub fn segment(turns: &[EpisodeTurn<'_>], options: &SegmentOptions) -> Vec<Range<usize>> {
    AnalysedSession::read(turns).segment(options)
}

pub(super) fn all(session: &AnalysedSession<'_>, options: &SegmentOptions) -> Vec<Range<usize>> {
    let mut cutter = Cutter::over(session, options);
    cutter.finish();
    cutter.closed
}

/// Splits a session that may continue. For any `n`, `segment_so_far(&turns[..n]).closed` is a prefix of
/// `segment_so_far(turns).closed`: later turns change the open range only.
///
/// This holds by construction: turns are processed one by one, and a boundary is decided once, as soon as its right
/// window and reach are available, using only the turns up to then (document frequencies included).
///
/// Topic boundaries follow TextTiling (Hearst 1997, *TextTiling: Segmenting Text into Multi-paragraph Subtopic
/// Passages*): the windows before and after a boundary are compared, and the depth is
/// `(peak_left − s) + (peak_right − s)`. There are two differences. The peaks are the highest within `reach`, where
/// Hearst climbs to the nearest, and the flank of a deeper valley has depth 0; this measured slightly better than
/// Hearst's climb and than a plain threshold on `s`. The threshold is fixed, where Hearst uses `mean − σ/2` of the
/// whole text, which later turns would change. Changes of sentiment are measured on the same windows. The strongest
/// boundary within `reach` wins.
pub fn segment_so_far(turns: &[EpisodeTurn<'_>], options: &SegmentOptions) -> Segmentation {
    AnalysedSession::read(turns).segment_so_far(options)
}

pub(super) fn so_far(session: &AnalysedSession<'_>, options: &SegmentOptions) -> Segmentation {
    let cutter = Cutter::over(session, options);
    let open = (cutter.start < cutter.known).then_some(cutter.start..cutter.known);
    Segmentation { closed: cutter.closed, open }
}

/// Returns true if a session silent since `last` is over at `now`, so that the next turn begins an episode.
pub fn is_over(last: Timestamp, now: Timestamp, options: &SegmentOptions) -> bool {
    now.duration_since(last) > options.gap_max
}

struct Cutter<'a> {
    options: SegmentOptions,
    meanings: Meanings<'a>,
    valences: Vec<f64>,
    closed: Vec<Range<usize>>,
    /// First turn of the open range.
    start: usize,
    /// The next boundary to decide: before this turn.
    candidate: usize,
    /// Number of turns processed so far.
    known: usize,
    last_said: Option<Timestamp>,
}

impl<'a> Cutter<'a> {
    fn over(session: &AnalysedSession<'a>, options: &SegmentOptions) -> Self {
        let turns_min = options.turns_min.max(1);
        let options = SegmentOptions {
            turns_min,
            turns_max: options.turns_max.max(turns_min.saturating_mul(2) - 1),
            window_turns: options.window_turns.max(1),
            ..*options
        };
        let mut cutter = Self {
            options,
            meanings: Meanings::of(session),
            valences: session.affects.iter().map(|affect| affect.valence).collect(),
            closed: Vec::new(),
            start: 0,
            candidate: turns_min,
            known: 0,
            last_said: None,
        };
        session.turns.iter().for_each(|turn| cutter.take(turn));
        cutter
    }

    fn take(&mut self, turn: &EpisodeTurn<'_>) {
        if let (Some(last), Some(now)) = (self.last_said, turn.said_at)
            && is_over(last, now, &self.options)
        {
            self.finish();
        }
        self.last_said = turn.said_at.or(self.last_said);
        self.known += 1;
        self.meanings.learn(self.known);
        let SegmentOptions { turns_min, turns_max, window_turns, reach, .. } = self.options;
        while self.candidate + (window_turns + reach).max(turns_min) <= self.known {
            self.decide();
        }
        if self.known - self.start > turns_max {
            self.cut_anywhere();
        }
    }

    /// Decides the remaining boundaries with the available turns and closes the last range.
    fn finish(&mut self) {
        while self.candidate + self.options.turns_min <= self.known {
            self.decide();
        }
        if self.start < self.known {
            self.cut(self.known);
        }
    }

    fn decide(&mut self) {
        let strength = self.strength(self.candidate);
        let rivals = self.candidate + 1..=self.candidate + self.options.reach;
        let known = self.known;
        if strength >= 1.0 && rivals.filter(|&at| at < known).all(|at| strength >= self.strength(at)) {
            self.cut(self.candidate);
        } else {
            self.candidate += 1;
        }
    }

    /// Cuts an overlong range at its strongest boundary, or in the middle if there is none.
    fn cut_anywhere(&mut self) {
        let turns_min = self.options.turns_min;
        let middle = self.start + (self.known - self.start) / 2;
        let mut best = (f32::NEG_INFINITY, middle);
        for at in self.start + turns_min..=self.known - turns_min {
            let off_middle = at.abs_diff(middle) as f32 / self.options.turns_max as f32;
            let worth = self.strength(at) - OFF_MIDDLE * off_middle;
            if worth > best.0 {
                best = (worth, at);
            }
        }
        self.cut(best.1);
    }

    fn cut(&mut self, at: usize) {
        self.closed.push(self.start..at);
        self.start = at;
        self.candidate = self.candidate.max(at + self.options.turns_min);
    }

    /// Strength of a boundary before turn `at`; 1 or more is a boundary.
    fn strength(&mut self, at: usize) -> f32 {
        let by_words =
            if self.meanings.by_vectors() { self.options.depth_by_vectors } else { self.options.depth_by_words };
        let (left, right) = self.windows(at);
        let mean = |window: Range<usize>| self.valences[window.clone()].iter().sum::<f64>() / window.len() as f64;
        let shift = (mean(left) - mean(right)).abs() / self.options.valence_shift;
        (self.depth(at) / by_words).max(shift as f32)
    }

    /// Depth of the valley before turn `at`; 0 if a neighbour is deeper, since the flank of a valley is not a boundary.
    fn depth(&mut self, at: usize) -> f32 {
        let here = self.similarity(at);
        let reach = self.options.reach;
        let first = (self.start + 1).max(at.saturating_sub(reach));
        let last = (at + reach).min(self.known - 1);
        let (mut left, mut right) = (here, here);
        for other in (first..=last).filter(|&other| other != at) {
            let there = self.similarity(other);
            if there < here && other.abs_diff(at) == 1 {
                return 0.0;
            }
            let side = if other < at { &mut left } else { &mut right };
            *side = side.max(there);
        }
        (left - here) + (right - here)
    }

    fn similarity(&mut self, at: usize) -> f32 {
        let (left, right) = self.windows(at);
        self.meanings.similarity(left, right)
    }

    fn windows(&self, at: usize) -> (Range<usize>, Range<usize>) {
        let window = self.options.window_turns;
        (at.saturating_sub(window).max(self.start)..at, at..(at + window).min(self.known))
    }
}
