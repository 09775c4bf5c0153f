//! Errors that stop an import.

use std::io;

use thiserror::Error;

/// Describes what was imported before an error.
fn before(sources: u64) -> String {
    match sources {
        0 => "Nothing was imported".to_owned(),
        kept => format!(
            "{kept} sources before it were read. Fix the input and run the import again: what is known already is \
             recognised by its content, so the import continues where it stopped"
        ),
    }
}

/// What is wrong with the input.
#[derive(Debug, Error)]
pub enum Fault {
    /// The input contains nothing to import.
    #[error("nothing to import: {0}")]
    Nothing(String),
    /// The input is damaged, truncated, over a limit or not of the expected format.
    #[error("{place}: {reason}. {}", before(*.sources))]
    Invalid {
        /// Place in the input: a line, a byte, a conversation.
        place: String,
        /// What is wrong there, and what was expected.
        reason: String,
        /// Number of sources delivered before.
        sources: u64,
    },
    /// This input needs another command.
    #[error("{0}")]
    Refused(String),
    /// The input could not be read; a retry may help.
    #[error("{place}: the input cannot be read: {source}. {}", before(*.sources))]
    Unreadable {
        /// How far reading got.
        place: String,
        /// The system's error.
        source: io::Error,
        /// Number of sources delivered before.
        sources: u64,
    },
}

impl Fault {
    pub(super) fn invalid(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { place: place.into(), reason: reason.into(), sources: 0 }
    }

    pub(super) fn unreadable(place: impl Into<String>, source: io::Error) -> Self {
        Self::Unreadable { place: place.into(), source, sources: 0 }
    }

    /// Sets the number of sources delivered before.
    pub(super) fn after(mut self, handed_on: u64) -> Self {
        if let Self::Invalid { sources, .. } | Self::Unreadable { sources, .. } = &mut self {
            *sources = handed_on;
        }
        self
    }
}

/// Why [`super::read`] stopped before the end.
#[derive(Debug, Error)]
pub enum ReadError<E> {
    /// The input is invalid or unreadable.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The caller's function failed.
    #[error("{0}")]
    Caller(E),
}

/// Why a parser stopped. The caller's error is stored elsewhere, so that parsers do not depend on its type.
#[derive(Debug)]
pub(super) enum ParseStop {
    Fault(Fault),
    Caller,
}

impl From<Fault> for ParseStop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}
