//! Confidence intervals of means over questions: percentile bootstrap (Efron, 1979).
//!
//! Questions are resampled, not conversations: the interval covers the choice of questions, for conversations like
//! these. For paired differences, the pairs are resampled.

use super::worlds::WorldRng;

/// Number of resamples.
pub(super) const RESAMPLES: usize = 2_000;

/// Fixed, so that the same figures give the same interval.
pub(super) const SEED: u64 = 2_023;

/// Lower and upper bound.
pub(super) type Interval = [f64; 2];

/// The 95 % intervals of the means of columns over the same questions. A question may lack a value; a column without
/// any value has no interval.
pub(super) fn intervals(columns: &[Vec<Option<f64>>]) -> Vec<Option<Interval>> {
    let questions = columns.first().map_or(0, Vec::len);
    let mut dice = WorldRng::new(SEED);
    let mut drawn = vec![0; questions];
    let mut means: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLES); columns.len()];
    for _ in 0..RESAMPLES {
        drawn.iter_mut().for_each(|place| *place = dice.below(questions));
        for (column, means) in columns.iter().zip(&mut means) {
            means.extend(mean(drawn.iter().filter_map(|&place| column.get(place).copied().flatten())));
        }
    }
    means.into_iter().map(ends).collect()
}

/// The 95 % interval of any figure over rows. Resamples for which the figure is undefined are ignored.
pub(super) fn interval<T: Copy>(rows: &[T], figure: impl Fn(&[T]) -> Option<f64>) -> Option<Interval> {
    let mut dice = WorldRng::new(SEED);
    let mut drawn = rows.to_vec();
    let mut figures = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        drawn.iter_mut().for_each(|row| *row = rows[dice.below(rows.len())]);
        figures.extend(figure(&drawn));
    }
    ends(figures)
}

/// The mean; `None` for no values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

fn ends(mut means: Vec<f64>) -> Option<Interval> {
    means.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (means.len() as f64 - 1.0);
        let (below, above) = (means.get(place.floor() as usize)?, means.get(place.ceil() as usize)?);
        Some(below + (above - below) * place.fract())
    };
    if means.is_empty() { None } else { Some([at(0.025)?, at(0.975)?]) }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Interval {
        intervals(&[values.iter().copied().map(Some).collect()])[0].unwrap()
    }

    #[test]
    fn the_ends_of_a_hundred_and_one_means() {
        let ends = ends((0..=100).rev().map(f64::from).collect()).unwrap();
        assert!((ends[0] - 2.5).abs() < 1e-12 && (ends[1] - 97.5).abs() < 1e-12, "{ends:?}");
    }

    #[test]
    fn the_interval_of_a_share_is_about_two_standard_errors_wide() {
        let values: Vec<f64> = (0..400).map(|number| f64::from(u8::from(number % 4 != 0))).collect();
        let [low, high] = of(&values);
        // √(.75 · .25 / 400) = .0217
        assert!((low - (0.75 - 1.96 * 0.0217)).abs() < 0.006 && (high - (0.75 + 1.96 * 0.0217)).abs() < 0.006);
    }

    #[test]
    fn the_same_values_give_the_same_interval_and_equal_values_none_to_speak_of() {
        let values: Vec<f64> = (0..50).map(|number| f64::from(number) / 50.0).collect();
        assert_eq!(of(&values).map(f64::to_bits), of(&values).map(f64::to_bits));
        assert_eq!(of(&[0.5; 20]), [0.5, 0.5]);
        assert_eq!(of(&[0.25]), [0.25, 0.25]);
        assert_eq!(intervals(&[Vec::new()]), [None]);
    }

    #[test]
    fn a_question_without_a_value_does_not_count_as_zero() {
        let sparse = vec![Some(1.0), None, None, Some(1.0)];
        assert_eq!(intervals(&[sparse, vec![None; 4]]), [Some([1.0, 1.0]), None]);
    }
}
