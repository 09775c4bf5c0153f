//! Eval: how much of what a question needs is found.

mod locomo;
mod metrics;

pub(super) use locomo::locomo;
pub(super) use metrics::Quantiles;
