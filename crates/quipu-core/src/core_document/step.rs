//! Applies single operations to a document within its limits.

use json_patch::jsonptr::{Pointer, Token, index::Index};
use json_patch::{AddOperation, MoveOperation, PatchErrorKind, PatchOperation, RemoveOperation, ReplaceOperation};
use serde_json::Value;

use super::fault::{PatchFault, PatchFaultKind, Trouble, shown};
use super::measure::{Measure, bytes_within, measure, too_deep, too_large};
use super::patch::POINTER_BYTES_MAX;
use crate::limit;

/// A working copy of a document and its exact size. Discard it after an error.
pub(super) struct Stepper {
    document: Value,
    bytes: usize,
    done: usize,
}

impl Stepper {
    /// Copies the document.
    pub(super) fn new(document: &Value) -> Result<Self, PatchFault> {
        let Measure { bytes, .. } = measure(document).map_err(|trouble| trouble.at(0))?;
        Ok(Self { document: document.clone(), bytes, done: 0 })
    }

    /// The document so far.
    pub(super) fn document(&self) -> &Value {
        &self.document
    }

    /// Applies one operation, measuring it first.
    pub(super) fn step(&mut self, op: &PatchOperation) -> Result<(), PatchFault> {
        self.carry_out(op).map_err(|trouble| trouble.at(self.done))?;
        self.done += 1;
        Ok(())
    }

    /// The result. It is measured again, because what is stored must not rely on the running size.
    pub(super) fn finish(self) -> Result<Value, PatchFault> {
        let exact = measure(&self.document).map_err(|trouble| trouble.at(self.done.saturating_sub(1)))?;
        debug_assert_eq!(exact.bytes, self.bytes, "the running size drifted");
        Ok(self.document)
    }

    fn carry_out(&mut self, op: &PatchOperation) -> Result<(), Trouble> {
        bounded(op.path())?;
        match op {
            PatchOperation::Test(_) => self.run(op),
            PatchOperation::Remove(remove) => self.detach(&remove.path).map(drop),
            PatchOperation::Add(add) => {
                let after = self.room(&add.path, measure(&add.value)?)?;
                self.grow(op, after)
            }
            PatchOperation::Replace(replace) => {
                let after = self.room_in_place(replace)?;
                self.grow(op, after)
            }
            PatchOperation::Copy(copy) => {
                bounded(&copy.from)?;
                let after = self.room(&copy.path, measure(self.value(&copy.from)?)?)?;
                self.grow(op, after)
            }
            PatchOperation::Move(relocation) => self.relocate(relocation),
        }
    }

    /// A move is a removal followed by an addition (RFC 6902 §4.4): the target is resolved after the removal.
    fn relocate(&mut self, op: &MoveOperation) -> Result<(), Trouble> {
        bounded(&op.from)?;
        if op.path.starts_with(&op.from) && op.path != op.from {
            let reason = format!("`{}` cannot move into itself", shown(op.from.as_str()));
            return Err(Trouble::new(PatchFaultKind::Malformed, reason));
        }
        let value = self.detach(&op.from)?;
        let after = self.room(&op.path, measure(&value)?)?;
        self.grow(&PatchOperation::Add(AddOperation { path: op.path.clone(), value }), after)
    }

    fn detach(&mut self, path: &Pointer) -> Result<Value, Trouble> {
        let after = self.bytes - self.bytes_freed(path)?;
        let value = self.document.pointer_mut(path.as_str()).map(Value::take).ok_or_else(|| missing(path))?;
        self.run(&PatchOperation::Remove(RemoveOperation { path: path.to_buf() }))?;
        self.bytes = after;
        Ok(value)
    }

    fn grow(&mut self, op: &PatchOperation, after: usize) -> Result<(), Trouble> {
        self.run(op)?;
        self.bytes = after;
        Ok(())
    }

