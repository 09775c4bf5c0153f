//! Computes the wait before a retry.

use std::time::Duration;

use quipu_engine::ports::Entropy;

/// The longest wait, whatever the server requests.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// The wait before the next attempt: exponential, with a random factor between one half and one.
pub(super) fn wait(first: Duration, attempt: u32, entropy: &dyn Entropy) -> Duration {
    let whole = first.saturating_mul(1 << attempt.saturating_sub(1).min(8)).min(WAIT_MAX);
    let mut dice = [0u8; 2];
    entropy.fill(&mut dice);
    // The random factor spreads the retries of clients that failed together.
    whole.mul_f64(0.5 + f64::from(u16::from_le_bytes(dice)) / f64::from(u16::MAX) / 2.0)
}

/// Parses `Retry-After` as a whole number of seconds within the limit. A date is ignored, since comparing it needs the
/// server's clock.
pub(super) fn retry_after(header: Option<&str>) -> Option<Duration> {
    let seconds: u64 = header?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds)).filter(|wait| *wait <= WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Dice(u8);

    impl Entropy for Dice {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    #[test]
    fn waits_grow_and_are_scattered() {
        let first = Duration::from_millis(100);
        assert_eq!(wait(first, 1, &Dice(0)), Duration::from_millis(50));
        assert_eq!(wait(first, 1, &Dice(255)), Duration::from_millis(100));
        assert_eq!(wait(first, 3, &Dice(255)), Duration::from_millis(400));
        assert!(wait(first, u32::MAX, &Dice(255)) <= WAIT_MAX);
    }

    #[test]
    fn only_a_wait_one_can_keep_counts() {
        for (header, seconds) in [
            ("0", Some(0)),
            (" 7 ", Some(7)),
            ("-1", None),
            ("1000000000", None),
            ("99999999999999999999", None),
            ("1e309", None),
            ("soon", None),
            ("Thu, 01 Jan 1970 00:00:00 GMT", None),
        ] {
            assert_eq!(retry_after(Some(header)), seconds.map(Duration::from_secs), "{header:?}");
        }
        assert_eq!(retry_after(None), None);
    }
}
