//! In-memory BM25 over passages and whole sessions, with a shared vocabulary.

use std::collections::{BTreeMap, HashMap};

use crate::text::language::Language;
use crate::text::tokens;

/// BM25 parameters: saturation of repeated terms, and length normalisation (Robertson and Zaragoza 2009, §3).
const K1: f32 = 0.9;
const B: f32 = 0.4;

/// See [`WordIndex::languages`].
const LANGUAGE_SHARE: u32 = 20;

/// Upper bound of a normalised score: the limit of the term frequency factor.
pub(in crate::recall) const SCORE_MAX: f32 = K1 + 1.0;

/// Occurrences of a term in a text. Packed, because postings are half of the memory of a word index.
#[repr(C, packed(2))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recall) struct Posting {
    /// Number of the passage or session.
    pub(in crate::recall) text: u32,
    /// Saturates at the maximum; repetition has no effect long before.
    pub(in crate::recall) count: u16,
}

/// A collection of texts: the passages, or the sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::recall) struct Texts {
    /// One list per term, ascending by text.
    pub(in crate::recall) postings: Vec<Vec<Posting>>,
    /// Number of terms of each text.
    pub(in crate::recall) lengths: Vec<u32>,
    /// Sum of `lengths`.
    pub(in crate::recall) length_sum: u64,
}

/// Statistics of a query term.
#[derive(Debug, Clone, Default)]
pub(in crate::recall) struct TermFigure {
    pub(in crate::recall) idf: f32,
    /// Number of texts that contain it.
    pub(in crate::recall) texts: u32,
}

impl Texts {
    /// Adds a term's count to a text. Any text may grow; a new text is usually the last.
    fn count(&mut self, term: u32, text: u32, count: u32) {
        let list = &mut self.postings[term as usize];
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        match list.last_mut() {
            Some(last) if last.text == text => last.count = last.count.saturating_add(count),
            Some(last) if last.text > text => match list.binary_search_by_key(&text, |posting| posting.text) {
                Ok(at) => list[at].count = list[at].count.saturating_add(count),
                Err(at) => list.insert(at, Posting { text, count }),
            },
            _ => list.push(Posting { text, count }),
        }
    }

    /// Removes a term's count from a text.
    fn discount(&mut self, term: u32, text: u32, count: u32) {
        let list = &mut self.postings[term as usize];
        let Ok(at) = list.binary_search_by_key(&text, |posting| posting.text) else { return };
        list[at].count = list[at].count.saturating_sub(u16::try_from(count).unwrap_or(u16::MAX));
        if list[at].count == 0 {
            list.remove(at);
        }
    }

    /// `ln(1 + (N − df + ½) / (df + ½))`, never negative; an unknown term has df = 0. Stems of a word in several languages
    /// occur in different texts, so their numbers of texts add up.
    fn figure(&self, stems: &[u32]) -> TermFigure {
        let texts: usize = stems.iter().map(|&term| self.postings[term as usize].len()).sum();
        let texts = texts.min(self.lengths.len());
        let (all, having) = (self.lengths.len() as f64, texts as f64);
        TermFigure { idf: (1.0 + (all - having + 0.5) / (having + 0.5)).ln() as f32, texts: texts as u32 }
    }

    /// BM25 of every text divided by the sum of the terms' idf, so that it lies in 0 … [`SCORE_MAX`] for any query.
    ///
    /// Each term of the query is given by its stems; any of them matches.
    fn score(&self, terms: &[Vec<u32>]) -> (Vec<f32>, Vec<TermFigure>) {
        let figures: Vec<TermFigure> = terms.iter().map(|stems| self.figure(stems)).collect();
        let idf_sum: f32 = figures.iter().map(|figure| figure.idf).sum();
        let mut scores = vec![0.0; self.lengths.len()];
        if idf_sum <= 0.0 || self.length_sum == 0 {
            return (scores, figures);
        }
        let slope = (f64::from(K1 * B) * self.lengths.len() as f64 / self.length_sum as f64) as f32;
        for (stems, figure) in terms.iter().zip(&figures) {
            let weight = figure.idf / idf_sum * (K1 + 1.0);
            for posting in stems.iter().flat_map(|&term| &self.postings[term as usize]) {
                let length = self.lengths[posting.text as usize] as f32;
                let count = f32::from(posting.count);
                scores[posting.text as usize] += weight * count / (count + K1 * (1.0 - B) + slope * length);
            }
        }
        (scores, figures)
    }

    fn bytes(&self) -> usize {
        let lists: usize = self.postings.iter().map(|list| list.capacity() * size_of::<Posting>()).sum();
        lists + self.postings.capacity() * size_of::<Vec<Posting>>() + self.lengths.capacity() * 4
    }
}

/// The words of all passages and sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::recall) struct WordIndex {
    /// Every term and its number, in order of first appearance.
    pub(in crate::recall) terms: HashMap<Box<str>, u32>,
    pub(in crate::recall) passages: Texts,
    pub(in crate::recall) sessions: Texts,
    /// Number of texts added in each language, in the order of [`Language::ALL`]; replaced ones count too.
    pub(in crate::recall) languages: [u32; Language::ALL.len()],
}

