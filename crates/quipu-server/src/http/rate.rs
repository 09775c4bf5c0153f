//! Rate limits: a token bucket for each key.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;

/// Maximum number of buckets. Above it, the fullest one is dropped, which costs its owner nothing.
const BUCKETS_MAX: usize = 10_000;

/// State of a bucket after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RemainingTokens {
    limit: u32,
    remaining: u32,
    full_in: Duration,
}

impl RemainingTokens {
    pub(super) fn put_into(&self, headers: &mut HeaderMap) {
        let seconds = self.full_in.as_secs() + u64::from(self.full_in.subsec_nanos() > 0);
        let all = [
            ("x-ratelimit-limit", u64::from(self.limit)),
            ("x-ratelimit-remaining", u64::from(self.remaining)),
            ("x-ratelimit-reset", seconds),
        ];
        for (name, value) in all {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
}

struct Bucket {
    /// Requests that may still be made.
    held: f64,
    at: Instant,
}

/// The buckets of all keys.
pub(crate) struct Rates {
    per_second: f64,
    burst: u32,
    buckets: Mutex<HashMap<String, Bucket>>,
}

impl Rates {
    /// Allows `burst` requests at once and `per_second` in the long run; both are at least 1.
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        Self { per_second: f64::from(per_second.max(1)), burst: burst.max(1), buckets: Mutex::default() }
    }

    /// Takes one request out of a key's bucket.
    ///
    /// # Errors
    /// The time until the next request is allowed.
    pub(crate) fn take(&self, key: &str) -> Result<RemainingTokens, Duration> {
        self.take_at(key, Instant::now())
    }

    fn take_at(&self, key: &str, now: Instant) -> Result<RemainingTokens, Duration> {
        let most = f64::from(self.burst);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS_MAX && !buckets.contains_key(key) {
            let fullest = buckets.iter().max_by(|one, other| one.1.held.total_cmp(&other.1.held));
            if let Some(fullest) = fullest.map(|(key, _)| key.clone()) {
                buckets.remove(&fullest);
            }
        }
        let bucket = buckets.entry(key.to_owned()).or_insert(Bucket { held: most, at: now });
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.held = (bucket.held + since * self.per_second).min(most);
        bucket.at = now;
        if bucket.held < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.held) / self.per_second));
        }
        bucket.held -= 1.0;
        let full_in = Duration::from_secs_f64((most - bucket.held) / self.per_second);
        Ok(RemainingTokens { limit: self.burst, remaining: bucket.held as u32, full_in })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_and_each_key_has_its_own() {
        let rates = Rates::new(2, 3);
        let start = Instant::now();
        let left = |key: &str, millis: u64| {
            rates.take_at(key, start + Duration::from_millis(millis)).map(|left| left.remaining)
        };
        assert_eq!(left("a", 0), Ok(2));
        assert_eq!(left("a", 0), Ok(1));
        assert_eq!(left("a", 0), Ok(0));
        assert_eq!(left("a", 0), Err(Duration::from_millis(500)));
        assert_eq!(left("b", 0), Ok(2));
        assert_eq!(left("a", 500), Ok(0));
        assert_eq!(left("a", 60_000), Ok(2));
    }
}
