//! Measures the size and depth of a value without serialising it.

use std::io;

use serde::Serialize;
use serde_json::Value;

use super::fault::{PatchFaultKind, Trouble};
use crate::limit;

/// Size of a value that fits into a core document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measure {
    /// Bytes of compact JSON.
    pub(super) bytes: usize,
    /// 0 for a scalar, 1 for an empty array or object.
    pub(super) depth: usize,
}

/// Measures a value; stops as soon as it exceeds a limit of the core document.
pub(super) fn measure(value: &Value) -> Result<Measure, Trouble> {
    // Depth first: serialising recurses, which is safe only at a bounded depth.
    let depth = depth_within(value, limit::CORE_DEPTH_MAX).ok_or_else(too_deep)?;
    let bytes = bytes_within(value, limit::CORE_BYTES_MAX).ok_or_else(too_large)?;
    Ok(Measure { bytes, depth })
}

/// Bytes of compact JSON, or `None` if over `max`; stops there.
pub(super) fn bytes_within(value: &impl Serialize, max: usize) -> Option<usize> {
    let mut counter = Counter { left: max };
    serde_json::to_writer(&mut counter, value).ok()?;
    Some(max - counter.left)
}

/// Depth, or `None` if over `max`; descends no further.
pub(super) fn depth_within(value: &Value, max: usize) -> Option<usize> {
    let inner = |children: &mut dyn Iterator<Item = &Value>| {
        let left = max.checked_sub(1)?;
        let mut deepest = 0;
        for child in children {
            deepest = deepest.max(depth_within(child, left)?);
        }
        Some(deepest + 1)
    };
    match value {
        Value::Array(items) => inner(&mut items.iter()),
        Value::Object(members) => inner(&mut members.values()),
        _ => Some(0),
    }
}

pub(super) fn too_large() -> Trouble {
    let reason = format!("the document would be larger than {} bytes", limit::CORE_BYTES_MAX);
    Trouble::new(PatchFaultKind::TooLarge, reason)
}

pub(super) fn too_deep() -> Trouble {
    let reason = format!("the document would be deeper than {} levels", limit::CORE_DEPTH_MAX);
    Trouble::new(PatchFaultKind::TooDeep, reason)
}

struct Counter {
    left: usize,
}

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
