//! Reads a question: whom and what it is about, the times it names, what it excludes, and the plan that follows.

pub(in crate::recall) mod about;
pub(in crate::recall) mod cues;
pub(in crate::recall) mod dates;
pub(in crate::recall) mod entities;
pub(in crate::recall) mod event_time;
pub(in crate::recall) mod intent;
pub(in crate::recall) mod intervals;
pub(in crate::recall) mod negation;
pub(in crate::recall) mod plan;
pub(in crate::recall) mod talk;
pub(in crate::recall) mod value_kind;
pub(in crate::recall) mod when;
