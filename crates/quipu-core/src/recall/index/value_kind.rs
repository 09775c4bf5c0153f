//! The kind of value a question asks for, if its form shows it: "How old is Tom?" asks for an age.
//!
//! Results for such a question are often about the right person but contain no such value. The kinds and the patterns
//! of their values are in `languages/en/recall.toml`.

use regex::Regex;
use serde::Deserialize;

use crate::recall::index::cues;

/// A kind as in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::recall) struct ValueKindPattern {
    asked: String,
    value: String,
}

/// A kind of value that a question can ask for.
pub(in crate::recall) struct ValueKind {
    asked: Regex,
    value: Regex,
}

impl ValueKind {
    /// Compiles the two patterns.
    ///
    /// # Errors
    /// A description of the invalid pattern.
    pub(in crate::recall) fn parse(kind: &ValueKindPattern) -> Result<Self, String> {
        Ok(Self { asked: cues::pattern(&kind.asked)?, value: cues::pattern(&kind.value)? })
    }

    /// Returns true if the question asks for a value of this kind.
    pub(in crate::recall) fn is_asked_by(&self, question: &str) -> bool {
        self.asked.is_match(question)
    }

    /// Returns true if the text may contain a value of this kind.
    pub(in crate::recall) fn may_be_in(&self, text: &str) -> bool {
        self.value.is_match(text)
    }
}

#[cfg(test)]
mod tests {
    use crate::recall::index::cues::value_kind;

    #[test]
    fn a_question_asks_for_a_kind_of_value() {
        for (question, text, expected) in [
            ("How old is Tom?", "Tom works at Delta.", Some(false)),
            ("how old is tom", "tom turned 41 last week", Some(true)),
            ("How old is Tom?", "my brother Tom, 41, is a plumber", Some(true)),
            ("What age is Mia now?", "Mia is six and loves frogs", Some(true)),
            ("How old is Tom?", "Tom wants 30 percent", Some(false)),
            ("what is leo allergic to", "Leo is 6.", Some(false)),
            ("what is leo allergic to", "leo can't have cashews", Some(true)),
            ("What allergies does Ana have?", "Ana carries an epipen because of wasps", Some(true)),
            ("What colour is the van?", "The van starts again.", Some(false)),
            ("what color did we paint the van", "went with the mustard for the van", Some(true)),
            ("Where does Tom work?", "Tom works at Delta.", None),
            ("How long have I known Tom?", "Tom works at Delta.", None),
        ] {
            let found = value_kind(question).map(|kind| kind.may_be_in(text));
            assert_eq!(found, expected, "{question:?} {text:?}");
        }
    }
}
