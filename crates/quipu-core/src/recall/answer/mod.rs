//! From hits to an answer: grouping, validity at the asked time, whether they answer at all, and the trace.

pub(in crate::recall) mod decision;
pub(in crate::recall) mod group;
pub(in crate::recall) mod of_another;
pub(in crate::recall) mod reliability;
pub(in crate::recall) mod trace;
pub(in crate::recall) mod validity;
