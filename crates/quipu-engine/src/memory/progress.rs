//! Progress of long work.

/// How far a long piece of work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Turns read and made durable so far.
    Imported(u64),
    /// Passages embedded, of how many.
    Embedded(u64, u64),
    /// Events checked or replayed, of how many.
    Events(u64, u64),
}

/// Told about progress; does nothing when nobody watches.
pub type Watch<'a> = &'a mut dyn FnMut(Progress);
