//! Collects sources into batches and delivers them.

use std::collections::HashSet;
use std::ops::ControlFlow;

use quipu_core::id::ItemId;
use quipu_core::limit::ARTIFACTS_MAX;
use quipu_core::source::{Artifact, Source};

use super::draft::Draft;
use super::fault::ParseStop;
use super::report::Report;
use super::{Batch, Zone, name};

/// Receives batches and notices.
pub(super) struct Sink<'a> {
    pub(super) report: &'a mut Report,
    /// The zone of the speakers' clocks, by which the days are counted that they name.
    timezone: Option<&'a Zone>,
    deliver: &'a mut dyn FnMut(Batch) -> ControlFlow<()>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(report: &'a mut Report, deliver: &'a mut dyn FnMut(Batch) -> ControlFlow<()>) -> Self {
        Self { report, timezone: None, deliver }
    }

    pub(super) fn in_timezone(self, timezone: Option<&'a Zone>) -> Self {
        Self { timezone, ..self }
    }
}

/// The batch being filled.
pub(super) struct Filling {
    conversation: String,
    sources: Vec<Source>,
    ids: HashSet<ItemId>,
    natives: HashSet<Box<str>>,
}

impl Filling {
    pub(super) fn new(conversation: &str) -> Self {
        Self {
            conversation: conversation.to_owned(),
            sources: Vec::new(),
            ids: HashSet::new(),
            natives: HashSet::new(),
        }
    }

    /// Number of sources in it.
    pub(super) fn len(&self) -> usize {
        self.sources.len()
    }

    /// Adds the sources of a draft: usually one, several for a very long text, none for an unusable one.
    ///
    /// A repeated source is skipped; a native id that is reused for other content is kept. Both are reported.
    pub(super) fn push(&mut self, draft: Draft, sink: &mut Sink<'_>) {
        let place = draft.place.clone();
        for mut source in draft.into_sources(sink.report) {
            if !self.ids.insert(source.id) {
                sink.report.notice(&place, "the same was already there; the repetition was skipped");
                sink.report.leave_out("repetitions", 1);
                continue;
            }
            if let Some(native) = &source.native_id
                && !self.natives.insert(native.clone())
            {
                let native = name::quote(native);
                sink.report
                    .notice(&place, format!("the id {native} occurs twice with different content; both were kept"));
            }
            let offset = sink.timezone.zip(source.said_at).map(|(zone, at)| zone.offset(at));
            if source.artifacts.len() < ARTIFACTS_MAX {
                source.artifacts.extend(offset.map(Artifact::of_utc_offset));
            }
            self.sources.push(source);
        }
    }

    /// Delivers the batch, if it is not empty.
    pub(super) fn flush(&mut self, sink: &mut Sink<'_>) -> Result<(), ParseStop> {
        if self.sources.is_empty() {
            return Ok(());
        }
        let batch = Batch { conversation: self.conversation.clone(), sources: std::mem::take(&mut self.sources) };
        self.ids.clear();
        self.natives.clear();
        let counts = Report::of(&batch.sources);
        match (sink.deliver)(batch) {
            ControlFlow::Continue(()) => {
                sink.report.count(&counts);
                Ok(())
            }
            ControlFlow::Break(()) => Err(ParseStop::Caller),
        }
    }
}
