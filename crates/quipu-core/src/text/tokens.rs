//! Splits a text into search terms.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::language::Language;
use super::lists::{self, SAME};
use super::scripts::Script;
use super::stem;
use super::words::for_each_word;

/// Returns true for English words too common to search for; expects lower case.
pub(crate) fn is_stop_word(word: &str) -> bool {
    lists::languages_of(word).has(Language::English)
}

/// A word of a text with its position: lower case, without possessive 's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextToken {
    pub(crate) lower: String,
    /// Start of the word in bytes.
    pub(crate) start: usize,
    /// End of the word, without possessive 's.
    pub(crate) end: usize,
    /// End of the word, including possessive 's.
    pub(crate) end_possessive: usize,
}

impl TextToken {
    pub(crate) fn is_possessive(&self) -> bool {
        self.end_possessive > self.end
    }
}

/// Calls `each` with every term of an English text: lower-case words without stop words, synonyms replaced by the
/// canonical one (`languages/en/synonyms.toml`), stemmed by Porter2. See [`for_each_term_in`].
pub(crate) fn for_each_term(text: &str, each: impl FnMut(&str)) {
    for_each_term_in(text, Language::English, each);
}

/// Calls `each` with every term of a text in `language`: lower-case words without its stop words, stemmed.
///
/// A word is a run of letters and digits with their marks. In scripts without spaces each pair of neighbouring
/// characters is a term, and each Chinese character; in Korean each pair of syllables of a word without its particle.
pub(crate) fn for_each_term_in(text: &str, language: Language, mut each: impl FnMut(&str)) {
    for_each_content_word_in(text, language, |word| each(&term_in(word, language)));
}

/// Calls `each` with every lower-case word of an English text that is not a stop word, unstemmed. [`term`] converts it
/// to a term.
pub(crate) fn for_each_content_word(text: &str, each: impl FnMut(&str)) {
    for_each_content_word_in(text, Language::English, each);
}

fn for_each_content_word_in(text: &str, language: Language, mut each: impl FnMut(&str)) {
    let mut content = ContentWords::new(language);
    for_each_word(text, &mut String::new(), |lower, span| content.next(lower, span.start..span.end, &mut each));
}

/// Converts consecutive words of a text into content words, which [`term_in`] converts to terms.
#[derive(Debug)]
pub(crate) struct ContentWords {
    language: Language,
    /// The preceding word of a script without spaces, and its end.
    before: Option<(String, usize)>,
}

impl ContentWords {
    pub(crate) fn new(language: Language) -> Self {
        Self { language, before: None }
    }

    /// Calls `each` with the content words that a word completes. Words are given in order, with their bytes.
    pub(crate) fn next(&mut self, lower: &str, place: Range<usize>, each: &mut impl FnMut(&str)) {
        let before = self.before.take();
        match Script::of_word(lower) {
            Script::Spaced => {
                if !lists::languages_of(lower).has(self.language) {
                    each(lower);
                }
            }
            Script::Hangul => syllable_pairs(lower, each),
            script => {
                if let Some((mut pair, end)) = before
                    && end == place.start
                {
                    pair.push_str(lower);
                    let is_common = lists::is_common_pair(&pair);
                    if !is_common {
                        each(&pair);
                    }
                }
                if script == Script::Han && !lists::is_common_pair(lower) {
                    each(lower);
                }
                self.before = Some((lower.to_owned(), place.end));
            }
        }
    }
}

/// Calls `each` with the pairs of syllables of a Korean word without its particle, or with its only syllable.
fn syllable_pairs(lower: &str, each: &mut impl FnMut(&str)) {
    if lists::is_common_pair(lower) {
        return;
    }
    let word = lists::without_particle(lower);
    let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
    let pairs = starts.windows(3).map(|at| &word[at[0]..at[2]]);
    let single = (starts.len() == 2).then_some(word);
    pairs.chain(single).filter(|unit| !lists::is_common_pair(unit)).for_each(each);
}

/// The term of a lower-case content word of an English text.
pub(crate) fn term(lower: &str) -> Cow<'_, str> {
    term_in(lower, Language::English)
}

/// The term of a lower-case content word of a text in `language`.
pub(crate) fn term_in(lower: &str, language: Language) -> Cow<'_, str> {
    match language {
        Language::English | Language::Other => stem::stem(plain(lower), language),
        _ => stem::stem(lower, language),
    }
}

/// The canonical synonym of a lower-case word: "mother" for "mum".
pub(crate) fn plain(word: &str) -> &str {
    SAME.get(word).map_or(word, String::as_str)
}

/// All synonyms of a word, including itself, in alphabetical order.
pub(crate) fn spellings(word: &str) -> Vec<&str> {
    let first = plain(word);
    let mut all: Vec<&str> =
        SAME.iter().filter(|(_, stands)| *stands == first).map(|(word, _)| word.as_str()).collect();
    all.push(first);
    all.sort_unstable();
    all
}

