//! The rules of a language: its data file, its patterns, and their compilation and combined search.

pub(in crate::extract) mod needles;
pub(in crate::extract) mod pattern;
pub(in crate::extract) mod table;
pub(in crate::extract) mod time_words;
