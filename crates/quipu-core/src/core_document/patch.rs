//! Applies patches to a document. Part of the stored format: any change of behaviour changes how old ledgers replay.

use json_patch::PatchOperation;
use serde_json::Value;

use super::Patch;
use super::fault::{PatchFault, PatchFaultKind, Trouble};
use super::guard;
use super::known::CertainPlaces;
use super::step::Stepper;
use crate::{Refusal, limit};

/// Longest patch, in bytes of JSON.
pub(super) const PATCH_BYTES_MAX: usize = 4 * limit::CORE_BYTES_MAX;
/// Longest JSON Pointer in a patch, in bytes.
pub(super) const POINTER_BYTES_MAX: usize = 4096;
/// Most operations of a patch, including its tests.
pub(super) const GUARDED_OPS_MAX: usize = 16 * limit::PATCH_OPS_MAX;

/// Parses a patch. Unknown members of an operation are ignored (RFC 6902 §4).
///
/// # Errors
/// `Invalid`: longer than 1 MiB, not JSON, not a patch, or more than [`limit::PATCH_OPS_MAX`] operations.
pub fn parse(json: &str) -> Result<Patch, Refusal> {
    if json.len() > PATCH_BYTES_MAX {
        return Err(Refusal::invalid(format!("the patch is longer than {PATCH_BYTES_MAX} bytes")));
    }
    if !json.trim_start().starts_with('[') {
        return Err(Refusal::invalid("a patch is a JSON array of operations (RFC 6902)"));
    }
    let patch: Patch = serde_json::from_str(json)
        .map_err(|error| Refusal::invalid(format!("the patch does not follow RFC 6902: {error}")))?;
    if patch.len() > limit::PATCH_OPS_MAX {
        return Err(too_many_ops(limit::PATCH_OPS_MAX).at(limit::PATCH_OPS_MAX).into());
    }
    Ok(patch)
}

/// Applies a patch according to RFC 6902, all operations or none, within the limits of the core document.
///
/// Deterministic. Each operation is measured before it is carried out, so the cost is at most the number of operations
/// times the size of the largest document. Schemas are not checked.
///
/// # Errors
/// The first operation that does not apply. More than [`limit::PATCH_OPS_MAX`] operations other than tests, a result
/// over [`limit::CORE_BYTES_MAX`] or [`limit::CORE_DEPTH_MAX`] at any step, or a path over 4096 bytes is a fault.
pub fn apply(document: &Value, patch: &Patch) -> Result<Value, PatchFault> {
    countable(patch)?;
    let mut stepper = Stepper::new(document)?;
    for op in patch.iter() {
        stepper.step(op)?;
    }
    stepper.finish()
}

/// Applies a recorded, guarded patch: like [`apply`], but overwriting a value that the patch has neither tested nor
/// written is a fault.
///
/// A guarded patch that adds a member without a test was made where there was none. RFC 6902 cannot test that a value
/// is missing; this rule does, so that a patch replayed after a revert never destroys an unknown value.
///
/// # Errors
/// As [`apply`], and `Untested`.
pub fn replay(document: &Value, patch: &Patch) -> Result<Value, PatchFault> {
    countable(patch)?;
    let mut stepper = Stepper::new(document)?;
    let mut known = CertainPlaces::default();
    for (at, op) in patch.iter().enumerate() {
        if guard::overwrites_unknown(stepper.document(), op, &known) {
            let reason =
                format!("`{}` holds a value this patch has not tested", super::fault::shown(op.path().as_str()));
            return Err(Trouble::new(PatchFaultKind::Untested, reason).at(at));
        }
        stepper.step(op)?;
        known.applied(op);
    }
    stepper.finish()
}

/// Refuses a patch with too many operations. Tests are counted separately, so that guarding a patch does not reduce its
/// limit.
pub(super) fn countable(patch: &Patch) -> Result<(), PatchFault> {
    if patch.len() > GUARDED_OPS_MAX {
        return Err(too_many_ops(GUARDED_OPS_MAX).at(GUARDED_OPS_MAX));
    }
    let mut changing = patch.iter().enumerate().filter(|(_, op)| !matches!(op, PatchOperation::Test(_)));
    match changing.nth(limit::PATCH_OPS_MAX) {
        Some((at, _)) => Err(too_many_ops(limit::PATCH_OPS_MAX).at(at)),
        None => Ok(()),
    }
}

pub(super) fn too_many_ops(max: usize) -> Trouble {
    Trouble::new(PatchFaultKind::TooManyOps, format!("a patch has at most {max} operations"))
}
