//! Patterns: regular expressions in which `{name}` expands to a macro or a word list.
//!
//! A pattern is compiled only when a text contains words that every match needs, so that reading one sentence does not
//! compile every rule.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::{CaptureMatches, Captures, Match, Matches, Regex, RegexBuilder};

use crate::extract::rules::needles::needles;
use crate::refusal::Refusal;

/// Maximum size of a compiled pattern in bytes.
const SIZE_MAX: usize = 32 << 20;
/// Maximum length of an expanded pattern in bytes.
const SPELLED_MAX: usize = 1 << 19;
/// Maximum nesting depth of macros.
const DEPTH_MAX: usize = 8;
/// Number of byte classes used to index needles by their first two bytes.
const KINDS: usize = 32;
/// Number of bytes of a needle that are compared at once.
const HEAD: usize = 8;

/// What `{name}` may stand for in a pattern: a macro, the words of a list, or the keys of a table.
#[derive(Clone, Copy)]
pub(in crate::extract) struct Names<'a> {
    pub(in crate::extract) macros: &'a BTreeMap<String, String>,
    pub(in crate::extract) lists: &'a BTreeMap<String, Vec<String>>,
    pub(in crate::extract) tables: &'a BTreeMap<String, BTreeMap<String, String>>,
}

/// Expands the patterns of one language.
pub(in crate::extract) struct Patterns<'a> {
    names: Names<'a>,
    /// True to compile every pattern immediately, for validation.
    checks: bool,
    /// Cache of expanded names.
    meanings: RefCell<BTreeMap<String, String>>,
}

/// A pattern that is compiled on first use.
#[derive(Debug, Clone)]
pub(in crate::extract) struct Pattern {
    spelled: String,
    /// Every match contains one of each list, in lower case; empty if unknown.
    needles: Vec<Vec<String>>,
    compiled: OnceLock<Option<Regex>>,
    /// The variant for texts with non-ASCII letters.
    wide: OnceLock<Option<Regex>>,
}

impl<'a> Patterns<'a> {
    pub(in crate::extract) fn new(names: Names<'a>, checks: bool) -> Self {
        Self { names, checks, meanings: RefCell::default() }
    }

    /// Creates a pattern; errors name `owner`.
    pub(in crate::extract) fn one(&self, owner: &str, pattern: &str) -> Result<Pattern, Refusal> {
        let spelled = self.spell(owner, pattern, 0)?;
        let needles = needles(&spelled);
        let pattern = Pattern {
            spelled: spelled.replace('\'', "['’]"),
            needles,
            compiled: OnceLock::new(),
            wide: OnceLock::new(),
        };
        if self.checks {
            pattern.build(false).map_err(|error| wrong(owner, &error.to_string()))?;
        }
        Ok(pattern)
    }

    /// Creates an optional pattern.
    pub(in crate::extract) fn maybe(&self, owner: &str, pattern: Option<&String>) -> Result<Option<Pattern>, Refusal> {
        pattern.map(|pattern| self.one(owner, pattern)).transpose()
    }

    /// Creates a pattern anchored to the beginning.
    pub(in crate::extract) fn start(&self, owner: &str, pattern: &str) -> Result<Pattern, Refusal> {
        self.one(owner, &format!("^(?:{pattern})"))
    }

    /// Creates several patterns with a combined prefilter.
    pub(in crate::extract) fn any(&self, owner: &str, patterns: &[String]) -> Result<AnyOf, Refusal> {
        Ok(AnyOf::of(patterns.iter().map(|pattern| self.one(owner, pattern)).collect::<Result<_, _>>()?))
    }

    fn spell(&self, owner: &str, pattern: &str, depth: usize) -> Result<String, Refusal> {
        let mut spelled = String::with_capacity(pattern.len());
        let mut rest = pattern;
        while let Some((range, name)) = placeholder(rest) {
            spelled.push_str(&rest[..range.start]);
            spelled.push_str(&self.meaning(owner, name, depth)?);
            if spelled.len() > SPELLED_MAX {
                return Err(wrong(owner, "the expanded pattern is too long"));
            }
            rest = &rest[range.end..];
        }
        spelled.push_str(rest);
        Ok(spelled)
    }

