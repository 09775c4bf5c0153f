//! Decisions by hand: reviews, corrections, edits, merges and removals, each as the changes it makes.

pub(in crate::reconcile) mod correcting;
pub(in crate::reconcile) mod decisions;
pub(in crate::reconcile) mod editing;
pub(in crate::reconcile) mod entering;
pub(in crate::reconcile) mod merging;
pub(in crate::reconcile) mod promoting;
pub(in crate::reconcile) mod proposing;
pub(in crate::reconcile) mod restoring;
pub(in crate::reconcile) mod rewording;
