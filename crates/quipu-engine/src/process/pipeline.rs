//! Process: what is made of words after they are durable.
//!
//! One pipeline for every caller: recall finds the words by meaning, rules read them, sessions and episodes are told, and then
//! models do what nobody waits for. Each stage is a predicate over the ledger and a cursor beside it, so a process that ends
//! in the middle leaves nothing behind but work that is still due.

use quipu_core::id::UserId;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::files::{self, VaultOptions};
use crate::memory::{OpenMemory, checkpoint};
use crate::process::extract_with_model::{self, ExtractWithModelOptions, ModelReading};
use crate::process::understand::Reread;
use crate::process::unread;
use crate::read::hits;
use crate::sessions::episodes;
use crate::sessions::summarize::{self, SummarizeOptions, SummarizeReport};

/// How far to go. Each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// Recall finds what was said, by meaning too.
    Indexed,
    /// Rules have read what was said, and have told sessions and episodes. No model is asked.
    Extracted,
    /// Models have read and told it too, hits are counted, and plain files are level.
    Everything,
}

/// How much to do now.
#[derive(Debug, Clone)]
pub struct Budget {
    /// At most so many sources for a model that reads; default: all that wait.
    pub sources_max: usize,
    /// A model reads only once so many messages wait for it: what it is told before them is paid once for all. Default: 1.
    pub sources_min: usize,
    /// Only exchanges of this session are told; default: of every one.
    pub session: Option<String>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { sources_max: usize::MAX, sources_min: 1, session: None }
    }
}

/// What was done.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Processed {
    /// What rules have read.
    pub read: Reread,
    /// What a model has read, if one reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub studied: Option<ModelReading>,
    /// What was told of sessions, if something tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<SummarizeReport>,
    /// Stages that failed, each with its reason: what they had to do is still due.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// Why plain files lag behind, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_lag: Option<String>,
}

impl Processed {
    /// Why something is still due, if it is.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        let studied = self.studied.as_ref().and_then(|studied| studied.fault.as_deref());
        let told = self.told.as_ref().and_then(|told| told.fault.as_deref());
        self.failed.iter().map(String::as_str).chain(studied).chain(told).chain(self.files_lag.as_deref())
    }
}

/// Does what is due after something was recorded, as far as `until` says.
///
/// May be called at any time and as often as one likes, also by several processes at once: without anything to do it reads no
/// page and asks nobody. A stage that fails is told in the report and keeps no later one from being done.
///
/// # Errors
/// What the store says when the memory is opened. A user without a memory has nothing to do.
pub fn process(engine: &Engine, user: &UserId, until: Until, budget: &Budget) -> Result<Processed> {
    let open = engine.open(user)?;
    let mut done = Processed::default();
    if until >= Until::Extracted {
        extract(engine, &open, budget, &mut done);
    }
    if until == Until::Everything {
        ask_models(engine, &open, budget, &mut done);
    }
    let lag = checkpoint::after_append(engine, &open, false, &mut |_| {});
    done.failed.extend(lag);
    if until == Until::Everything && engine.keeps_artifacts() && !open.is_absent() {
        // What is recorded is safe; files that lag are written another time.
        let lag = files::level(engine, user, VaultOptions::default()).err();
        done.files_lag = lag.map(|error| format!("plain files lag behind: {error}"));
    }
    Ok(done)
}

/// What needs no model: rules read what is unread, and tell what can be told.
fn extract(engine: &Engine, open: &OpenMemory, budget: &Budget, done: &mut Processed) {
    let read = unread::catch_up(engine, open, usize::MAX, &mut |_, understood| {
        done.read.sources += 1;
        done.read.understood.extend(understood);
    });
    done.failed.extend(read.err().map(|error| format!("it is recorded, but was not understood yet: {error}")));
    if engine.extractor.is_some() {
        let told = tell_episodes(engine, open, budget.session.as_deref());
        done.failed.extend(told.err().map(|error| format!("it is recorded, but its episode was not told: {error}")));
    }
    if let Some(session) = &budget.session
        && engine.summarizer.is_some()
        && !summarize::is_outside(engine)
    {
        match summarize::after_turn(engine, open, session) {
            Ok(told) => done.told = Some(told),
            Err(error) => done.failed.push(not_summarised(&error)),
        }
    }
}

fn tell_episodes(engine: &Engine, open: &OpenMemory, session: Option<&str>) -> Result<()> {
    let is_latest = {
        let state = open.read();
        state.memory.sources().last().is_some_and(|held| held.source.session.as_deref() == session)
    };
    if !is_latest {
        episodes::tell(engine, open, session, None)?;
    }
    episodes::after_turn(engine, open)
}

/// What may take seconds: models tell sessions and read words, and what was shown is written down.
fn ask_models(engine: &Engine, open: &OpenMemory, budget: &Budget, done: &mut Processed) {
    if engine.summarizer.is_some() && !open.is_absent() {
        let of = SummarizeOptions { session: budget.session.clone(), again: false };
        match summarize::summarize(engine, open.user(), &of) {
            Ok(told) => done.told = Some(done.told.take().unwrap_or_default().and(told)),
            Err(error) => done.failed.push(not_summarised(&error)),
        }
    }
    let is_worth_it =
        |open: &OpenMemory| budget.sources_min <= 1 || open.studied.waiting(&open.read().memory) >= budget.sources_min;
    if engine.optional.reader.is_some() && !open.is_absent() && is_worth_it(open) {
        let of = ExtractWithModelOptions { sources_max: budget.sources_max, ..ExtractWithModelOptions::default() };
        match extract_with_model::extract_with_model(engine, open.user(), &of) {
            Ok(studied) => done.studied = Some(studied),
            Err(error) => done.failed.push(format!("it is recorded, but the model has not read it yet: {error}")),
        }
    }
    let counted = hits::flush_by_the_way(engine, open);
    done.failed.extend(counted.err().map(|error| format!("what was shown is not written down yet: {error}")));
}

fn not_summarised(error: &crate::Error) -> String {
    format!("it is recorded, but its session is not summarised yet: {error}")
}
