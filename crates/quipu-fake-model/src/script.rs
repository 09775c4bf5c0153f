//! Scripts: the replies and the faults of a fake server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::fault::Fault;
use super::request::FakeRequest;

/// How often a fault occurs, counted over the requests at which it can occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// At the first N requests only.
    First(u32),
    /// At every request.
    Always,
    /// At every request after the first N.
    After(u32),
}

/// One planned fault.
#[derive(Debug, Clone)]
pub struct PlannedFault {
    /// The fault.
    pub fault: Fault,
    /// When it occurs.
    pub times: Repetition,
    /// Suffix of the paths it is limited to. Default: every path that generates or embeds.
    pub path: Option<String>,
}

/// The replies of a server, apart from faults.
#[derive(Clone)]
pub enum Reply {
    /// Always the same text.
    Text(String),
    /// One after another; the last one is repeated.
    InTurn(Vec<String>),
    /// The last user message, verbatim.
    Echo,
    /// Computed from the request.
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

/// The behaviour of a fake server.
#[derive(Debug, Clone)]
pub struct FakeScript {
    /// Its replies.
    pub reply: Reply,
    /// Its faults. If several are due at a request, the first one occurs.
    pub plans: Vec<PlannedFault>,
    /// Seed for cuts, ids and invented values.
    pub seed: u64,
    /// The models that `/v1/models` lists.
    pub models: Vec<String>,
    /// The length of embedding vectors.
    pub dimensions: usize,
    /// Delay between two pieces of a stream.
    pub pace: Duration,
    /// Delay between two bytes of a slow drip.
    pub drip: Duration,
    /// Size of an oversized body, in bytes.
    pub oversized_bytes: usize,
}

impl FakeScript {
    /// A script with these replies and no faults.
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

    /// A script that always replies with `text`.
    #[must_use]
    pub fn saying(text: impl Into<String>) -> Self {
        Self::new(Reply::Text(text.into()))
    }

    /// A script that computes its replies from the requests.
    #[must_use]
    pub fn making(reply: impl Fn(&FakeRequest) -> String + Send + Sync + 'static) -> Self {
        Self::new(Reply::Made(Arc::new(reply)))
    }

    /// Adds a fault.
    #[must_use]
    pub fn with(mut self, fault: Fault, times: Repetition) -> Self {
        self.plans.push(PlannedFault { fault, times, path: None });
        self
    }

    /// Adds a fault at paths that end with `path`.
    #[must_use]
    pub fn with_at(mut self, path: &str, fault: Fault, times: Repetition) -> Self {
        self.plans.push(PlannedFault { fault, times, path: Some(path.to_owned()) });
        self
    }

    /// Sets the seed.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the delay between two pieces of a stream.
    #[must_use]
    pub fn paced(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }
}

/// A pseudorandom number that depends on seed and place alone.
pub(super) fn scatter(seed: u64, place: u64) -> u64 {
    // SplitMix64, Steele and others 2014.
    let mut z = seed.wrapping_add(place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
