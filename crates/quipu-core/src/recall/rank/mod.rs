//! Ranks candidates: features, weights and selection.

pub(in crate::recall) mod candidates;
pub(in crate::recall) mod core_fields;
pub(in crate::recall) mod group;
pub(in crate::recall) mod items;
pub(in crate::recall) mod late_interaction;
pub(in crate::recall) mod order;
pub(in crate::recall) mod profile;
pub(in crate::recall) mod score;
pub(in crate::recall) mod select;
