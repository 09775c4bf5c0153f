//! What a worker may do: a name as the engine's contents page has it, how often, and how.

use quipu_engine::Result;

use crate::worker::Worker;

/// A public function of the engine and how it is called here.
pub(crate) struct Verb {
    /// As `lib.rs` of the engine exports it: `recall`, or `files::level` from a public module.
    pub(crate) name: &'static str,
    /// How often it is drawn, compared with the others.
    pub(crate) weight: usize,
    pub(crate) act: fn(&mut Worker<'_>) -> Result<()>,
}

/// A verb in a table.
pub(crate) const fn verb(name: &'static str, weight: usize, act: fn(&mut Worker<'_>) -> Result<()>) -> Verb {
    Verb { name, weight, act }
}

/// Every verb, in the order of the tables.
pub(crate) fn all() -> impl Iterator<Item = &'static Verb> {
    [crate::saying::VERBS, crate::looking::VERBS, crate::changing::VERBS, crate::keeping::VERBS].into_iter().flatten()
}
