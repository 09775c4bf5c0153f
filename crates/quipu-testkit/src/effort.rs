//! How hard a test run tries, and from which seed.

/// The seed of this run: `QUIPU_SEED`, or one that is always the same, so that a failure can be had again.
pub fn seed() -> u64 {
    number("QUIPU_SEED").unwrap_or(20_260_101)
}

/// How many cases to try: `cases`, times `QUIPU_EFFORT` for runs that have all night.
pub fn effort(cases: u32) -> u32 {
    cases.saturating_mul(number("QUIPU_EFFORT").unwrap_or(1).clamp(1, 10_000) as u32)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