    fn run(&mut self, op: &PatchOperation) -> Result<(), Trouble> {
        json_patch::patch_unsafe(&mut self.document, std::slice::from_ref(op)).map_err(|error| {
            let kind = match error.kind {
                PatchErrorKind::TestFailed => PatchFaultKind::TestFailed,
                PatchErrorKind::CannotMoveInsideItself => PatchFaultKind::Malformed,
                _ => PatchFaultKind::Missing,
            };
            let what = if kind == PatchFaultKind::TestFailed { "holds another value" } else { "is not there" };
            Trouble::new(kind, format!("`{}` {what}", shown(op.path().as_str())))
        })
    }

    fn value(&self, path: &Pointer) -> Result<&Value, Trouble> {
        self.document.pointer(path.as_str()).ok_or_else(|| missing(path))
    }

    /// Size of the document in bytes after adding a value of this size, if that is within the limits.
    fn room(&self, path: &Pointer, value: Measure) -> Result<usize, Trouble> {
        if path.count() + value.depth > limit::CORE_DEPTH_MAX {
            return Err(too_deep());
        }
        let Some((parent, last)) = path.split_back() else {
            return Ok(value.bytes);
        };
        let after = match self.value(parent)? {
            Value::Object(members) => match members.get(last.decoded().as_ref()) {
                Some(old) => self.bytes - bytes_of(old)? + value.bytes,
                None => self.bytes + name_bytes(&last)? + value.bytes + usize::from(!members.is_empty()),
            },
            Value::Array(items) => {
                index(&last, path)?.for_len_incl(items.len()).map_err(|_| missing(path))?;
                self.bytes + value.bytes + usize::from(!items.is_empty())
            }
            _ => return Err(missing(path)),
        };
        if after > limit::CORE_BYTES_MAX { Err(too_large()) } else { Ok(after) }
    }

    fn room_in_place(&self, op: &ReplaceOperation) -> Result<usize, Trouble> {
        let value = measure(&op.value)?;
        let after = self.bytes - bytes_of(self.value(&op.path)?)? + value.bytes;
        if op.path.count() + value.depth > limit::CORE_DEPTH_MAX {
            return Err(too_deep());
        }
        if after > limit::CORE_BYTES_MAX { Err(too_large()) } else { Ok(after) }
    }

    fn bytes_freed(&self, path: &Pointer) -> Result<usize, Trouble> {
        let Some((parent, last)) = path.split_back() else {
            return Err(Trouble::new(PatchFaultKind::Malformed, "the whole document cannot be removed"));
        };
        match self.value(parent)? {
            Value::Object(members) => {
                let old = members.get(last.decoded().as_ref()).ok_or_else(|| missing(path))?;
                Ok(name_bytes(&last)? + bytes_of(old)? + usize::from(members.len() > 1))
            }
            Value::Array(items) => {
                let at = index(&last, path)?.for_len(items.len()).map_err(|_| missing(path))?;
                Ok(bytes_of(&items[at])? + usize::from(items.len() > 1))
            }
            _ => Err(missing(path)),
        }
    }
}

fn bounded(path: &Pointer) -> Result<(), Trouble> {
    if path.len() > POINTER_BYTES_MAX {
        let reason = format!("a path is longer than {POINTER_BYTES_MAX} bytes");
        return Err(Trouble::new(PatchFaultKind::Malformed, reason));
    }
    if path.count() > limit::CORE_DEPTH_MAX { Err(too_deep()) } else { Ok(()) }
}

fn bytes_of(value: &Value) -> Result<usize, Trouble> {
    bytes_within(value, limit::CORE_BYTES_MAX).ok_or_else(too_large)
}

/// Bytes of a member's name and the following colon.
fn name_bytes(token: &Token<'_>) -> Result<usize, Trouble> {
    let name = bytes_within(&token.decoded(), limit::CORE_BYTES_MAX).ok_or_else(too_large)?;
    Ok(name + 1)
}

fn index(token: &Token<'_>, path: &Pointer) -> Result<Index, Trouble> {
    token.to_index().map_err(|_| {
        let reason = format!("`{}` does not end in the index of an array", shown(path.as_str()));
        Trouble::new(PatchFaultKind::Malformed, reason)
    })
}

fn missing(path: &Pointer) -> Trouble {
    Trouble::new(PatchFaultKind::Missing, format!("`{}` is not there", shown(path.as_str())))
}
