//! Vectors of the passages: 8 bits per dimension with one scale per vector, and sign bits for a first stage.

use crate::limit;
use crate::recall::index::scan;
use crate::recall::index::token_code::TokenCode;

/// Identifies the exact text a vector was made from, so that a rebuilt index can reuse it.
pub type EmbeddingKey = [u8; 16];

/// The key of a text given to an embedder: the first 16 bytes of BLAKE3 in derive-key mode.
pub fn embedding_key(text: &str) -> EmbeddingKey {
    let hash = blake3::derive_key("quipu embedded text v1", text.as_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    key
}

/// A stored vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoredVector<'a> {
    /// Key of the embedded text.
    pub key: EmbeddingKey,
    /// The value of one step of `steps`.
    pub scale: f32,
    /// The vector in steps of `scale`, from −127 to 127.
    pub steps: &'a [i8],
    /// The codes of its tokens; empty if the model provides no tokens.
    pub codes: &'a [TokenCode],
}

/// A query's vector in the format of the stored ones.
pub(in crate::recall) struct QueryVector {
    scale: f32,
    steps: Vec<i8>,
    signs: Vec<u64>,
}

/// One row per passage; zero and absent until its vector is set.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::recall) struct DenseRows {
    pub(in crate::recall) dimensions: usize,
    pub(in crate::recall) steps: Vec<i8>,
    pub(in crate::recall) scales: Vec<f32>,
    pub(in crate::recall) signs: Vec<u64>,
    pub(in crate::recall) keys: Vec<EmbeddingKey>,
    /// The codes of each passage's tokens.
    pub(in crate::recall) codes: Vec<Box<[TokenCode]>>,
    /// One bit per passage.
    pub(in crate::recall) present: Vec<u64>,
    pub(in crate::recall) present_count: usize,
}

/// Number of 64-bit words for the signs of a vector.
pub(in crate::recall) fn sign_words(dimensions: usize) -> usize {
    dimensions.div_ceil(64)
}

