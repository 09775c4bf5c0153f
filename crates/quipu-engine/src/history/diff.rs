//! Compares two versions of a memory.

use quipu_core::difference::{Difference, difference};
use quipu_core::id::UserId;

use crate::engine::Engine;
use crate::error::Result;
use crate::history::versions::{self, When};

/// Compares two versions of a memory.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn diff(engine: &Engine, user: &UserId, from: When, to: When) -> Result<Difference> {
    let open = engine.open(user)?;
    let from = versions::memory_at(&open, from)?;
    let to = versions::memory_at(&open, to)?;
    Ok(difference(&from, &to))
}
