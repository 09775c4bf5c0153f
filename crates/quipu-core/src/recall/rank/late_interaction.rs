//! Late interaction (Khattab and Zaharia 2020): how well a passage, alone and with its neighbours, covers each word of
//! the question by meaning.
//!
//! A token's vector is stored as the signs of its projection to 192 directions (Charikar 2002), 24 bytes for any number
//! of dimensions; the question's tokens keep their values. Very common words have no code.

use std::collections::HashMap;

use crate::limit;
use crate::recall::index::passage_index::Index;
use crate::recall::index::scan;
use crate::recall::index::token_code::{CODE_BITS, CODE_WORDS, TokenCode, is_word, project};
use crate::text::tokens;

/// Number of bits of a query's values.
const PLANES: usize = 4;
const STEPS: f32 = ((1 << PLANES) - 1) as f32;

/// Weight of a stop word in the question; other words count 1.
const COMMON_WEIGHT: f32 = 0.3;

/// The question's tokens, prepared for comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTokens {
    tokens: Vec<QueryToken>,
}

#[derive(Debug, Clone, PartialEq)]
struct QueryToken {
    /// The weights add up to 1.
    weight: f32,
    scaled: Scaled,
}

/// A quantised projected vector: value = `low` + `step` × (the number formed by its bits in the planes).
#[derive(Debug, Clone, PartialEq)]
pub(in crate::recall) struct Scaled {
    pub(in crate::recall) planes: [TokenCode; PLANES],
    low: f32,
    step: f32,
    sum: f32,
}

impl QueryTokens {
    /// Prepares the tokens of a question. `None` if it has no words.
    pub fn new<'a>(tokens: impl Iterator<Item = (&'a str, &'a [f32])>) -> Option<Self> {
        let weight = |word: &str| if tokens::is_stop_word(&word.to_lowercase()) { COMMON_WEIGHT } else { 1.0 };
        let words = tokens.filter(|(word, _)| is_word(word)).take(limit::TOKEN_CODES_MAX);
        let mut tokens: Vec<QueryToken> =
            words.map(|(word, vector)| QueryToken { weight: weight(word), scaled: Scaled::new(vector) }).collect();
        let sum: f32 = tokens.iter().map(|token| token.weight).sum();
        tokens.iter_mut().for_each(|token| token.weight /= sum);
        (!tokens.is_empty()).then_some(Self { tokens })
    }
}

impl Scaled {
    fn new(vector: &[f32]) -> Self {
        let mut values = project(vector);
        let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length.is_normal() {
            values.iter_mut().for_each(|v| *v /= length);
        }
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let step = if high > low { (high - low) / STEPS } else { 0.0 };
        let mut planes = [[0; CODE_WORDS]; PLANES];
        let mut sum = 0.0;
        for (at, value) in values.iter().enumerate() {
            let number = if step > 0.0 { ((value - low) / step).round() as usize } else { 0 };
            sum += low + step * number as f32;
            for (plane, bits) in planes.iter_mut().enumerate() {
                bits[at / 64] |= ((number >> plane & 1) as u64) << (at % 64);
            }
        }
        Self { planes, low, step, sum }
    }

    /// The estimated cosine with the nearest of the codes (about .8 of the exact one); 0 without codes.
    fn nearest(&self, codes: &[TokenCode], room: &mut Vec<(u32, u32)>) -> f32 {
        let likeness = |&(ones, weighted): &(u32, u32)| {
            (2.0 * (self.low * ones as f32 + self.step * weighted as f32) - self.sum) / (CODE_BITS as f32).sqrt()
        };
        scan::overlaps(&self.planes, codes, room);
        room.iter().map(likeness).fold(0.0, f32::max)
    }
}

/// Computes how well passages cover the words of a question, with a cache.
pub(in crate::recall) struct Coverage<'a> {
    index: &'a Index,
    query: &'a QueryTokens,
    known: HashMap<u32, Vec<f32>>,
    room: Vec<(u32, u32)>,
}

impl<'a> Coverage<'a> {
    pub(in crate::recall) fn new(index: &'a Index, query: &'a QueryTokens) -> Self {
        Self { index, query, known: HashMap::new(), room: Vec::new() }
    }

