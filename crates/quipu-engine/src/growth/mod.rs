//! Derives structure from what is stored: schema evolution, compaction, reflection.

pub(crate) mod compact;
pub(crate) mod consolidate;
pub(crate) mod evolve;
pub(crate) mod naming;
pub(crate) mod reflect;
