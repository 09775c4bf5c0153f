//! Lists of words as data.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use super::language::{Language, LanguageSet};

type Lists = BTreeMap<String, Vec<String>>;

fn lists(text: &str) -> Lists {
    #[expect(clippy::expect_used, reason = "the lists are part of the program and a test reads them")]
    toml::from_str(text).expect("a well-formed list")
}

static MORE: LazyLock<Lists> = LazyLock::new(|| lists(include_str!("../languages/stop_words.toml")));

/// Scripts whose frequent character pairs are listed instead of words.
const UNSPACED: [&str; 4] = ["zh", "ja", "ko", "th"];

/// Stop words with the languages they belong to: the NLTK lists, extended. The longer ISO list of English loses two
/// points of recall at 10 on LoCoMo, because it contains words people search for.
static STOP_WORDS: LazyLock<FxHashMap<String, LanguageSet>> = LazyLock::new(|| {
    let mut words: FxHashMap<String, LanguageSet> = FxHashMap::default();
    for language in Language::ALL {
        let Some(code) = language.code() else { continue };
        let listed = stop_words::lookup(code).unwrap_or_default().iter().map(|word| (*word).to_owned());
        for word in listed.chain(MORE.get(code).into_iter().flatten().cloned()) {
            words.entry(word).or_default().add(language);
        }
    }
    words
});

/// Character pairs and syllables that are too common to search for.
static COMMON_PAIRS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    let listed = UNSPACED.iter().filter_map(|code| MORE.get(*code));
    listed.flatten().map(String::as_str).collect()
});

/// The languages in which a lower-case word is a stop word.
pub(super) fn languages_of(lower: &str) -> LanguageSet {
    STOP_WORDS.get(lower).copied().unwrap_or_default()
}

/// Returns true for a pair of characters, a character or a Korean syllable that is too common to search for.
pub(super) fn is_common_pair(unit: &str) -> bool {
    COMMON_PAIRS.contains(unit)
}

static PARTICLES: LazyLock<Vec<String>> =
    LazyLock::new(|| lists(include_str!("../languages/particles.toml")).remove("ko").unwrap_or_default());

/// A Korean word without the particle at its end.
pub(super) fn without_particle(word: &str) -> &str {
    let cut = |particle: &String| word.strip_suffix(particle.as_str()).filter(|rest| !rest.is_empty());
    PARTICLES.iter().find_map(cut).unwrap_or(word)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Synonyms {
    same: Vec<Vec<String>>,
}

/// English words with their canonical synonym.
pub(super) static SAME: LazyLock<FxHashMap<String, String>> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the list is part of the program and a test reads it")]
    let Synonyms { same } = toml::from_str(include_str!("../languages/en/synonyms.toml")).expect("a well-formed list");
    let pairs = |line: Vec<String>| {
        let first = line.first().cloned().unwrap_or_default();
        line.into_iter().skip(1).map(move |word| (word, first.clone())).collect::<Vec<_>>()
    };
    same.into_iter().flat_map(pairs).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_lists() {
        for language in Language::ALL {
            let Some(code) = language.code() else { continue };
            assert!(stop_words::lookup(code).is_some_and(|list| list.len() > 80), "{code}");
            assert!(MORE.contains_key(code), "{code}");
        }
        let known = |code: &String| {
            UNSPACED.contains(&code.as_str()) || Language::ALL.iter().any(|one| one.code() == Some(code.as_str()))
        };
        assert!(MORE.keys().all(known));
        assert!(!SAME.is_empty());
        assert!(PARTICLES.windows(2).all(|pair| pair[0].chars().count() >= pair[1].chars().count()));
    }
}
