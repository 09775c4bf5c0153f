//! What a fake server answers, and what it does wrong.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::asked::FakeRequest;
use super::fault::Fault;

/// How often a fault shows, counted over the requests it can show at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// At the first so many; then all is well.
    First(u32),
    /// At every one.
    Always,
    /// After so many good ones.
    After(u32),
}

/// One planned fault.
#[derive(Debug, Clone)]
pub struct PlannedFault {
    /// What goes wrong.
    pub fault: Fault,
    /// How often.
    pub times: Repetition,
    /// Only at paths that end so; without it, wherever something is generated or embedded.
    pub path: Option<String>,
}

/// What a server says when nothing is wrong.
#[derive(Clone)]
pub enum Reply {
    /// The same to everybody.
    Text(String),
    /// One after the other; the last again and again.
    InTurn(Vec<String>),
    /// What was asked last, word for word.
    Echo,
    /// Made from the request.
    Made(Arc<dyn Fn(&FakeRequest) -> String + Send + Sync>),
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Self::InTurn(texts) => f.debug_tuple("InTurn").field(texts).finish(),
            Self::Echo => f.write_str("Echo"),
            Self::Made(_) => f.write_str("Made"),
        }
    }
}

/// What a fake server does.
#[derive(Debug, Clone)]
pub struct FakeScript {
    /// What it says.
    pub reply: Reply,
    /// What goes wrong; the first plan that is due at a request counts.
    pub plans: Vec<PlannedFault>,
    /// Varies cuts, ids and made-up values.
    pub seed: u64,
    /// What `/v1/models` lists.
    pub models: Vec<String>,
    /// The length of its vectors.
    pub dimensions: usize,
    /// How long it waits between two pieces of a stream.
    pub pace: Duration,
    /// How long between two bytes of a slow drip.
    pub drip: Duration,
    /// How many bytes an oversized body has.
    pub oversized_bytes: usize,
}

impl FakeScript {
    /// One that always gives this reply.
    #[must_use]
    pub fn new(reply: Reply) -> Self {
        Self {
            reply,
            plans: Vec::new(),
            seed: 0,
            models: vec!["fake-model".to_owned()],
            dimensions: 8,
            pace: Duration::ZERO,
            drip: Duration::from_millis(20),
            oversized_bytes: 64 << 20,
        }
    }

    /// One that always says the same.
    #[must_use]
    pub fn saying(text: impl Into<String>) -> Self {
        Self::new(Reply::Text(text.into()))
    }

    /// One that makes its reply from the request.
    #[must_use]
    pub fn making(reply: impl Fn(&FakeRequest) -> String + Send + Sync + 'static) -> Self {
        Self::new(Reply::Made(Arc::new(reply)))
    }

    /// The same with a fault more.
    #[must_use]
    pub fn with(mut self, fault: Fault, times: Repetition) -> Self {
        self.plans.push(PlannedFault { fault, times, path: None });
        self
    }

    /// The same with a fault more, at paths that end so.
    #[must_use]
    pub fn with_at(mut self, path: &str, fault: Fault, times: Repetition) -> Self {
        self.plans.push(PlannedFault { fault, times, path: Some(path.to_owned()) });
        self
    }

    /// The same with another seed.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same with so long a wait between two pieces of a stream.
    #[must_use]
    pub fn paced(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }
}

/// A number that looks random and is not: the same for the same seed and place.
pub(super) fn scatter(seed: u64, place: u64) -> u64 {
    // SplitMix64, Steele and others 2014.
    let mut z = seed.wrapping_add(place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
