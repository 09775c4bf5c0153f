//! Turns hits into an answer: grouping, validity at the requested time, verdict, and trace.

pub(in crate::recall) mod calibration;
pub(in crate::recall) mod decision;
pub(in crate::recall) mod of_another;
pub(in crate::recall) mod reliability;
pub(in crate::recall) mod trace;
