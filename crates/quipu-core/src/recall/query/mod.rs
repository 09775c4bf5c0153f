//! Parses a question: its subject, the times it names, its exclusions, and the resulting plan.

pub(in crate::recall) mod about;
pub(in crate::recall) mod agreement;
pub(in crate::recall) mod entities;
pub(in crate::recall) mod event_time;
pub(in crate::recall) mod intent;
pub(in crate::recall) mod negation;
pub(in crate::recall) mod plan;
mod talk;
pub(in crate::recall) mod validity;
