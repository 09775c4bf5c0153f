//! Why an import stopped.

use std::io;

use thiserror::Error;

/// What a fault means for what was read before it.
fn before(sources: u64) -> String {
    match sources {
        0 => "Nothing was imported".to_owned(),
        kept => format!(
            "{kept} sources before it were read. Mend the input and run the import again: what is known already is \
             recognised by its content, so the import continues where it stopped"
        ),
    }
}

/// What is wrong with the input.
#[derive(Debug, Error)]
pub enum Fault {
    /// The input holds nothing that could be remembered.
    #[error("nothing to import: {0}")]
    Nothing(String),
    /// The input is damaged, cut, over a bound or not of the format it was said to be.
    #[error("{place}: {reason}. {}", before(*.sources))]
    Invalid {
        /// Where: a line, a byte, a conversation.
        place: String,
        /// What is wrong there, and what was expected.
        reason: String,
        /// How many sources had been handed on before.
        sources: u64,
    },
    /// Another way of importing is needed.
    #[error("{0}")]
    Refused(String),
    /// The input could not be read; trying again may help.
    #[error("{place}: the input cannot be read: {source}. {}", before(*.sources))]
    Unreadable {
        /// How far reading came.
        place: String,
        /// What the system said.
        source: io::Error,
        /// How many sources had been handed on before.
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

    /// The fault, knowing what was handed on before it.
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
    /// The input is at fault.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The caller's own function failed.
    #[error("{0}")]
    Caller(E),
}

/// Why a parser stopped; the caller's error is kept aside, so that parsers need not know its type.
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
