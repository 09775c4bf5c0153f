//! Similarity of neighbouring windows of turns.

use std::collections::HashMap;
use std::ops::Range;

use super::session::AnalysedSession;
use super::words::Sentence;

/// The comparable content of a session's turns: term counts and vectors.
pub(super) struct Meanings<'a> {
    turns: Vec<Meaning<'a>>,
    /// Number of turns before the first one without a vector of the first turn's dimension.
    with_vectors: usize,
    /// Number of turns that contain each term, among the first [`Self::known`].
    having: Vec<f32>,
    /// Idf of each term among those turns.
    rarity: Vec<f32>,
    known: usize,
    /// Scratch space for two windows' weights, by term; all zero between calls.
    weights: Vec<(f32, f32)>,
}

struct Meaning<'a> {
    /// Terms with their counts, in term order.
    terms: Vec<(u32, f32)>,
    vector: &'a [f32],
}

impl<'a> Meanings<'a> {
    pub(super) fn of(session: &AnalysedSession<'a>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let turns: Vec<Meaning<'a>> = session
            .turns
            .iter()
            .zip(&session.sentences)
            .map(|(turn, sentences)| Meaning {
                terms: terms(sentences, &mut numbers),
                vector: turn.vector.unwrap_or_default(),
            })
            .collect();
        let dimension = turns.first().map_or(0, |first| first.vector.len());
        let usable = |meaning: &Meaning<'_>| {
            meaning.vector.len() == dimension && meaning.vector.iter().all(|x| x.is_finite()) && dimension > 0
        };
        let with_vectors = turns.iter().position(|turn| !usable(turn)).unwrap_or(turns.len());
        let terms = numbers.len();
        Self {
            turns,
            with_vectors,
            having: vec![0.0; terms],
            rarity: vec![0.0; terms],
            known: 0,
            weights: vec![(0.0, 0.0); terms],
        }
    }

    /// Includes the turns before `known` in the idf values. `known` never decreases.
    pub(super) fn learn(&mut self, known: usize) {
        while self.known < known {
            for &(term, _) in &self.turns[self.known].terms {
                self.having[term as usize] += 1.0;
            }
            self.known += 1;
        }
        let all = self.known as f32;
        for (rarity, having) in self.rarity.iter_mut().zip(&self.having) {
            *rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        }
    }

    /// Returns true if every turn known so far has a vector.
    pub(super) fn by_vectors(&self) -> bool {
        self.known <= self.with_vectors
    }

    /// Cosine similarity of two adjacent windows; 0 for an empty window. Compares the sums of the turns' unit vectors
    /// if all have one, else tf·idf vectors with `idf = ln(1 + (N − n + ½) / (n + ½))` over the turns known so far
    /// (Robertson and Zaragoza 2009).
    pub(super) fn similarity(&mut self, left: Range<usize>, right: Range<usize>) -> f32 {
        if self.by_vectors() {
            let (left, right) = (self.vector(left), self.vector(right));
            return cosine(left.iter().copied().zip(right.iter().copied()));
        }
        for &(term, count) in self.turns[left.clone()].iter().flat_map(|turn| &turn.terms) {
            self.weights[term as usize].0 += count * self.rarity[term as usize];
        }
        for &(term, count) in self.turns[right.clone()].iter().flat_map(|turn| &turn.terms) {
            self.weights[term as usize].1 += count * self.rarity[term as usize];
        }
        // In text order; `take` uses each term's weights once and resets them to zero.
        let terms = self.turns[left.start..right.end].iter().flat_map(|turn| &turn.terms);
        let weights = &mut self.weights;
        cosine(terms.map(|&(term, _)| std::mem::take(&mut weights[term as usize])))
    }

    fn vector(&self, window: Range<usize>) -> Vec<f32> {
        let mut sum = vec![0.0; self.turns.first().map_or(0, |turn| turn.vector.len())];
        for turn in &self.turns[window] {
            let length = turn.vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            if length > 0.0 {
                sum.iter_mut().zip(turn.vector).for_each(|(sum, x)| *sum += x / length);
            }
        }
        sum
    }
}

fn terms<'s>(sentences: &'s [Sentence], numbers: &mut HashMap<&'s str, u32>) -> Vec<(u32, f32)> {
    let mut found: Vec<u32> = Vec::new();
    for stem in sentences.iter().flat_map(|sentence| &sentence.words).filter_map(|word| word.stem.as_deref()) {
        let next = numbers.len() as u32;
        found.push(*numbers.entry(stem).or_insert(next));
    }
    found.sort_unstable();
    found.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f32)).collect()
}

fn cosine(pairs: impl Iterator<Item = (f32, f32)>) -> f32 {
    let (mut dot, mut left, mut right) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        dot += a * b;
        left += a * a;
        right += b * b;
    }
    if left > 0.0 && right > 0.0 { dot / (left * right).sqrt() } else { 0.0 }
}
