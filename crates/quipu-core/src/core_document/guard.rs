//! Adds tests to a patch so that it cannot hit the wrong place when replayed on another document.

use json_patch::jsonptr::index::Index;
use json_patch::jsonptr::{Pointer, PointerBuf, Token};
use json_patch::{MoveOperation, PatchOperation, TestOperation};
use serde_json::Value;

use super::Patch;
use super::fault::PatchFault;
use super::known::CertainPlaces;
use super::measure::{bytes_within, too_large};
use super::patch::{GUARDED_OPS_MAX, PATCH_BYTES_MAX, countable, too_many_ops};
use super::step::Stepper;

/// The patch with a `test` before each operation that replaces, removes, moves, copies or overwrites a value.
///
/// The test holds the current value. Each array element on the path is also tested: by its `id`, or else its `name`, or
/// else whole. Values that the patch has already tested or written are not tested again. On this document the guarded
/// patch has the effect of the patch; on another it has the same effect on the same values, or none.
///
/// The position at which an element is inserted is not guarded, because an insertion loses nothing.
///
/// # Errors
/// As [`apply`](super::apply): a patch that does not apply cannot be guarded. `TooLarge` or `TooManyOps` also if the
/// guarded patch would exceed 1 MiB or 1,600 operations.
pub fn guarded(document: &Value, patch: &Patch) -> Result<Patch, PatchFault> {
    guarded_with_result(document, patch).map(|(patch, _)| patch)
}

/// The guarded patch and the resulting document.
pub(super) fn guarded_with_result(document: &Value, patch: &Patch) -> Result<(Patch, Value), PatchFault> {
    countable(patch)?;
    let mut stepper = Stepper::new(document)?;
    let mut known = CertainPlaces::default();
    let mut ops = Vec::with_capacity(patch.len());
    let mut bytes_left = PATCH_BYTES_MAX;
    for (at, op) in patch.iter().enumerate() {
        let mut guard = Guard { document: stepper.document(), known: &mut known, bytes_left, ops: &mut ops };
        guard.op(op).ok_or_else(|| too_large().at(at))?;
        bytes_left = guard.bytes_left;
        if ops.len() >= GUARDED_OPS_MAX {
            return Err(too_many_ops(GUARDED_OPS_MAX).at(at));
        }
        stepper.step(op)?;
        known.applied(op);
        ops.push(op.clone());
    }
    Ok((Patch(ops), stepper.finish()?))
}

/// True if the operation would overwrite a value that the patch has neither tested nor written.
pub(super) fn overwrites_unknown(document: &Value, op: &PatchOperation, known: &CertainPlaces) -> bool {
    let target = match op {
        PatchOperation::Add(add) => add.path.clone(),
        PatchOperation::Copy(copy) => copy.path.clone(),
        PatchOperation::Move(relocation) => target_before_removal(document, relocation),
        PatchOperation::Remove(_) | PatchOperation::Replace(_) | PatchOperation::Test(_) => return false,
    };
    would_overwrite(document, &target) && !known.covers(&target)
}

/// Adds tests; `None` if they exceed the remaining bytes.
struct Guard<'a> {
    document: &'a Value,
    known: &'a mut CertainPlaces,
    bytes_left: usize,
    ops: &'a mut Vec<PatchOperation>,
}

impl Guard<'_> {
    fn op(&mut self, op: &PatchOperation) -> Option<()> {
        match op {
            PatchOperation::Test(_) => Some(()),
            PatchOperation::Add(add) => self.target(&add.path),
            PatchOperation::Replace(replace) => self.value(&replace.path),
            PatchOperation::Remove(remove) => self.value(&remove.path),
            PatchOperation::Copy(copy) => {
                self.value(&copy.from)?;
                self.target(&copy.path)
            }
            PatchOperation::Move(relocation) => {
                self.value(&relocation.from)?;
                self.target(&target_before_removal(self.document, relocation))
            }
        }
    }

    fn target(&mut self, path: &Pointer) -> Option<()> {
        if would_overwrite(self.document, path) {
            return self.value(path);
        }
        let Some(parent) = path.parent() else { return Some(()) };
        self.elements(parent)?;
        // What is inserted here would overwrite, in a document that has an object for this list, what was tested.
        let is_inserted = self.document.pointer(parent.as_str()).is_some_and(Value::is_array);
        if is_inserted && self.known.covers(path) { self.test(parent) } else { Some(()) }
    }

    fn value(&mut self, path: &Pointer) -> Option<()> {
        if let Some(parent) = path.parent() {
            self.elements(parent)?;
        }
        self.test(path)
    }

    /// Tests the identity of each array element on the path.
    fn elements(&mut self, path: &Pointer) -> Option<()> {
        let mut at = PointerBuf::new();
        let mut here = self.document;
        for token in path.tokens() {
            at.push_back(token.clone());
            let Some(next) = child(here, &token) else { return Some(()) };
            if here.is_array() && !self.known.covers(&at) {
                match identity(next) {
                    Some((member, _)) => self.test(&at.with_trailing_token(member))?,
                    None => return self.test(&at),
                }
            }
            here = next;
        }
        Some(())
    }

    fn test(&mut self, path: &Pointer) -> Option<()> {
        if self.known.covers(path) {
            return Some(());
        }
        let Some(value) = self.document.pointer(path.as_str()) else { return Some(()) };
        self.bytes_left = self.bytes_left.checked_sub(bytes_within(value, self.bytes_left)?)?;
        self.ops.push(PatchOperation::Test(TestOperation { path: path.to_buf(), value: value.clone() }));
        self.known.tested(path);
        Some(())
    }
}

/// The member that identifies a list element.
pub(super) fn identity(value: &Value) -> Option<(&'static str, &Value)> {
    ["id", "name"].into_iter().find_map(|member| {
        let value = value.as_object()?.get(member)?;
        (value.is_string() || value.is_number()).then_some((member, value))
    })
}

fn child<'v>(value: &'v Value, token: &Token<'_>) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(token.decoded().as_ref()),
        Value::Array(items) => items.get(token.to_index().ok()?.for_len(items.len()).ok()?),
        _ => None,
    }
}

/// True if an `add` would replace a member or the document. An `add` to an array inserts.
fn would_overwrite(document: &Value, path: &Pointer) -> bool {
    let Some((parent, last)) = path.split_back() else { return true };
    let parent = document.pointer(parent.as_str()).and_then(Value::as_object);
    parent.is_some_and(|members| members.contains_key(last.decoded().as_ref()))
}

/// The target of a move as a path before the move.
///
/// RFC 6902 names it as it is after the removal, when the elements behind the removed one have moved up.
fn target_before_removal(document: &Value, op: &MoveOperation) -> PointerBuf {
    let shifted = || {
        let (list, from) = op.from.split_back()?;
        document.pointer(list.as_str())?.as_array()?;
        let below = op.path.starts_with(list).then(|| op.path.strip_prefix(list))??;
        let (first, rest) = below.split_front()?;
        let (Ok(Index::Num(from)), Ok(Index::Num(to))) = (from.to_index(), first.to_index()) else { return None };
        let before = if to >= from { to.checked_add(1)? } else { to };
        (!rest.is_root()).then(|| list.with_trailing_token(before).concat(rest))
    };
    shifted().unwrap_or_else(|| op.path.clone())
}
