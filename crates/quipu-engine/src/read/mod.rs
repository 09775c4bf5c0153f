//! Reads a memory: recall with its evidence, single items, and lists.

pub(crate) mod answers;
pub(crate) mod hits;
pub(crate) mod items;
pub(crate) mod list;
pub(crate) mod meaning;
pub(crate) mod recall;
pub(crate) mod rerank;
