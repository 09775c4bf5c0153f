//! Late interaction (Khattab and Zaharia 2020): how well a passage, and a passage with its neighbours, cover each word of
//! the question by meaning.
//!
//! A token's vector is kept as the signs of its projection to 192 directions (Charikar 2002), 24 bytes whatever the model's
//! dimensions; the question's tokens keep their values. Words too common to tell anything have no code.

use std::collections::HashMap;

use crate::limit;
use crate::recall::index::passage_index::Index;
use crate::recall::index::scan;
use crate::recall::index::tokens;

/// The signs of one token's vector.
pub type TokenCode = [u64; CODE_WORDS];

/// 192 bits find on LoCoMo what exact vectors find; 128 lose a third of a point of recall at 10.
const CODE_WORDS: usize = 3;
const CODE_BITS: usize = CODE_WORDS * 64;

/// A query's values keep this many bits.
const PLANES: usize = 4;
const STEPS: f32 = ((1 << PLANES) - 1) as f32;

/// Sets the rounds' random signs apart: far more than any vector has dimensions.
const ROUND: u64 = 1 << 32;

/// What a word of the question counts that is too common to search for, others counting 1.
const COMMON_WEIGHT: f32 = 0.3;

/// The codes of a passage's tokens, at most [`limit::TOKEN_CODES_MAX`]; punctuation and common words have none.
pub fn token_codes<'a>(tokens: impl Iterator<Item = (&'a str, &'a [f32])>) -> Vec<TokenCode> {
    let telling = tokens.filter(|(word, _)| is_word(word) && !tokens::is_stop_word(&word.to_lowercase()));
    telling.take(limit::TOKEN_CODES_MAX).map(|(_, vector)| signs(&project(vector))).collect()
}

fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

/// The question's tokens, ready to be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTokens {
    tokens: Vec<QueryToken>,
}

#[derive(Debug, Clone, PartialEq)]
struct QueryToken {
    /// The weights of all add up to 1.
    weight: f32,
    scaled: Scaled,
}

/// A projected vector in steps: value = `low` + `step` × (the number its bits in the planes make).
#[derive(Debug, Clone, PartialEq)]
pub(in crate::recall) struct Scaled {
    pub(in crate::recall) planes: [TokenCode; PLANES],
    low: f32,
    step: f32,
    sum: f32,
}

impl QueryTokens {
    /// Takes the tokens of a question. None if it has no words.
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

    /// The cosine with the nearest of the codes, as far as signs tell it (about .8 of the exact one); 0 without any.
    fn nearest(&self, codes: &[TokenCode], room: &mut Vec<(u32, u32)>) -> f32 {
        let likeness = |&(ones, weighted): &(u32, u32)| {
            (2.0 * (self.low * ones as f32 + self.step * weighted as f32) - self.sum) / (CODE_BITS as f32).sqrt()
        };
        scan::overlaps(&self.planes, codes, room);
        room.iter().map(likeness).fold(0.0, f32::max)
    }
}

/// How well passages cover the words of a question; what was compared once is kept.
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

    /// The weighted mean over the question's words of their nearest token: in the passage, and in it and its neighbours.
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

fn signs(values: &[f32; CODE_BITS]) -> TokenCode {
    let mut code = [0; CODE_WORDS];
    for (at, value) in values.iter().enumerate() {
        code[at / 64] |= u64::from(*value > 0.0) << (at % 64);
    }
    code
}

/// A vector of 192 dimensions is taken as it is: its model chose the directions. Any other is projected at
/// random without a matrix: signs flipped at random and a Walsh-Hadamard transform, twice (Ailon and
/// Chazelle 2009). Part of the stored format: what it does may only change with [`crate::recall::IMAGE_TAG`].
fn project(vector: &[f32]) -> [f32; CODE_BITS] {
    let mut values = vector.to_vec();
    let rounds = if vector.len() == CODE_BITS { 0 } else { 2 };
    values.resize(if rounds > 0 { vector.len().max(CODE_BITS).next_power_of_two() } else { CODE_BITS }, 0.0);
    for round in 0..rounds {
        for (at, value) in values.iter_mut().enumerate() {
            if flips(round * ROUND + at as u64) {
                *value = -*value;
            }
        }
        transform(&mut values);
    }
    let mut kept = [0.0; CODE_BITS];
    kept.copy_from_slice(&values[..CODE_BITS]);
    kept
}

/// One bit of a well-mixed number (splitmix64).
fn flips(at: u64) -> bool {
    let mut mixed = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) & 1 == 1
}

fn transform(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_exact_mut(2 * half) {
            let (left, right) = block.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
