//! Progress reports of long operations.

use crate::error::Result;

/// Progress of a long operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Turns recorded so far.
    Imported(u64),
    /// Passages embedded, and their total.
    Embedded(u64, u64),
    /// Events checked or replayed, and their total.
    Events(u64, u64),
}

/// Callback for progress reports.
pub type Watch<'a> = &'a mut dyn FnMut(Progress);

/// Called before each piece of a step; the step ends early if it returns false.
pub(crate) type GoOn<'a> = &'a mut dyn FnMut() -> Result<bool>;
