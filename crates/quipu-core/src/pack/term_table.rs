//! Interns terms as numbers, so that each word is stemmed once and terms are compared as integers.

use rustc_hash::FxHashMap;

use crate::text::tokens;

/// Numbers of the terms seen so far. It stores words of the memory, so it must not outlive its pack.
#[derive(Debug, Default)]
pub struct TermTable {
    /// By word in lower case.
    words: FxHashMap<Box<str>, u32>,
    /// By term.
    numbers: FxHashMap<Box<str>, u32>,
    stemmed: usize,
}

impl TermTable {
    /// The distinct terms of a text as ascending numbers.
    pub fn terms(&mut self, text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        tokens::for_each_content_word(text, |word| found.push(self.number(word)));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Number of distinct wanted terms in a text. `wanted` is ascending.
    pub(super) fn count_in(&mut self, text: &str, wanted: &[u32]) -> usize {
        if wanted.is_empty() {
            return 0;
        }
        let mut met = Vec::new();
        tokens::for_each_content_word(text, |word| {
            let number = self.number(word);
            if wanted.binary_search(&number).is_ok() && !met.contains(&number) {
                met.push(number);
            }
        });
        met.len()
    }

    /// The number of a term, assigned on first use.
    pub(super) fn number_of_term(&mut self, term: &str) -> u32 {
        let next = self.numbers.len() as u32;
        if let Some(&known) = self.numbers.get(term) {
            return known;
        }
        self.numbers.insert(term.into(), next);
        next
    }

    /// Number of words stemmed so far.
    pub fn stemmed(&self) -> usize {
        self.stemmed
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&known) = self.words.get(word) {
            return known;
        }
        self.stemmed += 1;
        let number = self.number_of_term(&tokens::term(word));
        self.words.insert(word.into(), number);
        number
    }
}

/// Returns true if every term of `some` is among `all`; both are ascending.
pub(super) fn is_subset(some: &[u32], all: &[u32]) -> bool {
    some.iter().all(|one| all.binary_search(one).is_ok())
}

/// Returns true if two texts share a term; both are ascending.
pub fn have_common(some: &[u32], others: &[u32]) -> bool {
    some.iter().any(|one| others.binary_search(one).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::terms;

    #[test]
    fn numbers_compare_as_terms_do() {
        let texts = [
            "",
            "Running runs RAN",
            "my sis, my mum's flat",
            "Anna's dogs, the dog's bowl",
            "Überraschung in Köln",
            "東京タワー",
            "my mother runs to the flat in Köln, 東",
        ];
        let mut table = TermTable::default();
        for one in texts {
            for other in texts {
                let (a, b) = (terms(one), terms(other));
                let (numbers, others) = (table.terms(one), table.terms(other));
                assert_eq!(numbers.len(), a.len(), "{one:?}");
                assert_eq!(have_common(&numbers, &others), a.intersection(&b).next().is_some(), "{one:?} {other:?}");
                assert_eq!(is_subset(&numbers, &others), a.is_subset(&b), "{one:?} {other:?}");
                assert_eq!(table.count_in(one, &others), a.intersection(&b).count(), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn a_word_is_stemmed_once() {
        let mut table = TermTable::default();
        for _ in 0..3 {
            table.terms("The dogs ran, the dogs RAN.");
        }
        assert_eq!(table.stemmed(), 2);
    }
}
