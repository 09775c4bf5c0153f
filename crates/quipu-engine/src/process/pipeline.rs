//! The processing pipeline for recorded sources.
//!
//! All callers use the same stages: embedding, extraction by rules, summaries and episodes, then model calls in the
//! background. What is due at each stage follows from the ledger and a cursor, so work that was interrupted is still
//! due.

use quipu_core::id::UserId;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::files::{self, VaultOptions};
use crate::memory::{OpenMemory, checkpoint};
use crate::process::extract_with_model::{self, ExtractWithModelOptions, ModelReading};
use crate::process::reread::Reread;
use crate::process::unread;
use crate::read::hits;
use crate::sessions::episodes;
use crate::sessions::summarize::{self, SummarizeOptions, SummarizeReport};

/// The last stage to run. Each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// New passages are embedded, so that recall finds them by meaning.
    Indexed,
    /// Rules have extracted from new sources, and sessions and episodes are summarised by rules. No model is called.
    Extracted,
    /// Models have extracted and summarised as well, hits are recorded, and plain files are up to date.
    Everything,
}

/// Limits of a call.
#[derive(Debug, Clone)]
pub struct Budget {
    /// Most sources for the reading model. Default: all.
    pub sources_max: usize,
    /// Least number of unread messages for which the reading model is called, so that they share the cost of one
    /// prompt. Default: 1.
    pub sources_min: usize,
    /// Summarises only this session. Default: all.
    pub session: Option<String>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { sources_max: usize::MAX, sources_min: 1, session: None }
    }
}

/// Result of a call.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Processed {
    /// What rules have extracted.
    pub read: Reread,
    /// What the reading model has extracted, if one is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub studied: Option<ModelReading>,
    /// What was summarised, if a summariser is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<SummarizeReport>,
    /// Reasons of failed stages; their work is still due.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// Why plain files are not up to date, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_lag: Option<String>,
}

impl Processed {
    /// Every reason why work is still due.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        let studied = self.studied.as_ref().and_then(|studied| studied.fault.as_deref());
        let told = self.told.as_ref().and_then(|told| told.fault.as_deref());
        self.failed.iter().map(String::as_str).chain(studied).chain(told).chain(self.files_lag.as_deref())
    }
}

/// Does what is due after recording, up to the stage `until`.
///
/// May be called at any time, also by several processes at once: without work it reads no page and calls no model. A
/// failing stage is reported and does not prevent later ones.
///
/// # Errors
/// Any error of opening the memory. A user without a memory has no work.
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
        // The events are durable; the files are brought up to date later.
        let lag = files::level(engine, user, VaultOptions::default()).err();
        done.files_lag = lag.map(|error| format!("plain files lag behind: {error}"));
    }
    Ok(done)
}

/// Stages without a model: rules extract from unread sources and summarise.
fn extract(engine: &Engine, open: &OpenMemory, budget: &Budget, done: &mut Processed) {
    let read = unread::catch_up(engine, open, usize::MAX, &mut |_, understood| {
        done.read.sources += 1;
        done.read.understood.extend(understood);
    });
    done.failed
        .extend(read.err().map(|error| format!("it is recorded, but nothing was extracted from it yet: {error}")));
    if engine.extractor.is_some() {
        let told = tell_episodes(engine, open, budget.session.as_deref());
        done.failed.extend(told.err().map(|error| format!("it is recorded, but its episode was not: {error}")));
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

/// Stages that may take seconds: models summarise and extract. Then hits are recorded.
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
    done.failed.extend(counted.err().map(|error| format!("what was shown is not recorded yet: {error}")));
}

fn not_summarised(error: &crate::Error) -> String {
    format!("it is recorded, but its session is not summarised yet: {error}")
}
