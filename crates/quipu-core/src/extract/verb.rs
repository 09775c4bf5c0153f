//! Interprets the words before a verb: negation, ending, past, recency.

use super::language::{BeforeVerb, VerbMark};
use super::rules::pattern::{Pattern, Patterns};
use crate::refusal::Refusal;

/// Maximum number of patterns matched before one verb.
const STEPS_MAX: usize = 12;

/// Reads the words before verbs.
#[derive(Debug, Clone)]
pub(super) struct BeforeVerbs {
    steps: Vec<(Pattern, Vec<VerbMark>)>,
}

/// The marks of the words before a verb.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks(Vec<VerbMark>);

impl Marks {
    pub(super) fn has(&self, mark: VerbMark) -> bool {
        self.0.contains(&mark)
    }

    pub(super) fn set(&mut self, mark: VerbMark) {
        if !self.has(mark) {
            self.0.push(mark);
        }
    }

    /// Returns true if the verb follows a form of "be".
    pub(super) fn be(&self) -> bool {
        self.has(VerbMark::Be) || self.has(VerbMark::PastBe)
    }
}

impl BeforeVerbs {
    pub(super) fn new(words: &[BeforeVerb], patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let compile = |step: &BeforeVerb| {
            let pattern = format!(r"\s*(?:{})(?:\s+|$)", step.pattern);
            Ok((patterns.start("before_verb", &pattern)?, step.means.clone()))
        };
        Ok(Self { steps: words.iter().map(compile).collect::<Result<_, Refusal>>()? })
    }

    /// Returns the marks and the position of the verb.
    pub(super) fn read(&self, text: &str) -> (Marks, usize) {
        let mut marks = Marks::default();
        let mut at = text.len() - text.trim_start().len();
        for _ in 0..STEPS_MAX {
            let step = self.steps.iter().find_map(|(step, means)| {
                let groups = step.captures(&text[at..])?;
                // The group `next` is a lookahead and is not consumed.
                let end = groups.name("next").map_or(groups.get(0)?.end(), |next| next.start());
                Some((end, means))
            });
            let Some((length, means)) = step.filter(|(length, _)| *length > 0) else { break };
            means.iter().for_each(|mark| marks.set(*mark));
            at += length;
        }
        (marks, at)
    }
}
