//! Reliability of the stated probability, as measured by `quipu eval calibrate` in bins.

use serde::{Deserialize, Serialize};

/// Questions with similar stated probabilities, and the share that memory did answer.
///
/// Each was judged by a fit that had not seen its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReliabilityBin {
    /// Mean of the stated probabilities, 0 to 1.
    pub stated: f64,
    /// Share of the questions that memory answers, 0 to 1.
    pub answerable: f64,
    /// Number of questions.
    pub questions: usize,
}

impl ReliabilityBin {
    pub(in crate::recall) fn is_sound(&self) -> bool {
        let share = 0.0..=1.0;
        share.contains(&self.stated) && share.contains(&self.answerable) && self.questions > 0
    }
}

/// Expected calibration error: mean difference of stated and true share, weighted by questions. 0 for an empty curve.
pub fn calibration_error(curve: &[ReliabilityBin]) -> f64 {
    let questions: usize = curve.iter().map(|one| one.questions).sum();
    let apart = curve.iter().map(|one| (one.stated - one.answerable).abs() * one.questions as f64);
    apart.sum::<f64>() / questions.max(1) as f64
}

/// The curve of the built-in calibration. docs/benchmarks.md has the command, docs/reliability.svg the same points.
pub(in crate::recall) fn built_in() -> Vec<ReliabilityBin> {
    let stretch = |(stated, answerable, questions): (f64, usize, usize)| ReliabilityBin {
        stated,
        answerable: answerable as f64 / questions as f64,
        questions,
    };
    [
        (0.0394, 17, 441),
        (0.1439, 17, 138),
        (0.2432, 20, 72),
        (0.3425, 26, 61),
        (0.4450, 29, 56),
        (0.5542, 27, 48),
        (0.6552, 45, 69),
        (0.7561, 57, 75),
        (0.8590, 125, 141),
        (0.9632, 401, 427),
    ]
    .map(stretch)
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_curve_is_the_one_that_was_published() {
        let curve = built_in();
        assert_eq!(curve.iter().map(|one| one.questions).sum::<usize>(), 1528);
        assert!((calibration_error(&curve) - 0.020).abs() < 0.0005, "{}", calibration_error(&curve));
        assert!(curve.iter().all(ReliabilityBin::is_sound));
    }
}
