//! Catch up: everything that nobody waited for when it was said.

use quipu_core::id::UserId;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::hits;
use crate::study::{self, StudyOptions, StudyReport};
use crate::summarize::{self, SummarizeOptions, SummarizeReport};
use crate::understand::{self, Reread};
use crate::vault::{self, VaultOptions};

/// How much to do now.
#[derive(Debug, Clone)]
pub struct CatchUpOptions {
    /// At most so many sources for the second reader; default: all that wait.
    pub sources_max: usize,
    /// Only exchanges of this session; default: of every one.
    pub session: Option<String>,
}

impl Default for CatchUpOptions {
    fn default() -> Self {
        Self { sources_max: usize::MAX, session: None }
    }
}

/// What was caught up with.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CatchUpReport {
    /// What rules had not read.
    pub read: Reread,
    /// What the second reader has read, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub studied: Option<StudyReport>,
    /// What was told of sessions, if something tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<SummarizeReport>,
    /// Why plain files lag behind, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_lag: Option<String>,
}

impl CatchUpReport {
    /// Why something still waits, if it does.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        let studied = self.studied.as_ref().and_then(|studied| studied.fault.as_deref());
        let told = self.told.as_ref().and_then(|told| told.fault.as_deref());
        studied.into_iter().chain(told).chain(self.files_lag.as_deref())
    }
}

/// Does what waits: reads what rules have not read, tells sessions, lets the second reader study, and brings plain files level.
///
/// May be called at any time and as often as one likes: without anything to do it reads no page and asks nobody. A command
/// line calls it when told to, a server when nobody waits.
///
/// # Errors
/// `NotFound` without such a user; else as for every append. A model that does not answer is no error: the report says so.
pub fn catch_up(engine: &Engine, user: &UserId, options: &CatchUpOptions) -> Result<CatchUpReport> {
    let mut report = CatchUpReport { read: understand::read_unread(engine, user)?, ..CatchUpReport::default() };
    if engine.summarizer.is_some() {
        let of = SummarizeOptions { session: options.session.clone(), again: false };
        report.told = Some(summarize::summarize(engine, user, &of)?);
    }
    if engine.aids.reader.is_some() {
        let of = StudyOptions { sources_max: options.sources_max, ..StudyOptions::default() };
        report.studied = Some(study::study(engine, user, &of)?);
    }
    hits::flush_by_the_way(engine, &engine.open(user)?)?;
    if engine.keeps_artifacts() {
        // What is recorded is safe; files that lag are written with the next catch-up.
        let lag = vault::level(engine, user, VaultOptions::default()).err();
        report.files_lag = lag.map(|error| format!("plain files lag behind: {error}"));
    }
    Ok(report)
}
