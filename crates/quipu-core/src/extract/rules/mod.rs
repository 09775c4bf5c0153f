//! The rules of a language: its data file, the patterns in it, and how they are compiled and searched together.

pub(in crate::extract) mod compiled;
pub(in crate::extract) mod language;
pub(in crate::extract) mod needles;
pub(in crate::extract) mod pattern;
pub(in crate::extract) mod table;
pub(in crate::extract) mod time_words;
