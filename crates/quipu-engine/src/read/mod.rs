//! Verbs that only read: recall with its receipts, single items, and lists.

pub(crate) mod answers;
pub(crate) mod hits;
pub(crate) mod items;
pub(crate) mod list;
pub(crate) mod meaning;
pub mod memories;
pub(crate) mod recall;
pub(crate) mod rerank;
