//! Codes of tokens for late interaction: the signs of a token's projected vector, 24 bytes each.

use crate::limit;
use crate::text::tokens;

/// The signs of one token's vector.
pub type TokenCode = [u64; CODE_WORDS];

/// 192 bits match exact vectors on LoCoMo; 128 lose a third of a point of recall at 10.
pub(in crate::recall) const CODE_WORDS: usize = 3;
pub(in crate::recall) const CODE_BITS: usize = CODE_WORDS * 64;

/// Offset between the random signs of the rounds, larger than any vector's dimensions.
const ROUND: u64 = 1 << 32;

/// The codes of a passage's tokens, at most [`limit::TOKEN_CODES_MAX`]; punctuation and stop words have none.
pub fn token_codes<'a>(tokens: impl Iterator<Item = (&'a str, &'a [f32])>) -> Vec<TokenCode> {
    let telling = tokens.filter(|(word, _)| is_word(word) && !tokens::is_stop_word(&word.to_lowercase()));
    telling.take(limit::TOKEN_CODES_MAX).map(|(_, vector)| signs(&project(vector))).collect()
}

pub(in crate::recall) fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

pub(in crate::recall) fn signs(values: &[f32; CODE_BITS]) -> TokenCode {
    let mut code = [0; CODE_WORDS];
    for (at, value) in values.iter().enumerate() {
        code[at / 64] |= u64::from(*value > 0.0) << (at % 64);
    }
    code
}

/// Projects a vector to 192 dimensions. A vector of 192 dimensions is used as it is, since its model chose the
/// directions. Any other is projected at random without a matrix: random sign flips and a Walsh-Hadamard transform,
/// twice (Ailon and Chazelle 2009). Part of the stored format: may only change with [`crate::recall::IMAGE_TAG`].
pub(in crate::recall) fn project(vector: &[f32]) -> [f32; CODE_BITS] {
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
pub(in crate::recall) fn flips(at: u64) -> bool {
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
