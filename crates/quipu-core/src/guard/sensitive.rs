//! Detects sensitive statements, which are stored only with consent.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

/// The built-in patterns.
const FILE: &str = include_str!("sensitive.toml");
/// Size limit of a compiled pattern, in bytes.
const COMPILED_BYTES_MAX: usize = 32 << 20;

/// Categories of statements that are stored only if the user opted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SensitiveKind {
    /// Religion or belief, or its absence.
    Religion,
    /// Sexual orientation or gender identity.
    SexualOrientation,
    /// Political opinion, party or vote.
    PoliticalOpinion,
    /// Membership in a trade union.
    TradeUnion,
    /// Arrests, convictions, prison.
    CriminalRecord,
    /// Race or ethnic origin, but not nationality.
    Ethnicity,
    /// The number of a passport, licence or other official document.
    GovernmentId,
    /// Sex life and comparably private matters.
    Intimate,
    /// Stigmatised illnesses and acts: psychosis, self-harm, addiction, HIV. Other health is not included.
    StigmatisedHealth,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    who: String,
    is: String,
    degree: String,
    end: String,
    party: String,
    kind: Vec<SensitiveWords>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SensitiveWords {
    kind: SensitiveKind,
    #[serde(default)]
    words: Option<String>,
    #[serde(default)]
    phrases: Vec<String>,
    #[serde(default)]
    digits: usize,
}

struct Pattern {
    kind: SensitiveKind,
    digits: usize,
    regex: Regex,
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the words are part of the program and tests read them")]
    parse(FILE).expect("the built-in words are well formed")
});

/// The category of a sensitive statement; the first matching one.
///
/// Conservative: it matches only plain statements about a person, in English. Ordinary health, nationality, and a
/// religion, party or orientation that is only mentioned do not match.
pub fn sensitivity(text: &str) -> Option<SensitiveKind> {
    let lower = text.to_lowercase().replace('’', "'");
    PATTERNS.iter().find(|pattern| pattern.holds(&lower)).map(|pattern| pattern.kind)
}

impl Pattern {
    fn holds(&self, text: &str) -> bool {
        if self.digits == 0 {
            return self.regex.is_match(text);
        }
        let digits = |found: &str| found.bytes().filter(u8::is_ascii_digit).count();
        self.regex.find_iter(text).any(|found| digits(found.as_str()) >= self.digits)
    }
}

/// Compiles one pattern per category.
fn parse(text: &str) -> Result<Vec<Pattern>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let parts = BTreeMap::from([("<<who>>", &file.who), ("<<is>>", &file.is), ("<<party>>", &file.party)]);
    let compile = |words: &SensitiveWords| {
        let statement =
            words.words.iter().map(|w| format!(r"\b(?:{}{}|as an?){} {w}{}", file.who, file.is, file.degree, file.end));
        let mut all: Vec<String> = words.phrases.iter().cloned().chain(statement).collect();
        for pattern in &mut all {
            for (name, part) in &parts {
                *pattern = pattern.replace(name, part);
            }
        }
        let joined = format!("(?:{})", all.join(")|(?:")).replace(r"\b", r"(?-u:\b)");
        let regex = RegexBuilder::new(&joined).size_limit(COMPILED_BYTES_MAX).build();
        let regex = regex.map_err(|error| format!("{:?}: {error}", words.kind))?;
        Ok(Pattern { kind: words.kind, digits: words.digits, regex })
    };
    file.kind.iter().map(compile).collect()
}
