//! Reasons why a patch does not apply.

use serde::Serialize;
use thiserror::Error;

use crate::Refusal;

/// A patch that does not apply. The document is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
#[error("operation {op}: {reason}")]
pub struct PatchFault {
    /// Index of the operation.
    pub op: usize,
    /// The kind of fault.
    pub kind: PatchFaultKind,
    /// The reason as a message.
    pub reason: String,
}

/// What can be wrong with an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchFaultKind {
    /// More operations than a patch may have.
    TooManyOps,
    /// The document would exceed its size limit.
    TooLarge,
    /// The document would exceed its depth limit.
    TooDeep,
    /// A `test` found another value.
    TestFailed,
    /// A path does not exist.
    Missing,
    /// The operation is invalid for every document.
    Malformed,
    /// It would overwrite a value that the patch has neither tested nor written.
    Untested,
}

/// A fault whose operation is not yet known.
#[derive(Debug)]
pub(super) struct Trouble {
    kind: PatchFaultKind,
    reason: String,
}

impl Trouble {
    pub(super) fn new(kind: PatchFaultKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }

    pub(super) fn at(self, op: usize) -> PatchFault {
        PatchFault { op, kind: self.kind, reason: self.reason }
    }
}

impl From<PatchFault> for Refusal {
    fn from(fault: PatchFault) -> Self {
        match fault.kind {
            PatchFaultKind::TooManyOps | PatchFaultKind::Malformed => Self::invalid(fault.to_string()),
            _ => Self::refused(fault.to_string()),
        }
    }
}

/// At most 200 bytes of external text, for a message.
pub(super) fn shown(text: &str) -> String {
    const SHOWN_BYTES_MAX: usize = 200;
    if text.len() <= SHOWN_BYTES_MAX {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)])
}
