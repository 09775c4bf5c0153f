//! The operations of a worker: name, weight and function.

use quipu_engine::Result;

use crate::worker::Worker;

/// A public function of the engine, and a function that calls it.
pub(crate) struct Verb {
    /// The name exported by the engine's `lib.rs`: `recall`, or `files::level` for a public module.
    pub(crate) name: &'static str,
    /// Its relative frequency.
    pub(crate) weight: usize,
    pub(crate) act: fn(&mut Worker<'_>) -> Result<()>,
}

/// An entry of a table.
pub(crate) const fn verb(name: &'static str, weight: usize, act: fn(&mut Worker<'_>) -> Result<()>) -> Verb {
    Verb { name, weight, act }
}

/// Every operation, in the order of the tables.
pub(crate) fn all() -> impl Iterator<Item = &'static Verb> {
    [crate::saying::VERBS, crate::looking::VERBS, crate::changing::VERBS, crate::keeping::VERBS].into_iter().flatten()
}