/// Further stems by which a term is searched: those of its word in the other languages of the index.
pub(in crate::recall) type OtherStems = BTreeMap<String, Vec<String>>;

/// The scores of one query.
pub(in crate::recall) struct WordScores {
    /// By passage, 0 … [`SCORE_MAX`].
    pub(in crate::recall) passages: Vec<f32>,
    /// By session, 0 … [`SCORE_MAX`].
    pub(in crate::recall) sessions: Vec<f32>,
    /// By query term, over the passages.
    pub(in crate::recall) figures: Vec<TermFigure>,
}

impl WordIndex {
    /// Adds the next passage and extends its session. A session's number is an existing one or the next.
    pub(in crate::recall) fn add(&mut self, session: Option<u32>, text: &str, language: Language) {
        self.languages[language as usize] += 1;
        let terms = self.terms_of(text, language);
        let passage = self.passages.lengths.len() as u32;
        let length = terms.len() as u32;
        self.passages.lengths.push(length);
        self.passages.length_sum += u64::from(length);
        if let Some(session) = session {
            let sessions = &mut self.sessions;
            sessions.lengths.resize(sessions.lengths.len().max(session as usize + 1), 0);
            sessions.lengths[session as usize] += length;
            sessions.length_sum += u64::from(length);
        }
        for same in terms.chunk_by(|a, b| a == b) {
            self.passages.count(same[0], passage, same.len() as u32);
            if let Some(session) = session {
                self.sessions.count(same[0], session, same.len() as u32);
            }
        }
    }

    /// Replaces the text of a passage without a session. `terms` are its current terms and become the new ones. The
    /// result is as if the passage had always had the new text.
    pub(in crate::recall) fn replace(&mut self, passage: u32, terms: &mut Box<[u32]>, text: &str, language: Language) {
        self.languages[language as usize] += 1;
        for same in terms.chunk_by(|a, b| a == b) {
            self.passages.discount(same[0], passage, same.len() as u32);
        }
        self.passages.length_sum -= terms.len() as u64;
        *terms = self.terms_of(text, language).into();
        self.passages.lengths[passage as usize] = terms.len() as u32;
        self.passages.length_sum += terms.len() as u64;
        for same in terms.chunk_by(|a, b| a == b) {
            self.passages.count(same[0], passage, same.len() as u32);
        }
    }

    /// Numbers of a text's terms, ascending, with repetitions.
    pub(in crate::recall) fn terms_of(&mut self, text: &str, language: Language) -> Vec<u32> {
        let mut terms = Vec::new();
        tokens::for_each_term_in(text, language, |term| terms.push(self.intern(term)));
        terms.sort_unstable();
        terms
    }

    fn intern(&mut self, term: &str) -> u32 {
        if let Some(&number) = self.terms.get(term) {
            return number;
        }
        let number = self.terms.len() as u32;
        self.terms.insert(term.into(), number);
        self.passages.postings.push(Vec::new());
        self.sessions.postings.push(Vec::new());
        number
    }

    /// The languages of at least one text in [`LANGUAGE_SHARE`]. Stems of a language that hardly occurs, or was detected
    /// in error, would match other words.
    pub(in crate::recall) fn languages(&self) -> impl Iterator<Item = Language> {
        let all: u32 = self.languages.iter().sum();
        let counted = Language::ALL.into_iter().zip(self.languages);
        counted
            .filter(move |(_, texts)| *texts > 0 && texts.saturating_mul(LANGUAGE_SHARE) >= all)
            .map(|(language, _)| language)
    }

    /// The language of most texts; English if there are none.
    pub(in crate::recall) fn main_language(&self) -> Language {
        let counted = Language::ALL.into_iter().zip(self.languages).rev();
        counted.max_by_key(|(_, texts)| *texts).map_or(Language::English, |(language, _)| language)
    }

    /// Scores every passage and session for a query's distinct terms.
    pub(in crate::recall) fn score(&self, terms: &[String], others: &OtherStems) -> WordScores {
        let number = |term: &String| self.terms.get(term.as_str()).copied();
        let numbers: Vec<Vec<u32>> = terms
            .iter()
            .map(|term| number(term).into_iter().chain(others.get(term).into_iter().flatten().filter_map(number)))
            .map(Iterator::collect)
            .collect();
        let (passages, figures) = self.passages.score(&numbers);
        let (sessions, _) = self.sessions.score(&numbers);
        WordScores { passages, sessions, figures }
    }