/// The distinct terms of a text, as recall compares them.
pub fn terms(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    for_each_term(text, |term| {
        terms.insert(term.to_owned());
    });
    terms
}

/// The term of a word; `None` for a stop word.
pub(crate) fn term_of(lower: &str) -> Option<String> {
    let mut term = None;
    for_each_term(lower, |found| term = Some(found.to_owned()));
    term
}

/// Returns true if these words occur consecutively in this order.
pub(crate) fn has_phrase(words: &[TextToken], phrase: &[&str]) -> bool {
    !phrase.is_empty()
        && words.windows(phrase.len()).any(|run| run.iter().zip(phrase).all(|(word, wanted)| word.lower == *wanted))
}

/// The words of a text, including stop words.
pub(crate) fn words(text: &str) -> Vec<TextToken> {
    let mut words = Vec::new();
    for_each_word(text, &mut String::new(), |lower, span| {
        words.push(TextToken {
            lower: lower.to_owned(),
            start: span.start,
            end: span.end,
            end_possessive: span.end_possessive,
        });
    });
    words
}

#[cfg(test)]
mod tests {
    use super::super::words::TERM_BYTES_MAX;
    use super::*;

    #[test]
    fn texts_become_terms() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("The of and", &[]),
            ("Running runs RAN", &["run", "run", "ran"]),
            ("my sis, my mum's flat", &["sister", "mother", "flat"]),
            ("Anna's dog, the dogs' bowl", &["anna", "dog", "dog", "bowl"]),
            ("Anna\u{2019}s cat", &["anna", "cat"]),
            ("don't we'll I've", &[]),
            ("it's 5'start", &["5", "start"]),
            ("C3PO at 10:30", &["c3po", "10", "30"]),
            ("LGBTQ+ support-group", &["lgbtq", "support", "group"]),
            ("Überraschung in Köln", &["uberraschung", "koln"]),
            ("Привет, МИР", &["привет", "мир"]),
            ("東京タワー", &["東", "東京", "京", "京タ", "タワ", "ワー"]),
            ("cafe\u{301} café", &["cafe", "cafe"]),
            ("🎉 party 🎉", &["parti"]),
        ];
        for (text, expected) in table {
            let mut terms = Vec::new();
            for_each_term(text, |term| terms.push(term.to_owned()));
            assert_eq!(&terms, expected, "{text:?}");
        }
    }

    #[test]
    fn terms_follow_the_language() {
        use Language::*;
        let table: &[(Language, &str, &[&str])] = &[
            (German, "Wir feiern die Geburtstage, die Straßen", &["feiern", "geburtstag", "strass"]),
            (German, "die Strassen im Café", &["strass", "cafe"]),
            (French, "J'ai adopté des chatons à Montréal", &["adopt", "chaton", "montreal"]),
            (Spanish, "las canciones, una cancion, canción", &["cancion", "cancion", "cancion"]),
            (Portuguese, "Onde estão os cachorros da minha irmã?", &["cachorr", "irma"]),
            (Russian, "Где мои книги? Книга в Berlin", &["книг", "книг", "berlin"]),
            (Other, "서울에서 만난 고양이가", &["서울", "만난", "고양", "양이"]),
            (Other, "차를", &["차"]),
            (Other, "Berlin에서 3월", &["berlin", "에서", "3", "월"]),
            (Other, "\u{1109}\u{1165}\u{110b}\u{116e}\u{11af}\u{110b}\u{1166}\u{1109}\u{1165}", &["서울"]),
            (French, "ou\u{300} est-il ne\u{301}", &["ne"]),
            (Other, "犬を飼う", &["犬", "犬を", "を飼", "飼", "飼う"]),
            (Other, "お茶 Running", &["お茶", "茶", "run"]),
            // NFKC writes the last vowel as two characters.
            (Other, "แม่น้ำ", &["แม่", "ม่น้", "น้\u{e4d}า"]),
            (Other, "कार्यक्रम", &["कार्यक्रम"]),
        ];
        for (language, text, expected) in table {
            let mut terms = Vec::new();
            for_each_term_in(text, *language, |term| terms.push(term.to_owned()));
            assert_eq!(&terms, expected, "{text:?}");
        }
    }

    #[test]
    fn words_know_where_they_stand() {
        let text = "Is Zoë's café open?";
        let found: Vec<_> =
            words(text).into_iter().map(|w| (text[w.start..w.end].to_owned(), w.is_possessive())).collect();
        assert_eq!(
            found,
            [("Is", false), ("Zoë", true), ("café", false), ("open", false)].map(|(w, p)| (w.to_owned(), p))
        );
    }

    #[test]
    fn endless_words_are_cut() {
        let mut longest = 0;
        for_each_term(&"x".repeat(10_000), |term| longest = longest.max(term.len()));
        assert!((32..=TERM_BYTES_MAX).contains(&longest));
    }
}
