//! Test support: a store in memory, controllable ports, the contract of stores, the bodies of fuzz targets.
//!
//! For development only: other crates depend on it only in their tests.
//!
//! ```
//! use quipu_core::id::UserId;
//! use quipu_engine::{RecallOptions, RememberOptions, Utterance, recall, remember};
//! use quipu_testkit::{MemoryStore, engine};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = engine(Box::new(MemoryStore::new()));
//! let me = UserId::parse("me")?;
//! remember(&engine, &me, &Utterance::of_user("My sister Ana lives in Porto."), &RememberOptions::default())?;
//! let found = recall(&engine, &me, &RecallOptions::of("Where does Ana live?"))?;
//! assert_eq!(found.hits[0].text, "My sister Ana lives in Porto.");
//! # Ok(())
//! # }
//! ```

pub mod contract;
pub mod fuzzing;
pub mod golden;
pub mod postgres_server;
pub mod tale;

mod counting_embedder;
mod dice;
mod effort;
mod failing_extractor;
mod fixed_clock;
mod memory_keys;
mod memory_store;
mod memory_user_keys;
mod recording_store;
mod sample;
mod scripted_summarizer;
mod seeded_entropy;
mod test_engine;

pub use counting_embedder::CountingEmbedder;
pub use dice::Rng;
pub use effort::{effort, files_below, seed};
pub use failing_extractor::FailingExtractor;
pub use fixed_clock::FixedClock;
pub use memory_keys::MemoryKeys;
pub use memory_store::MemoryStore;
pub use memory_user_keys::MemoryUserKeys;
pub use recording_store::{Calls, RecordingStore};
pub use sample::Sample;
pub use scripted_summarizer::{ScriptedAnswer, ScriptedSummarizer};
pub use seeded_entropy::SeededEntropy;
pub use test_engine::{TestEngine, engine};

/// The example of the README, as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
