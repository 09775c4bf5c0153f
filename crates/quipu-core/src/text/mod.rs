//! Words and terms of texts: cutting, language detection, stop words and stemming. Everything that compares texts by
//! their words uses this module.

mod detect;
pub(crate) mod language;
mod lists;
mod scripts;
mod stem;
pub(crate) mod tokens;
mod words;