impl DenseRows {
    pub(in crate::recall) fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            steps: Vec::new(),
            scales: Vec::new(),
            signs: Vec::new(),
            keys: Vec::new(),
            codes: Vec::new(),
            present: Vec::new(),
            present_count: 0,
        }
    }

    /// Appends an empty row.
    pub(in crate::recall) fn push_empty(&mut self) {
        let passage = self.scales.len();
        extend(&mut self.steps, self.dimensions, 0);
        extend(&mut self.signs, sign_words(self.dimensions), 0);
        extend(&mut self.scales, 1, 0.0);
        extend(&mut self.keys, 1, [0; 16]);
        extend(&mut self.codes, 1, Box::default());
        if passage.is_multiple_of(64) {
            self.present.push(0);
        }
    }

    pub(in crate::recall) fn is_present(&self, passage: u32) -> bool {
        bit(&self.present, passage)
    }

    /// Returns true if the model of these vectors provides tokens.
    pub(in crate::recall) fn has_codes(&self) -> bool {
        self.codes.iter().any(|codes| !codes.is_empty())
    }

    pub(in crate::recall) fn get(&self, passage: u32) -> Option<StoredVector<'_>> {
        let at = passage as usize;
        let row = at * self.dimensions..(at + 1) * self.dimensions;
        self.is_present(passage).then(|| StoredVector {
            key: self.keys[at],
            scale: self.scales[at],
            steps: &self.steps[row],
            codes: &self.codes[at],
        })
    }

    /// Stores a vector; returns false if there is no such passage or the vector has the wrong length.
    pub(in crate::recall) fn set(&mut self, passage: u32, vector: &StoredVector<'_>) -> bool {
        let at = passage as usize;
        let fits = vector.steps.len() == self.dimensions && vector.codes.len() <= limit::TOKEN_CODES_MAX;
        if at >= self.scales.len() || !fits || !vector.scale.is_finite() {
            return false;
        }
        self.steps[at * self.dimensions..(at + 1) * self.dimensions].copy_from_slice(vector.steps);
        let words = sign_words(self.dimensions);
        write_signs(vector.steps, &mut self.signs[at * words..(at + 1) * words]);
        self.scales[at] = vector.scale;
        self.keys[at] = vector.key;
        self.codes[at] = vector.codes.into();
        self.present_count += usize::from(!self.is_present(passage));
        self.present[at / 64] |= 1 << (at % 64);
        true
    }

    /// Quantises a query's vector; `None` if its length is wrong or it is zero.
    pub(in crate::recall) fn query(&self, vector: &[f32]) -> Option<QueryVector> {
        let (scale, steps) = quantise(vector).filter(|_| vector.len() == self.dimensions)?;
        let mut signs = vec![0; sign_words(self.dimensions)];
        write_signs(&steps, &mut signs);
        Some(QueryVector { scale, steps, signs })
    }

    /// Cosines of the query with the chosen passages; 0 where a vector is missing.
    pub(in crate::recall) fn cosines_at(&self, query: &QueryVector, chosen: &[u32]) -> Vec<f32> {
        let mut dots = Vec::new();
        scan::dots_at(&query.steps, &self.steps, chosen, &mut dots);
        let cosine = |(&passage, dot)| self.cosine(query, passage, dot);
        chosen.iter().zip(dots).map(cosine).collect()
    }

    /// Cosines of a passage with others; 0 where either has no vector.
    pub(in crate::recall) fn cosines_with(&self, passage: u32, others: &[u32]) -> Vec<f32> {
        let Some(own) = self.get(passage) else { return vec![0.0; others.len()] };
        let mut dots = Vec::new();
        scan::dots_at(own.steps, &self.steps, others, &mut dots);
        let scale = |other: u32| if self.is_present(other) { self.scales[other as usize] } else { 0.0 };
        dots.into_iter().zip(others).map(|(dot, &other)| dot as f32 * own.scale * scale(other)).collect()
    }

    /// For each other passage, whether its cosine with this one is at least `least`, in both directions: rounding may
    /// differ in the last bit.
    pub(in crate::recall) fn agreements(&self, passage: u32, others: &[u32], least: f32) -> Vec<[bool; 2]> {
        let Some(own) = self.get(passage) else { return vec![[false; 2]; others.len()] };
        let mut dots = Vec::new();
        scan::dots_at(own.steps, &self.steps, others, &mut dots);
        let both = |(dot, &other): (i32, &u32)| {
            let scale = if self.is_present(other) { self.scales[other as usize] } else { 0.0 };
            let dot = dot as f32;
            [dot * own.scale * scale >= least, dot * scale * own.scale >= least]
        };
        dots.into_iter().zip(others).map(both).collect()
    }

    /// Cosines of the query with every passage; 0 where a vector is missing.
    pub(in crate::recall) fn cosines(&self, query: &QueryVector) -> Vec<f32> {
        let mut dots = Vec::new();
        scan::dots(&query.steps, &self.steps, &mut dots);
        (0..).zip(dots).map(|(passage, dot)| self.cosine(query, passage, dot)).collect()
    }

    fn cosine(&self, query: &QueryVector, passage: u32, dot: i32) -> f32 {
        (dot as f32 * query.scale * self.scales[passage as usize]).clamp(-1.0, 1.0)
    }

    /// The `count` passages of `allowed` whose signs differ least from the query's, in ascending order; ties go to the
    /// lower number. `allowed` has one bit per passage.
    pub(in crate::recall) fn nearest_by_signs(&self, query: &QueryVector, allowed: &[u64], count: usize) -> Vec<u32> {
        let mut distances = Vec::new();
        scan::hammings(&query.signs, &self.signs, &mut distances);
        let mut histogram = vec![0usize; self.signs_max() + 1];
        for_each_bit(allowed, |passage| {
            if let Some(&distance) = distances.get(passage as usize) {
                histogram[distance as usize] += 1;
            }
        });
        let mut taken = 0;
        let edge = histogram.iter().position(|&here| {
            taken += here;
            taken >= count
        });
        let edge = edge.unwrap_or(histogram.len());
        let mut edge_left = count - histogram.iter().take(edge).sum::<usize>().min(count);
        let mut nearest = Vec::with_capacity(count);
        for_each_bit(allowed, |passage| match distances.get(passage as usize) {
            Some(&distance) if usize::from(distance) < edge => nearest.push(passage),
            Some(&distance) if usize::from(distance) == edge && edge_left > 0 => {
                edge_left -= 1;
                nearest.push(passage);
            }
            _ => {}
        });
        nearest
    }

    fn signs_max(&self) -> usize {
        sign_words(self.dimensions) * 64
    }

    /// Bytes in memory.
    pub(in crate::recall) fn bytes(&self) -> usize {
        self.steps.capacity()
            + (self.scales.capacity() * 4)
            + (self.signs.capacity() + self.present.capacity()) * 8
            + self.keys.capacity() * 16
            + self.codes.capacity() * size_of::<Box<[TokenCode]>>()
            + self.codes.iter().map(|codes| size_of_val(&**codes)).sum::<usize>()
    }
}

