//! Tests of the scorecard in docs/reliability.md that have no other place. Small by default; `just scorecard` runs them at their full size.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod appends;
mod backups;
mod erasing;
mod grounding;
mod jobs;
mod poisoning;
