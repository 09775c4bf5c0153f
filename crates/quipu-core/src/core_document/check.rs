//! Decides whether a patch may be recorded.

use json_patch::PatchOperation;
use json_patch::jsonptr::Pointer;
use serde_json::Value;

use super::fault::shown;
use super::guard::guarded_with_result;
use super::measure::bytes_within;
use super::patch::{PATCH_BYTES_MAX, replay};
use super::schemas::META;
use super::{Categories, Patch};
use crate::Refusal;

/// Checks a patch. Returns the guarded patch and the resulting document.
///
/// The guarded patch gives the same document whenever it is replayed on this one. The resulting document is valid and
/// survives serialisation. `document` must be a result of this function, or `{}`.
///
/// # Errors
/// `Invalid`: too long, too many operations, a malformed path, a NUL character, or a path in `/_meta`.
/// `Refused`: it does not apply, exceeds a limit, or the result does not fit the categories.
pub fn check<'a>(
    categories: impl Into<Categories<'a>>,
    document: &Value,
    patch: &Patch,
) -> Result<(Patch, Value), Refusal> {
    for op in patch.iter() {
        check_op(op)?;
    }
    let (patch, result) = guarded_with_result(document, patch)?;
    if bytes_within(&patch, PATCH_BYTES_MAX).is_none() {
        return Err(Refusal::invalid(format!("the patch with its tests is longer than {PATCH_BYTES_MAX} bytes")));
    }
    categories.into().validate(&result).map_err(|faults| {
        let list = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        Refusal::refused(format!("the document would no longer be valid: {list}"))
    })?;
    // The stored form is text: it must read back as the same value and have the same effect.
    let stored: Option<Patch> = reread(&patch);
    let lasts = stored.as_ref() == Some(&patch) && reread(&result).as_ref() == Some(&result);
    if !lasts || replay(document, &patch).as_ref() != Ok(&result) {
        return Err(Refusal::refused("the patch would not be the same when it is read back"));
    }
    Ok((patch, result))
}

fn check_op(op: &PatchOperation) -> Result<(), Refusal> {
    let (from, value) = match op {
        PatchOperation::Move(relocation) => (Some(&relocation.from), None),
        PatchOperation::Copy(copy) => (Some(&copy.from), None),
        PatchOperation::Add(add) => (None, Some(&add.value)),
        PatchOperation::Replace(replace) => (None, Some(&replace.value)),
        PatchOperation::Test(test) => (None, Some(&test.value)),
        PatchOperation::Remove(_) => (None, None),
    };
    for path in [Some(op.path()), from.map(|from| &**from)].into_iter().flatten() {
        if path.front().is_some_and(|first| first.decoded() == META) {
            return Err(Refusal::invalid("/_meta is kept by Quipu and cannot be patched"));
        }
    }
    if has_nul(op.path()) || value.is_some_and(holds_nul) {
        let place = shown(&op.path().as_str().replace('\0', ""));
        return Err(Refusal::invalid(format!("`{place}` holds the character U+0000, which no memory can store")));
    }
    Ok(())
}

fn has_nul(path: &Pointer) -> bool {
    path.as_str().contains('\0')
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(members) => members.iter().any(|(name, value)| name.contains('\0') || holds_nul(value)),
        _ => false,
    }
}

fn reread<T: serde::Serialize + serde::de::DeserializeOwned>(thing: &T) -> Option<T> {
    serde_json::from_str(&serde_json::to_string(thing).ok()?).ok()
}