/// Normalises a vector to length 1 and quantises it in steps of its largest component / 127. `None` for a zero vector.
pub(in crate::recall) fn quantise(vector: &[f32]) -> Option<(f32, Vec<i8>)> {
    let length = vector.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
    let largest = vector.iter().fold(0.0f32, |all, v| all.max(v.abs()));
    if !length.is_finite() || length <= 0.0 || largest <= 0.0 {
        return None;
    }
    let steps = vector.iter().map(|v| (v / largest * 127.0).round() as i8).collect();
    Some(((f64::from(largest) / 127.0 / length) as f32, steps))
}

fn write_signs(steps: &[i8], signs: &mut [u64]) {
    for (word, steps) in signs.iter_mut().zip(steps.chunks(64)) {
        *word = steps.iter().enumerate().fold(0, |bits, (at, &step)| bits | u64::from(step > 0) << at);
    }
}

/// Grows by an eighth rather than doubling: at 100,000 passages these arrays dominate the index.
fn extend<T: Clone>(array: &mut Vec<T>, count: usize, value: T) {
    if array.capacity() - array.len() < count {
        array.reserve_exact((array.len() / 8).max(64 * count));
    }
    array.resize(array.len() + count, value);
}

/// A bit of a mask; bits beyond its end are 0.
pub(in crate::recall) fn bit(mask: &[u64], at: u32) -> bool {
    mask.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

/// Calls `each` with every set bit, ascending.
pub(in crate::recall) fn for_each_bit(mask: &[u64], mut each: impl FnMut(u32)) {
    for (word, &bits) in (0u32..).zip(mask) {
        if bits == u64::MAX {
            (word * 64..word * 64 + 64).for_each(&mut each);
            continue;
        }
        let mut rest = bits;
        while rest != 0 {
            each(word * 64 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic vector near one of 40 centres.
    fn clustered(number: u64, dimensions: usize) -> Vec<f32> {
        let noise = |seed: u64| {
            let hash = blake3::hash(&seed.to_le_bytes());
            let mut reader = blake3::Hasher::new().update(hash.as_bytes()).finalize_xof();
            let mut bytes = vec![0; dimensions * 2];
            reader.fill(&mut bytes);
            bytes.chunks_exact(2).map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32768.0).collect::<Vec<f32>>()
        };
        noise(number % 40).iter().zip(noise(1_000 + number)).map(|(centre, own)| centre + own * 0.8).collect()
    }

    fn filled(count: u32) -> DenseRows {
        let mut rows = DenseRows::new(384);
        for passage in 0..count {
            rows.push_empty();
            if let Some((scale, steps)) = quantise(&clustered(u64::from(passage), 384)) {
                assert!(rows.set(passage, &StoredVector { key: [1; 16], scale, steps: &steps, codes: &[] }));
            }
        }
        rows
    }

    #[test]
    fn signs_find_what_exact_cosines_find() {
        let rows = filled(4000);
        let mut kept = 0;
        for query in 0..20 {
            let query = rows.query(&clustered(90_000 + query, 384)).unwrap_or_else(|| panic!("no direction"));
            let mut best: Vec<(f32, u32)> = rows.cosines(&query).into_iter().zip(0..).collect();
            best.sort_by(|a, b| b.0.total_cmp(&a.0));
            let first_stage = rows.nearest_by_signs(&query, &rows.present, 200);
            assert_eq!(first_stage.len(), 200);
            kept += best[..50].iter().filter(|(_, passage)| first_stage.binary_search(passage).is_ok()).count();
        }
        assert!(kept >= 980, "{kept} of 1000 exact neighbours are in the first stage");
    }

    #[test]
    fn quantised_cosines_are_close_to_exact_ones() {
        let rows = filled(50);
        let query = clustered(7_777, 384);
        let stored = rows.query(&query).map_or_else(Vec::new, |query| rows.cosines(&query));
        let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        for (passage, found) in (0..).zip(stored) {
            let exact = clustered(passage, 384);
            let cosine = exact.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>() / length(&exact) / length(&query);
            assert!((cosine - found).abs() < 0.01, "{cosine} {found}");
        }
    }

    #[test]
    fn vectors_without_direction_or_of_the_wrong_length_are_refused() {
        let mut rows = DenseRows::new(3);
        rows.push_empty();
        assert!(
            quantise(&[0.0; 3]).is_none()
                && quantise(&[f32::NAN, 1.0, 0.0]).is_none()
                && quantise(&[f32::INFINITY; 3]).is_none()
        );
        assert!(rows.query(&[1.0; 4]).is_none());
        assert!(!rows.set(0, &StoredVector { key: [0; 16], scale: 1.0, steps: &[1, 2], codes: &[] }));
        assert!(!rows.set(1, &StoredVector { key: [0; 16], scale: 1.0, steps: &[1, 2, 3], codes: &[] }));
        assert!(rows.get(0).is_none());
    }
}