    fn meaning(&self, owner: &str, name: &str, depth: usize) -> Result<String, Refusal> {
        if let Some(known) = self.meanings.borrow().get(name) {
            return Ok(known.clone());
        }
        if depth > DEPTH_MAX {
            return Err(wrong(owner, &format!("{{{name}}} refers to itself")));
        }
        let meaning = if let Some(pattern) = self.names.macros.get(name) {
            format!("(?:{})", self.spell(owner, pattern, depth + 1)?)
        } else if let Some(words) = self.names.lists.get(name) {
            either(words.iter().map(String::as_str))
        } else if let Some(table) = self.names.tables.get(name) {
            either(table.keys().map(String::as_str))
        } else {
            return Err(wrong(owner, &format!("unknown name {{{name}}}")));
        };
        self.meanings.borrow_mut().insert(name.to_owned(), meaning.clone());
        Ok(meaning)
    }
}

impl Pattern {
    pub(in crate::extract) fn is_match(&self, text: &str) -> bool {
        self.for_text(text).is_some_and(|regex| regex.is_match(text))
    }

    pub(in crate::extract) fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.for_text(text)?.find(text)
    }

    pub(in crate::extract) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        captures(self.for_text(text)?, text)
    }

    pub(in crate::extract) fn find_iter<'r, 't>(
        &'r self,
        text: &'t str,
    ) -> impl Iterator<Item = Match<'t>> + use<'r, 't> {
        let all = |regex: &'r Regex| -> Matches<'r, 't> { regex.find_iter(text) };
        self.for_text(text).map(all).into_iter().flatten()
    }

    pub(in crate::extract) fn captures_iter<'r, 't>(
        &'r self,
        text: &'t str,
    ) -> impl Iterator<Item = Captures<'t>> + use<'r, 't> {
        let all = |regex: &'r Regex| -> CaptureMatches<'r, 't> { regex.captures_iter(text) };
        self.for_text(text).filter(|regex| regex.is_match(text)).map(all).into_iter().flatten()
    }

    /// Names of the capture groups.
    pub(in crate::extract) fn groups(&self) -> impl Iterator<Item = &str> {
        self.spelled.split("(?P<").skip(1).filter_map(|rest| rest.split_once('>')).map(|(name, _)| name)
    }

    fn build(&self, wide: bool) -> Result<Regex, regex::Error> {
        // An ASCII word boundary is many times faster, but would split "Inês" after "In".
        let spelled = if wide { self.spelled.clone() } else { self.spelled.replace(r"\b", r"(?-u:\b)") };
        RegexBuilder::new(&spelled).case_insensitive(true).size_limit(SIZE_MAX).build()
    }

    /// Returns the compiled pattern if it can match; an invalid pattern never matches.
    fn for_text(&self, text: &str) -> Option<&Regex> {
        let wide = is_wide(text);
        if let Some(compiled) = if wide { self.wide.get() } else { self.compiled.get() } {
            return compiled.as_ref();
        }
        if !self.needles.is_empty() {
            let lower = lower(text);
            if !self.needles.iter().all(|some| some.iter().any(|needle| lower.contains(needle.as_str()))) {
                return None;
            }
        }
        self.regex(wide)
    }

    fn regex(&self, wide: bool) -> Option<&Regex> {
        let compiled = if wide { &self.wide } else { &self.compiled };
        compiled.get_or_init(|| self.build(wide).ok()).as_ref()
    }
}

/// An alternation of the words, longest first.
pub(in crate::extract) fn either<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut words: Vec<String> = words.map(regex::escape).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    format!("(?:{})", words.join("|"))
}

/// Finds the first `{name}` and its range.
fn placeholder(pattern: &str) -> Option<(std::ops::Range<usize>, &str)> {
    let mut from = 0;
    while let Some(open) = pattern[from..].find('{').map(|at| at + from) {
        let rest = &pattern[open + 1..];
        let length = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
        if length > 1 && rest[length..].starts_with('}') {
            return Some((open..open + length + 2, &rest[..length]));
        }
        from = open + 1;
    }
    None
}

/// Returns true if the text has non-ASCII letters.
fn is_wide(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(|c| !c.is_ascii() && c.is_alphabetic())
}

fn lower(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
        return Cow::Owned(text.to_lowercase());
    }
    Cow::Borrowed(text)
}

