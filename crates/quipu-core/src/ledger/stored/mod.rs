//! Stored formats, one file per version. A version is never changed once a ledger was written with it; older versions
//! are read by their own file and converted to the current types here.

mod v1;

use thiserror::Error;

use crate::event::{Change, Header};

/// The format of new events.
pub const FORMAT: u16 = 1;

/// Why stored bytes could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// A newer program wrote them.
    #[error("stored format {0} is newer than this program knows ({FORMAT}); upgrade quipu")]
    Newer(u16),
    /// The bytes do not match the format.
    #[error("the stored bytes cannot be read: {0}")]
    Malformed(String),
}

/// Serialises a header in the current format.
pub(super) fn write_header(header: &Header) -> Result<Vec<u8>, FormatError> {
    v1::write_header(header)
}

/// Serialises a change in the current format.
pub(super) fn write_change(change: &Change) -> Result<Vec<u8>, FormatError> {
    v1::write_change(change)
}

/// Reads a header of any known format.
pub(super) fn read_header(format: u16, bytes: &[u8]) -> Result<Header, FormatError> {
    match format {
        1 => v1::read_header(bytes),
        other => Err(FormatError::Newer(other)),
    }
}

/// Reads a change of any known format.
pub(super) fn read_change(format: u16, bytes: &[u8]) -> Result<Change, FormatError> {
    match format {
        1 => v1::read_change(bytes),
        other => Err(FormatError::Newer(other)),
    }
}
