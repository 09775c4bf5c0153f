//! A line through points, by least squares.

use serde::Serialize;

/// A line through points, by least squares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Line {
    /// Growth of *y* for each unit of *x*.
    pub slope: f64,
    /// Standard error of the slope if the deviations from the line are independent. None with fewer than three points.
    pub slope_error: Option<f64>,
    /// The value at *x* = 0.
    pub intercept: f64,
}

impl Line {
    /// The line through these points (*x*, *y*). None if they do not determine one: fewer than two different values of *x*.
    #[must_use]
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
        if points.len() < 2 || spread <= 0.0 {
            return None;
        }
        let slope = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>() / spread;
        let intercept = y_mean - slope * x_mean;
        let deviations: f64 = points.iter().map(|(x, y)| (y - intercept - slope * x).powi(2)).sum();
        let slope_error = (points.len() > 2).then(|| (deviations / (count - 2.0) / spread).sqrt());
        Some(Self { slope, slope_error, intercept })
    }

    /// The exponent with which *y* grows with *x*: the slope of the line through the logarithms. Points that have none are
    /// left out.
    #[must_use]
    pub fn of_powers(points: &[(f64, f64)]) -> Option<Self> {
        let positive = points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
        Self::through(&positive.map(|(x, y)| (x.ln(), y.ln())).collect::<Vec<_>>())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_with_its_error() {
        let exact = Line::through(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]).unwrap();
        assert!((exact.slope - 2.0).abs() < 1e-12 && (exact.intercept - 3.0).abs() < 1e-12);
        assert!(exact.slope_error.unwrap() < 1e-12);
        // By hand: slope 0.8, deviations 0.2, -0.4, 0.2 from the line.
        let near = Line::through(&[(0.0, 1.0), (1.0, 1.2), (2.0, 2.6)]).unwrap();
        assert!((near.slope - 0.8).abs() < 1e-12, "{near:?}");
        assert!((near.slope_error.unwrap() - (0.24f64 / 2.0).sqrt()).abs() < 1e-12, "{near:?}");
        assert_eq!(Line::through(&[(1.0, 1.0), (2.0, 2.0)]).unwrap().slope_error, None);
        assert_eq!(Line::through(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(Line::through(&[]), None);
    }

    #[test]
    fn an_exponent_is_the_slope_of_the_logarithms() {
        let squares: Vec<(f64, f64)> = [1e4, 1e5, 1e6].map(|x: f64| (x, 7.0 * x.powi(2))).to_vec();
        assert!((Line::of_powers(&squares).unwrap().slope - 2.0).abs() < 1e-9);
        assert_eq!(Line::of_powers(&[(1e4, 0.0), (1e5, 3.0)]), None);
    }
}