    /// The weighted mean over the question's words of the similarity of their nearest token: in the passage alone, and
    /// including its neighbours.
    pub(in crate::recall) fn of(&mut self, passage: u32) -> (f32, f32) {
        let columns = &self.index.passages;
        let window = [passage, columns.previous[passage as usize], columns.next[passage as usize]];
        window.iter().for_each(|&each| self.compare(each));
        let [own, before, after] = window.map(|each| self.known.get(&each));
        let near = |at: usize, found: Option<&Vec<f32>>| found.and_then(|found| found.get(at)).copied().unwrap_or(0.0);
        let (mut alone, mut together) = (0.0, 0.0);
        for (at, token) in self.query.tokens.iter().enumerate() {
            let here = near(at, own);
            alone += token.weight * here;
            together += token.weight * here.max(near(at, before)).max(near(at, after));
        }
        (alone, together)
    }

    fn compare(&mut self, passage: u32) {
        let Some(codes) = self.index.dense.codes.get(passage as usize) else { return };
        let (query, room) = (self.query, &mut self.room);
        self.known
            .entry(passage)
            .or_insert_with(|| query.tokens.iter().map(|token| token.scaled.nearest(codes, room)).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::index::token_code::{flips, signs, token_codes};

    /// A deterministic vector.
    fn noise(seed: u64) -> Vec<f32> {
        (0..384)
            .map(|at| (0..8).map(|bit| f32::from(u8::from(flips(seed * 4096 + at * 8 + bit)))).sum::<f32>() - 4.0)
            .collect()
    }

    fn mixed(a: &[f32], b: &[f32], share: f32) -> Vec<f32> {
        a.iter().zip(b).map(|(a, b)| a * share + b * (1.0 - share)).collect()
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    #[test]
    fn codes_keep_the_angle() {
        for seed in 0..40 {
            let query = noise(seed);
            for share in [0.0, 0.3, 0.6, 1.0] {
                let other = mixed(&query, &noise(1000 + seed), share);
                let found = Scaled::new(&query).nearest(&[signs(&project(&other))], &mut Vec::new());
                // The mean of |x| of a normal variable is √(2/π).
                let expected = (cosine(&query, &other) * 0.798).max(0.0);
                assert!((found - expected).abs() < 0.2, "{share}: {found} {expected}");
            }
        }
    }

    #[test]
    fn the_nearest_code_counts_and_none_counts_nothing() {
        let (query, far) = (noise(1), noise(2));
        let scaled = Scaled::new(&query);
        let near = signs(&project(&query));
        let away = signs(&project(&far));
        assert_eq!(scaled.nearest(&[], &mut Vec::new()), 0.0);
        assert_eq!(scaled.nearest(&[away, near, away], &mut Vec::new()), scaled.nearest(&[near], &mut Vec::new()));
        assert!(scaled.nearest(&[near], &mut Vec::new()) > 0.7 && scaled.nearest(&[away], &mut Vec::new()) < 0.3);
        assert_eq!(Scaled::new(&[0.0; 384]).nearest(&[near], &mut Vec::new()), 0.0);
    }

    #[test]
    fn common_words_and_punctuation_have_no_code() {
        let vector = noise(3);
        let words = ["the", "Dog", ",", "is", "b", "!"];
        assert_eq!(token_codes(words.iter().map(|word| (*word, vector.as_slice()))).len(), 2);
        let many = std::iter::repeat_n(("dog", vector.as_slice()), limit::TOKEN_CODES_MAX + 1);
        assert_eq!(token_codes(many).len(), limit::TOKEN_CODES_MAX);
        assert!(QueryTokens::new(["?", "."].iter().map(|word| (*word, vector.as_slice()))).is_none());
    }

    #[test]
    fn short_and_long_vectors_are_projected_too() {
        for dimensions in [1, 3, 192, 256, 1024, 1536] {
            let vector: Vec<f32> = noise(7).into_iter().cycle().take(dimensions).collect();
            let code = signs(&project(&vector));
            assert!(Scaled::new(&vector).nearest(&[code], &mut Vec::new()) > 0.6, "{dimensions}");
        }
    }
}