    /// Bytes in memory, estimated from capacities.
    pub(in crate::recall) fn bytes(&self) -> usize {
        let vocabulary = self.terms.capacity() * (size_of::<(Box<str>, u32)>() + 1)
            + self.terms.keys().map(|term| term.len().max(16)).sum::<usize>();
        vocabulary + self.passages.bytes() + self.sessions.bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// BM25 by its definition, in f64, over whole texts.
    fn naive(texts: &[Vec<String>], query: &[String]) -> Vec<f64> {
        let all = texts.len() as f64;
        let average = texts.iter().map(Vec::len).sum::<usize>() as f64 / all;
        let idf = |term: &String| {
            let having = texts.iter().filter(|text| text.contains(term)).count() as f64;
            (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
        };
        let part = |text: &Vec<String>, term: &String| {
            let count = text.iter().filter(|word| *word == term).count() as f64;
            if count == 0.0 { 0.0 } else { count * 1.9 / (count + 0.9 * (0.6 + 0.4 * text.len() as f64 / average)) }
        };
        let sum: f64 = query.iter().map(idf).sum();
        texts.iter().map(|text| query.iter().map(|term| idf(term) * part(text, term)).sum::<f64>() / sum).collect()
    }

    fn close(found: &[f32], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5)
    }

    proptest! {
        #[test]
        fn replaced_words_leave_no_trace(
            texts in prop::collection::vec("([bcd]{2} ){0,5}", 1..8),
            changes in prop::collection::vec((0usize..8, "([bcd]{2} ){0,5}"), 0..12),
            query in prop::collection::btree_set("[bcd]{2}", 1..4),
        ) {
            let mut texts = texts;
            let mut index = WordIndex::default();
            let mut terms: Vec<Box<[u32]>> = Vec::new();
            for text in &texts {
                index.add(None, text, Language::English);
                terms.push(index.terms_of(text, Language::English).into());
            }
            for (at, text) in changes {
                let at = at % texts.len();
                index.replace(at as u32, &mut terms[at], &text, Language::English);
                texts[at] = text;
            }
            let mut fresh = WordIndex::default();
            texts.iter().for_each(|text| fresh.add(None, text, Language::English));
            let query: Vec<String> = query.into_iter().collect();
            let (live, anew) = (index.score(&query, &OtherStems::new()), fresh.score(&query, &OtherStems::new()));
            prop_assert_eq!(live.passages, anew.passages);
            let counted = |figures: &[TermFigure]| figures.iter().map(|f| (f.idf, f.texts)).collect::<Vec<_>>();
            prop_assert_eq!(counted(&live.figures), counted(&anew.figures));
        }

        #[test]
        fn scores_follow_the_definition(
            texts in prop::collection::vec((0u32..4, prop::collection::vec("[cdhjk]{2}", 1..9)), 1..20),
            query in prop::collection::btree_set("[cdhjk]{2}", 1..6),
        ) {
            // Session numbers in the order of their first passage.
            let mut order = Vec::new();
            let mut index = WordIndex::default();
            let mut sessions: Vec<Vec<String>> = Vec::new();
            for (session, words) in &texts {
                let number = order.iter().position(|s| s == session).unwrap_or_else(|| {
                    order.push(*session);
                    sessions.push(Vec::new());
                    order.len() - 1
                });
                sessions[number].extend(words.iter().cloned());
                index.add(Some(number as u32), &words.join(" "), Language::English);
            }
            let query: Vec<String> = query.into_iter().collect();
            let passages: Vec<Vec<String>> = texts.into_iter().map(|(_, words)| words).collect();
            let scores = index.score(&query, &OtherStems::new());
            prop_assert!(close(&scores.passages, &naive(&passages, &query)));
            prop_assert!(close(&scores.sessions, &naive(&sessions, &query)));
            prop_assert!(scores.passages.iter().all(|&score| (0.0..=SCORE_MAX).contains(&score)));
        }
    }

    #[test]
    fn an_empty_index_and_unseen_terms_score_nothing() {
        let mut index = WordIndex::default();
        let none = OtherStems::new();
        assert!(index.score(&["x".to_owned()], &none).passages.is_empty());
        index.add(None, "the of", Language::English);
        index.add(None, "dog", Language::English);
        assert_eq!(index.score(&["cat".to_owned()], &none).passages, [0.0, 0.0]);
        assert_eq!(index.score(&[], &none).passages, [0.0, 0.0]);
    }

    #[test]
    fn any_stem_of_a_word_matches() {
        let mut index = WordIndex::default();
        index.add(None, "die Konferenzen in Wien", Language::German);
        index.add(None, "the konferenzen of Vienna", Language::English);
        index.add(None, "dog", Language::English);
        let (german, english) = ("konferenz".to_owned(), "konferenzen".to_owned());
        let alone = index.score(std::slice::from_ref(&german), &OtherStems::new());
        assert!(alone.passages[0] > 0.0 && alone.passages[1..] == [0.0, 0.0]);
        let both = index.score(std::slice::from_ref(&german), &OtherStems::from([(german.clone(), vec![english])]));
        assert!(both.passages[0] > 0.0 && both.passages[1] > 0.0 && both.passages[2] == 0.0);
        assert_eq!(both.figures[0].texts, 2);
        assert_eq!(index.languages().collect::<Vec<_>>(), [Language::English, Language::German]);
        assert_eq!(index.main_language(), Language::English);
    }
}
