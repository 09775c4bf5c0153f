//! A table of rules with several patterns each, searched together.

use regex::Captures;

use crate::extract::rules::pattern::{AnyOf, Pattern};

/// Rules with a combined search over their patterns.
#[derive(Debug)]
pub(in crate::extract) struct RuleTable<T> {
    pub(in crate::extract) rules: Vec<T>,
    /// The rule of each pattern.
    owners: Vec<usize>,
    pub(in crate::extract) patterns: AnyOf,
}

impl<T> RuleTable<T> {
    /// Creates a table of rules with their patterns.
    pub(in crate::extract) fn new(rules: Vec<(T, Vec<Pattern>)>) -> Self {
        let owners = rules.iter().enumerate().flat_map(|(at, (_, patterns))| vec![at; patterns.len()]).collect();
        let (rules, patterns): (Vec<T>, Vec<Vec<Pattern>>) = rules.into_iter().unzip();
        Self { rules, owners, patterns: AnyOf::of(patterns.into_iter().flatten().collect()) }
    }

    /// The rule of a pattern.
    pub(in crate::extract) fn rule(&self, pattern: usize) -> Option<&T> {
        self.rules.get(*self.owners.get(pattern)?)
    }

    /// The rules whose patterns match, in pattern order, with the first match of each.
    pub(in crate::extract) fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = (&T, Captures<'t>)> {
        self.patterns.all(text).into_iter().filter_map(|(at, groups)| Some((self.rule(at)?, groups)))
    }

    /// Like [`Self::all`], with every match.
    pub(in crate::extract) fn every<'t>(&self, text: &'t str) -> impl Iterator<Item = (&T, Captures<'t>)> {
        self.patterns.every(text).into_iter().filter_map(|(at, groups)| Some((self.rule(at)?, groups)))
    }
}