/// Groups of the first match. `is_match` is far cheaper than allocating groups.
fn captures<'t>(regex: &Regex, text: &'t str) -> Option<Captures<'t>> {
    if regex.is_match(text) { regex.captures(text) } else { None }
}

/// Patterns searched together.
#[derive(Debug, Clone, Default)]
pub(in crate::extract) struct AnyOf {
    each: Vec<Pattern>,
    /// Bit mask of the needs of each pattern.
    needs: Vec<u8>,
    /// Needles by the classes of their first two bytes.
    by_start: Vec<Vec<Needle>>,
}

/// A substring some patterns need.
#[derive(Debug, Clone)]
struct Needle {
    letters: String,
    /// Its first bytes as one number, so that one comparison rejects most candidates.
    head: u64,
    /// Mask of the significant bits of `head`.
    mask: u64,
    /// The patterns, each with the bits of the needs this needle satisfies.
    meets: Vec<(usize, u8)>,
}

impl AnyOf {
    pub(in crate::extract) fn of(each: Vec<Pattern>) -> Self {
        let mut needed: BTreeMap<&str, BTreeMap<usize, u8>> = BTreeMap::new();
        let mut needs = Vec::with_capacity(each.len());
        for (at, pattern) in each.iter().enumerate() {
            let mut all = 0;
            for (bit, some) in pattern.needles.iter().enumerate().map(|(count, some)| (1 << count, some)) {
                all |= bit;
                for needle in some {
                    *needed.entry(needle).or_default().entry(at).or_default() |= bit;
                }
            }
            needs.push(all);
        }
        let mut by_start = vec![Vec::new(); KINDS * KINDS];
        for (needle, meets) in needed {
            let bytes = needle.as_bytes();
            if let [first, second, ..] = bytes {
                let meets = meets.into_iter().collect();
                let mask = u64::MAX >> (HEAD.saturating_sub(bytes.len()) * 8);
                let needle = Needle { letters: needle.to_owned(), head: head(bytes), mask, meets };
                by_start[kinds(*first, *second)].push(needle);
            }
        }
        Self { each, needs, by_start }
    }

    /// Returns the matching patterns in order, with their groups.
    pub(in crate::extract) fn all<'t>(&self, text: &'t str) -> Vec<(usize, Captures<'t>)> {
        self.possible(text).filter_map(|(at, regex)| Some((at, captures(regex, text)?))).collect()
    }

    /// Returns every match of every pattern.
    pub(in crate::extract) fn every<'t>(&self, text: &'t str) -> Vec<(usize, Captures<'t>)> {
        let each = self.possible(text).filter(|(_, regex)| regex.is_match(text));
        each.flat_map(|(at, regex)| regex.captures_iter(text).map(move |groups| (at, groups))).collect()
    }

    /// Indices of the matching patterns.
    pub(in crate::extract) fn which(&self, text: &str) -> impl Iterator<Item = usize> {
        self.possible(text).filter(move |(_, regex)| regex.is_match(text)).map(|(at, _)| at)
    }

    /// The patterns whose needles occur in the text, in order.
    fn possible(&self, text: &str) -> impl Iterator<Item = (usize, &Regex)> {
        let (lower, wide) = (lower(text), is_wide(text));
        let bytes = lower.as_bytes();
        let mut open = self.needs.clone();
        for (from, pair) in bytes.windows(2).enumerate() {
            let rest = &bytes[from..];
            let here = head(rest);
            for needle in &self.by_start[kinds(pair[0], pair[1])] {
                if here & needle.mask == needle.head && rest.starts_with(needle.letters.as_bytes()) {
                    needle.meets.iter().for_each(|(at, met)| open[*at] &= !met);
                }
            }
        }
        let each = self.each.iter().enumerate().zip(open);
        each.filter_map(move |((at, pattern), open)| if open == 0 { Some((at, pattern.regex(wide)?)) } else { None })
    }
}

/// The first bytes as one number.
fn head(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<HEAD>() {
        Some(first) => u64::from_le_bytes(*first),
        None => bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}

/// Index of the needles whose first two bytes are of these classes.
fn kinds(first: u8, second: u8) -> usize {
    let kind = |byte: u8| usize::from(byte) % KINDS;
    kind(first) * KINDS + kind(second)
}

pub(in crate::extract) fn wrong(owner: &str, what: &str) -> Refusal {
    Refusal::invalid(format!("rules: {owner}: {what}"))
}
