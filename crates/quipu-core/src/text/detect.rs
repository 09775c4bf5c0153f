//! Detection of a text's language, as far as its stems depend on it.

use super::language::{Language, LanguageSet};
use super::lists;
use super::scripts::Script;
use super::words;

impl Language {
    /// The language of a question: that of its script, or else the one to which most of its stop words and accented
    /// letters belong. `None` if nothing indicates a language.
    ///
    /// English wins ties, and a single word of another language counts only in a short question: most stop words of one
    /// language are words of others too.
    pub(crate) fn of_question(question: &str) -> Option<Self> {
        Self::find(question, SHORT_WORDS)
    }

    /// As [`Language::of_question`], for a text to be searched: a single word of another language never counts.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        Self::find(text, 0)
    }

    fn find(text: &str, short_words: usize) -> Option<Self> {
        let mut counts = [0usize; Self::ALL.len()];
        let (mut latin, mut other) = (0, 0);
        words::for_each_word(text, &mut String::new(), |lower, _| {
            let Some(first) = lower.chars().find(|c| c.is_alphabetic()) else { return };
            match first {
                '\0'..='\u{024f}' | '\u{1e00}'..='\u{1eff}' => latin += 1,
                '\u{0400}'..='\u{052f}' => counts[Self::Russian as usize] += 1,
                _ if Script::of(first) == Script::Hangul => other += 2,
                _ => other += 1,
            }
            lists::languages_of(lower).each(|language| {
                if language != Self::Russian {
                    counts[language as usize] += 1;
                }
            });
            if !lower.is_ascii() {
                written_with(lower).each(|language| counts[language as usize] += 1);
            }
        });
        // Latin words are names or terms where most of the text is in another script. Characters written without spaces
        // count one by one, and a word has several.
        if other > 2 * latin && other > counts[Self::Russian as usize] {
            return Some(Self::Other);
        }
        if counts[Self::Russian as usize] > latin {
            return Some(Self::Russian);
        }
        counts[Self::Russian as usize] = 0;
        let english = counts[Self::English as usize];
        let best = Self::ALL.into_iter().skip(1).rev().max_by_key(|language| counts[*language as usize])?;
        let count = counts[best as usize];
        if count > english && (count > 1 || latin <= short_words) {
            return Some(best);
        }
        (english > 0 && english >= count).then_some(Self::English)
    }
}

/// Most words of a question in which a single word indicates its language.
const SHORT_WORDS: usize = 5;

/// The languages that write a word with accented letters like this.
fn written_with(lower: &str) -> LanguageSet {
    use Language::{Danish, French, German, Italian, Norwegian, Portuguese, Spanish, Swedish};
    let mut found = LanguageSet::default();
    let mut add = |languages: &[Language]| languages.iter().for_each(|language| found.add(*language));
    for c in lower.chars().filter(|c| !c.is_ascii()) {
        match c {
            'ß' | 'ü' => add(&[German]),
            'ä' | 'ö' => add(&[German, Swedish]),
            'å' => add(&[Swedish, Danish, Norwegian]),
            'ø' | 'æ' => add(&[Danish, Norwegian]),
            'ñ' => add(&[Spanish]),
            'á' | 'í' | 'ó' | 'ú' => add(&[Spanish, Portuguese]),
            'ã' | 'õ' => add(&[Portuguese]),
            'ç' | 'â' | 'ê' | 'ô' => add(&[French, Portuguese]),
            'é' => add(&[French, Spanish, Portuguese]),
            'è' | 'à' | 'ù' => add(&[French, Italian]),
            'î' | 'û' | 'ë' | 'ï' | 'œ' => add(&[French]),
            'ì' | 'ò' => add(&[Italian]),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_stop_words_and_letters() {
        use Language::*;
        let table = [
            ("", None),
            ("12:30", None),
            ("Anna Berlin", None),
            ("My sister lives in Berlin and she was here", Some(English)),
            ("no problem, me too", Some(English)),
            ("The café was nice", Some(English)),
            ("Wo wohnt meine Schwester?", Some(German)),
            ("wann ist das", Some(German)),
            ("Où habite ma sœur ?", Some(French)),
            ("¿Dónde vive mi hermana?", Some(Spanish)),
            ("Onde mora a minha irmã?", Some(Portuguese)),
            ("Dove abita mia sorella adesso? Non lo so più", Some(Italian)),
            ("Waar woont mijn zus en hoe heet ze?", Some(Dutch)),
            ("Var bor min syster och vad heter hon?", Some(Swedish)),
            ("Где живёт моя сестра?", Some(Russian)),
            ("妹はどこに住んでいますか", Some(Other)),
            ("我妹妹住在Berlin", Some(Other)),
            ("내 동생은 어디에 살아?", Some(Other)),
            ("น้องสาวอยู่ที่ไหน", Some(Other)),
        ];
        for (text, expected) in table {
            assert_eq!(Language::of_question(text), expected, "{text:?}");
        }
        for (text, expected) in
            [("See ya!", None), ("Go get 'em, Jon!", None), ("wann ist das", Some(German)), ("東京", Some(Other))]
        {
            assert_eq!(Language::of_text(text), expected, "{text:?}");
        }
    }
}
