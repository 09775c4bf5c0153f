use std::ops::ControlFlow;

use crate::encoder::vocabulary::Vocabulary;
use crate::encoder::word_split::SplitRules;

/// Longer words, in characters, become the unknown token.
pub(crate) const WORD_CHARS_MAX: usize = 100;

/// BERT's tokenizer: splits words into pieces of a vocabulary, longest piece first.
///
/// Names of special tokens have no meaning in a text: `[SEP]` is a bracket, a word and a bracket.
pub(crate) struct WordPiece {
    vocabulary: Vocabulary,
    rules: SplitRules,
    start: i32,
    end: i32,
    unknown: i32,
}

impl WordPiece {
    pub(crate) fn new(vocabulary: Vocabulary, rules: SplitRules) -> Result<Self, String> {
        let special = |name: &str| {
            let id = vocabulary.id(name);
            id.ok_or_else(|| format!("the vocabulary has no `{name}`: not a BERT WordPiece vocabulary"))
        };
        let (start, end, unknown) = (special("[CLS]")?, special("[SEP]")?, special("[UNK]")?);
        Ok(Self { vocabulary, rules, start, end, unknown })
    }

    /// The ids of the start and the end token.
    pub(crate) fn ends(&self) -> (i32, i32) {
        (self.start, self.end)
    }

    /// Returns at most `tokens_max` token ids, start and end token included. Reads only as much of the text as needed.
    #[cfg(test)]
    pub(crate) fn encode(&self, text: &str, tokens_max: usize) -> Vec<i32> {
        self.encode_words(text, tokens_max).0
    }

    /// As [`WordPiece::encode`], with the word that each token between start and end belongs to.
    pub(crate) fn encode_words(&self, text: &str, tokens_max: usize) -> (Vec<i32>, Vec<String>) {
        let pieces_max = tokens_max.saturating_sub(2);
        let (mut ids, mut words) = (vec![self.start], Vec::new());
        let _ = self.rules.each_word(text, WORD_CHARS_MAX, |word| {
            self.push_pieces(word, &mut ids);
            words.resize(ids.len() - 1, word.to_owned());
            if ids.len() > pieces_max {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        ids.truncate(pieces_max + 1);
        words.truncate(pieces_max);
        ids.push(self.end);
        (ids, words)
    }

    /// Encodes two texts: start, first, end, second, end. Also returns the index at which the second begins. If both
    /// do not fit, the first is truncated to half of the room.
    pub(crate) fn encode_pair(&self, first: &str, second: &str, tokens_max: usize) -> (Vec<i32>, usize) {
        let of_second = self.encode_words(second, tokens_max).0;
        let left = tokens_max.saturating_sub(of_second.len() - 1).max(tokens_max / 2);
        let mut ids = self.encode_words(first, left.max(2)).0;
        let at = ids.len();
        let room = tokens_max.saturating_sub(at + 1);
        ids.extend(of_second[1..of_second.len() - 1].iter().take(room));
        ids.push(self.end);
        (ids, at)
    }

    /// The number of tokens of the whole text, start and end token included.
    pub(crate) fn count(&self, text: &str) -> usize {
        let mut total = 2;
        let mut pieces = Vec::new();
        let _ = self.rules.each_word(text, WORD_CHARS_MAX, |word| {
            pieces.clear();
            self.push_pieces(word, &mut pieces);
            total += pieces.len();
            ControlFlow::Continue(())
        });
        total
    }

    fn push_pieces(&self, word: &str, ids: &mut Vec<i32>) {
        let before = ids.len();
        let mut rest = word;
        while let Some((id, bytes)) = self.vocabulary.longest_piece(rest, rest.len() < word.len()) {
            ids.push(id);
            rest = &rest[bytes..];
        }
        // A word that cannot be split completely, or is too long, is unknown as a whole.
        if !rest.is_empty() || word.is_empty() {
            ids.truncate(before);
            ids.push(self.unknown);
        }
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a failing step should stop the test")]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Case {
        text: String,
        ids: Vec<i32>,
    }

    fn tokenizer() -> WordPiece {
        let lines = include_str!("../../assets/all-MiniLM-L6-v2/vocab.txt");
        WordPiece::new(Vocabulary::from_lines(lines), SplitRules::uncased()).expect("the vocabulary is whole")
    }

    #[test]
    fn hard_strings_give_the_ids_of_the_reference_tokenizer() {
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../../tests/fixtures/token_ids.json")).expect("the fixture is JSON");
        assert!(cases.len() > 200);
        let tokenizer = tokenizer();
        let different: Vec<_> = cases
            .iter()
            .filter(|case| tokenizer.encode(&case.text, 256) != case.ids)
            .map(|case| (&case.text, tokenizer.encode(&case.text, 256), &case.ids))
            .collect();
        assert!(different.is_empty(), "{different:#?}");
    }

    #[test]
    fn a_text_is_cut_at_the_limit_and_counted_whole() {
        let tokenizer = tokenizer();
        let text = "unaffable ".repeat(1000);
        let whole = tokenizer.encode(&text, usize::MAX);
        assert_eq!(tokenizer.count(&text), whole.len());
        for tokens_max in [3, 4, 5, 256] {
            let cut = tokenizer.encode(&text, tokens_max);
            assert_eq!(cut.len(), tokens_max);
            assert_eq!(cut[..tokens_max - 1], whole[..tokens_max - 1]);
            assert_eq!(cut.last(), whole.last());
        }
    }

    #[test]
    fn a_vocabulary_without_special_tokens_is_refused() {
        let refused = WordPiece::new(Vocabulary::from_lines("<s>\n</s>\nhello\n"), SplitRules::uncased());
        assert!(refused.is_err_and(|why| why.contains("[CLS]")));
    }
}
