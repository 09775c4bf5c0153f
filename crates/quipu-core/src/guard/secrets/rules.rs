//! The rules of `secrets.toml`, compiled once.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;

/// The built-in rules.
const FILE: &str = include_str!("../secrets.toml");
/// Size limit of a compiled pattern and its lazy automaton, in bytes.
const COMPILED_BYTES_MAX: usize = 32 << 20;

/// The check applied to a match.
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

/// The rules and the word lists of their checks.
pub(super) struct SecretRules {
    /// Prefilter: most texts match no pattern and are not checked further.
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

    /// The kind of a rule.
    pub(super) fn kind(&self, rule: usize) -> &str {
        &self.file.rule[rule].kind
    }

    /// True for a placeholder in an example or template.
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

    /// True for a word that names another kind of number than a card or a social security number.
    pub(super) fn is_number_word(&self, word: &str) -> bool {
        self.file.numbers.contains(&word.to_lowercase())
    }

    pub(super) fn is_card_word(&self, word: &str) -> bool {
        self.file.cards.contains(&word.to_lowercase())
    }

    pub(super) fn is_open_key(&self, word: &str) -> bool {
        self.file.open_keys.contains(&word.to_lowercase())
    }

    /// Length of an IBAN of this country.
    pub(super) fn iban_length(&self, country: &str) -> Option<usize> {
        self.file.iban.get(country).copied()
    }
}

/// Expands the parts of a pattern and uses the ASCII word boundary, which the fast automaton supports for any text.
fn spell_out(pattern: &str, parts: &BTreeMap<String, String>) -> String {
    let mut spelled = pattern.to_owned();
    for (name, part) in parts {
        spelled = spelled.replace(&format!("<<{name}>>"), part);
    }
    spelled.replace(r"\b", r"(?-u:\b)")
}
