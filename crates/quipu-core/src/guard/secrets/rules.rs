//! The rules of `secrets.toml`, compiled once.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;

/// What comes with Quipu.
const FILE: &str = include_str!("../secrets.toml");
/// Bytes a compiled pattern and its lazily built automaton may take.
const COMPILED_BYTES_MAX: usize = 32 << 20;

/// What decides, beside the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Check {
    Shape,
    Pem,
    Card,
    Iban,
    Ssn,
    Password,
    Login,
    Key,
    LongKey,
    Pin,
    Phrase,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    kind: String,
    check: Check,
    pattern: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    placeholders: HashSet<String>,
    placeholder_parts: Vec<String>,
    prose: HashSet<String>,
    connectors: HashSet<String>,
    function_words: HashSet<String>,
    numbers: HashSet<String>,
    cards: HashSet<String>,
    open_keys: HashSet<String>,
    iban: BTreeMap<String, usize>,
    part: BTreeMap<String, String>,
    rule: Vec<Rule>,
}

/// The rules, and the words their checks need.
pub(super) struct SecretRules {
    /// Which patterns occur at all; most texts have none and go no further.
    pub(super) set: RegexSet,
    pub(super) compiled: Vec<(Check, Regex)>,
    file: File,
}

pub(super) static RULES: LazyLock<SecretRules> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the rules are part of the program and tests read them")]
    SecretRules::parse(FILE).expect("the built-in rules are well formed")
});

impl SecretRules {
    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let patterns: Vec<String> = file.rule.iter().map(|rule| spell_out(&rule.pattern, &file.part)).collect();
        let set = RegexSetBuilder::new(&patterns)
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(COMPILED_BYTES_MAX)
            .build()
            .map_err(|error| error.to_string())?;
        let compile = |(rule, pattern): (&Rule, &String)| {
            let regex = RegexBuilder::new(pattern).size_limit(COMPILED_BYTES_MAX).build();
            regex.map(|regex| (rule.check, regex)).map_err(|error| format!("{}: {error}", rule.kind))
        };
        let compiled = file.rule.iter().zip(&patterns).map(compile).collect::<Result<_, _>>()?;
        Ok(Self { set, compiled, file })
    }

    /// The kind a rule finds.
    pub(super) fn kind(&self, rule: usize) -> &str {
        &self.file.rule[rule].kind
    }

    /// True for what stands for a secret in examples and templates.
    pub(super) fn is_placeholder(&self, value: &str) -> bool {
        let lower = value.to_lowercase();
        let plain = lower.trim_matches(|c: char| !c.is_alphanumeric());
        let mut chars = plain.chars();
        let first = chars.next();
        first.is_none()
            || (plain.len() >= 3 && chars.all(|c| Some(c) == first))
            || value.starts_with(['$', '%', '{', '<', '@', '&'])
                && !value.chars().skip(1).any(|c| c.is_ascii_digit() || "!#^*?".contains(c))
            || value.starts_with("${")
            || value.starts_with("{{")
            || self.file.placeholders.contains(plain)
            || self.file.placeholder_parts.iter().any(|part| lower.contains(part.as_str()))
    }

    pub(super) fn is_prose(&self, word: &str) -> bool {
        self.file.prose.contains(&word.to_lowercase())
    }

    pub(super) fn is_connector(&self, word: &str) -> bool {
        self.file.connectors.contains(&word.to_lowercase())
    }

    pub(super) fn is_function_word(&self, word: &str) -> bool {
        self.file.function_words.contains(&word.to_lowercase())
    }

    /// True for a word which says that the number after it is no card and no social security number.
    pub(super) fn is_number_word(&self, word: &str) -> bool {
        self.file.numbers.contains(&word.to_lowercase())
    }

    pub(super) fn is_card_word(&self, word: &str) -> bool {
        self.file.cards.contains(&word.to_lowercase())
    }

    pub(super) fn is_open_key(&self, word: &str) -> bool {
        self.file.open_keys.contains(&word.to_lowercase())
    }

    /// Characters of an IBAN of this country.
    pub(super) fn iban_length(&self, country: &str) -> Option<usize> {
        self.file.iban.get(country).copied()
    }
}

/// The pattern with its parts in place, and the ASCII word boundary, which keeps the fast automaton on any text.
fn spell_out(pattern: &str, parts: &BTreeMap<String, String>) -> String {
    let mut spelled = pattern.to_owned();
    for (name, part) in parts {
        spelled = spelled.replace(&format!("<<{name}>>"), part);
    }
    spelled.replace(r"\b", r"(?-u:\b)")
}
