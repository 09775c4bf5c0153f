//! Seeded random numbers: the same seed always gives the same world.

/// SplitMix64: small and portable. Not for cryptography.
#[derive(Debug, Clone)]
pub(crate) struct WorldRng(u64);

impl WorldRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A random 64-bit number.
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A random number below `bound`; 0 if the bound is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.roll() % bound as u64) as usize }
    }

    /// A random number of days from `least` to `most`.
    pub(crate) fn days(&mut self, least: i32, most: i32) -> i32 {
        let span = usize::try_from(most - least + 1).unwrap_or(1);
        least + i32::try_from(self.below(span)).unwrap_or(0)
    }

    /// True with probability 1 / `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A random element; `None` if there are none.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// Shuffles the elements.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at + 1));
        }
    }
}
