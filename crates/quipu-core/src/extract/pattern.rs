//! Patterns: regular expressions in which `{name}` stands for a macro or a word list.

use regex::{Captures, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::language::Language;
use crate::refusal::Refusal;

/// Memory a compiled pattern may take.
const SIZE_MAX: usize = 32 << 20;
/// Macros stand in macros at most so deep.
const DEPTH_MAX: usize = 8;

/// Compiles the patterns of one language.
pub(super) struct Patterns<'a> {
    language: &'a Language,
}

impl<'a> Patterns<'a> {
    pub(super) fn new(language: &'a Language) -> Self {
        Self { language }
    }

    /// One pattern; `owner` is named if it is wrong.
    pub(super) fn one(&self, owner: &str, pattern: &str) -> Result<Regex, Refusal> {
        let spelled = self.spell(owner, pattern)?;
        let built = RegexBuilder::new(&spelled).case_insensitive(true).size_limit(SIZE_MAX).build();
        built.map_err(|error| wrong(owner, &error.to_string()))
    }

    /// One pattern that must match at the beginning.
    pub(super) fn start(&self, owner: &str, pattern: &str) -> Result<Regex, Refusal> {
        self.one(owner, &format!("^(?:{pattern})"))
    }

    /// Several patterns with one search to tell which of them match at all.
    pub(super) fn any(&self, owner: &str, patterns: &[String]) -> Result<AnyOf, Refusal> {
        AnyOf::of(owner, patterns.iter().map(|pattern| self.one(owner, pattern)).collect::<Result<_, _>>()?)
    }

    fn spell(&self, owner: &str, pattern: &str) -> Result<String, Refusal> {
        let mut spelled = pattern.to_owned();
        for _ in 0..DEPTH_MAX {
            let Some((range, name)) = placeholder(&spelled) else { break };
            let meaning = self.meaning(&name).ok_or_else(|| wrong(owner, &format!("nothing is called {{{name}}}")))?;
            spelled.replace_range(range, &meaning);
            while let Some((range, name)) = placeholder(&spelled) {
                let Some(meaning) = self.meaning(&name) else { break };
                if spelled.len() > SIZE_MAX / 64 {
                    return Err(wrong(owner, "the pattern grows without end"));
                }
                spelled.replace_range(range, &meaning);
            }
        }
        if let Some((_, name)) = placeholder(&spelled) {
            return Err(wrong(owner, &format!("nothing is called {{{name}}}")));
        }
        // A word boundary between ASCII letters is enough and many times faster; both apostrophes are one.
        Ok(spelled.replace(r"\b", r"(?-u:\b)").replace('\'', "['’]"))
    }

    fn meaning(&self, name: &str) -> Option<String> {
        if let Some(pattern) = self.language.macros.get(name) {
            return Some(format!("(?:{pattern})"));
        }
        if let Some(words) = self.language.lists.get(name) {
            return Some(either(words.iter().map(String::as_str)));
        }
        let table = self.language.tables.get(name)?;
        Some(either(table.keys().map(String::as_str)))
    }
}

/// Any of the words, the longest first.
pub(super) fn either<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut words: Vec<String> = words.map(regex::escape).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    format!("(?:{})", words.join("|"))
}

/// The first `{name}` and where it stands.
fn placeholder(pattern: &str) -> Option<(std::ops::Range<usize>, String)> {
    let mut from = 0;
    while let Some(open) = pattern[from..].find('{').map(|at| at + from) {
        let name: String = pattern[open + 1..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
        let end = open + 1 + name.len();
        if name.len() > 1 && pattern[end..].starts_with('}') {
            return Some((open..end + 1, name));
        }
        from = open + 1;
    }
    None
}

/// Patterns searched together.
#[derive(Debug, Clone, Default)]
pub(super) struct AnyOf {
    set: RegexSet,
    each: Vec<Regex>,
}

impl AnyOf {
    pub(super) fn of(owner: &str, each: Vec<Regex>) -> Result<Self, Refusal> {
        let spelled = each.iter().map(Regex::as_str);
        let set = RegexSetBuilder::new(spelled).case_insensitive(true).size_limit(SIZE_MAX).build();
        Ok(Self { set: set.map_err(|error| wrong(owner, &error.to_string()))?, each })
    }

    /// The patterns that match, in their order, with their groups.
    pub(super) fn all<'t>(&self, text: &'t str) -> Vec<(usize, Captures<'t>)> {
        let matching = self.set.matches(text);
        matching.iter().filter_map(|at| Some((at, self.each.get(at)?.captures(text)?))).collect()
    }

    /// Every match of every pattern.
    pub(super) fn every<'t>(&self, text: &'t str) -> Vec<(usize, Captures<'t>)> {
        let matching = self.set.matches(text);
        let each = matching.iter().filter_map(|at| Some((at, self.each.get(at)?)));
        each.flat_map(|(at, pattern)| pattern.captures_iter(text).map(move |groups| (at, groups))).collect()
    }

    /// Which of them match.
    pub(super) fn which(&self, text: &str) -> impl Iterator<Item = usize> {
        self.set.matches(text).into_iter()
    }
}

pub(super) fn wrong(owner: &str, what: &str) -> Refusal {
    Refusal::invalid(format!("rules: {owner}: {what}"))
}
