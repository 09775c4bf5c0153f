//! The core document: free JSON under a category registry, changed by JSON Patch only.
//!
//! [`check()`] decides whether a patch may be recorded; [`apply()`], [`replay()`], [`replay_within()`] and
//! [`change_fields()`] define the effect of what is recorded. They use no schemas, so a ledger has the same meaning
//! under every configuration.

mod align;
mod check;
mod diff;
mod edit;
mod fault;
mod fields;
mod guard;
mod known;
mod measure;
mod patch;
mod registry;
mod schemas;
mod step;
mod within;

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test may stop at what it did not expect")]
mod tests;

pub use check::check;
pub use diff::{PathChange, describe, diff};
pub use edit::{set, unset};
pub use fault::{PatchFault, PatchFaultKind};
pub use fields::{FieldChange, FieldOp, change_fields};
pub(crate) use fields::{names, stands_for};
pub use guard::guarded;
/// An RFC 6902 patch.
pub use json_patch::Patch;
pub use patch::{apply, parse, replay};
pub use registry::{Categories, Registry, SchemaFault};
pub(crate) use schemas::{DYNAMIC, META, UNCATEGORIZED};
pub use within::{Container, containers, replay_within, set_within, with_containers};
