//! Parsed messages before they are fitted into the limits of a source.

use std::sync::Arc;

use jiff::Timestamp;
use quipu_core::id::{ItemId, ItemKind};
use quipu_core::limit::{ARTIFACTS_MAX, NOTE_BYTES_MAX, SOURCE_BYTES_MAX};
use quipu_core::source::{Artifact, Role, Source};

use super::chop::{Prefer, chop};
use super::name;
use super::report::Report;

/// Bytes reserved for the part number after a native id.
const PART_BYTES_MAX: usize = 24;

/// A parsed message or passage. Names were cleaned by [`name`]; text and artifacts may still exceed limits.
pub(super) struct Draft {
    /// Place in the input, for notices.
    pub(super) place: String,
    pub(super) kind: ItemKind,
    pub(super) session: Option<Arc<str>>,
    pub(super) topic: Option<Arc<str>>,
    pub(super) role: Role,
    pub(super) author: Option<Arc<str>>,
    pub(super) said_at: Option<Timestamp>,
    pub(super) text: String,
    pub(super) artifacts: Vec<Artifact>,
    pub(super) native_id: Option<String>,
}

impl Draft {
    /// An empty draft by a person at an unknown time.
    pub(super) fn new(kind: ItemKind, session: Option<Arc<str>>, place: String) -> Self {
        Self {
            place,
            kind,
            session,
            topic: None,
            role: Role::User,
            author: None,
            said_at: None,
            text: String::new(),
            artifacts: Vec::new(),
            native_id: None,
        }
    }

    /// Converts the draft into sources that pass [`Source::check`].
    ///
    /// What exceeds a limit is split into several sources in order, whose native ids end in `~1`, `~2` …; together
    /// their texts are the whole text. An empty text, or one with U+0000, gives no source.
    pub(super) fn into_sources(mut self, report: &mut Report) -> Vec<Source> {
        if let Some(at) = self.text.find('\0') {
            report.notice(&self.place, format!("the text contains the character U+0000 at byte {at}; it was skipped"));
            report.leave_out("texts with the character U+0000", 1);
            return Vec::new();
        }
        let artifacts = self.fit_artifacts(report);
        self.fit_native_id(report);
        if self.text.trim().is_empty() && artifacts.is_empty() {
            report.notice(&self.place, "the text is empty; it was skipped");
            report.leave_out("empty texts", 1);
            return Vec::new();
        }
        let texts: Vec<&str> =
            chop(&self.text, SOURCE_BYTES_MAX, Prefer::Sentence).into_iter().map(|range| &self.text[range]).collect();
        let chunks: Vec<&[Artifact]> = artifacts.chunks(ARTIFACTS_MAX).collect();
        let parts = texts.len().max(chunks.len());
        if parts > 1 {
            report.notice(&self.place, format!("it is too large for one source and was split into {parts}"));
        }
        (0..parts)
            .filter_map(|part| {
                let text = texts.get(part).copied().unwrap_or_default();
                let artifacts = chunks.get(part).copied().unwrap_or_default();
                let native_id = match &self.native_id {
                    native if parts == 1 => native.clone(),
                    native => Some(format!("{}~{}", native.as_deref().unwrap_or_default(), part + 1)),
                };
                self.source(text, artifacts.to_vec(), native_id, report)
            })
            .collect()
    }

    fn source(
        &self,
        text: &str,
        artifacts: Vec<Artifact>,
        native_id: Option<String>,
        report: &mut Report,
    ) -> Option<Source> {
        let mut source = Source {
            id: ItemId { kind: self.kind, bits: 0 },
            session: self.session.clone(),
            topic: self.topic.clone(),
            role: self.role,
            author: self.author.clone(),
            said_at: self.said_at,
            text: text.into(),
            artifacts,
            native_id: native_id.map(Into::into),
        };
        source.id = source.content_id();
        match source.check() {
            Ok(()) => Some(source),
            Err(refusal) => {
                report.notice(&self.place, format!("{refusal}; it was skipped"));
                report.leave_out("texts that no source can hold", 1);
                None
            }
        }
    }

    fn fit_artifacts(&mut self, report: &mut Report) -> Vec<Artifact> {
        let mut fitting = Vec::new();
        for mut artifact in std::mem::take(&mut self.artifacts) {
            let kind = artifact.kind.clone();
            if artifact.text.contains('\0') {
                report.notice(&self.place, format!("the {kind} beside the text contains U+0000; it was left out"));
                report.leave_out("artifacts with the character U+0000", 1);
                continue;
            }
            artifact.name = artifact.name.and_then(|raw| {
                if raw.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:")) {
                    let bytes = raw.len();
                    report.notice(
                        &self.place,
                        format!("the {kind} is inside a data: address of {bytes} bytes; it is not kept"),
                    );
                    return None;
                }
                if raw.contains('\0') || raw.len() > NOTE_BYTES_MAX {
                    report.notice(
                        &self.place,
                        format!("the {kind}'s name is too long or contains U+0000; it was shortened"),
                    );
                }
                let clean = raw.replace('\0', "");
                let fits = clean.len() <= NOTE_BYTES_MAX;
                let clean = if fits { clean } else { name::cut(&clean, NOTE_BYTES_MAX, "…") };
                (!clean.trim().is_empty()).then_some(clean)
            });
            if artifact.text.len() <= SOURCE_BYTES_MAX {
                fitting.push(artifact);
                continue;
            }
            for range in chop(&artifact.text, SOURCE_BYTES_MAX, Prefer::Line) {
                let text = artifact.text[range].to_owned();
                fitting.push(Artifact { kind: kind.clone(), name: artifact.name.clone(), text });
            }
        }
        fitting
    }

    fn fit_native_id(&mut self, report: &mut Report) {
        let Some(raw) = &self.native_id else { return };
        let bytes_max = NOTE_BYTES_MAX - PART_BYTES_MAX;
        if raw.contains('\0') || raw.len() > bytes_max {
            let hash = blake3::hash(raw.as_bytes()).to_hex();
            let short = name::cut(&raw.replace('\0', ""), bytes_max, &format!("…{}", &hash[..8]));
            report.notice(&self.place, "its id is too long or contains U+0000; it was shortened");
            self.native_id = Some(short);
        }
    }
}
