//! A seeded source of random bytes.

use std::sync::{Mutex, PoisonError};

use quipu_engine::ports::Entropy;

use crate::dice::Rng;

/// Gives the same bytes for the same seed and order of calls.
#[derive(Debug)]
pub struct SeededEntropy(Mutex<Rng>);

impl SeededEntropy {
    /// Creates a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(Rng::new(seed)))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let mut dice = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            let bits = dice.roll().to_le_bytes();
            chunk.iter_mut().zip(bits).for_each(|(byte, random)| *byte = random);
        }
    }
}
