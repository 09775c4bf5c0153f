//! What a memory learns of itself: schema evolution, consolidation, reflection.

pub(crate) mod compact;
pub(crate) mod consolidate;
pub(crate) mod evolve;
pub(crate) mod naming;
pub(crate) mod reflect;
