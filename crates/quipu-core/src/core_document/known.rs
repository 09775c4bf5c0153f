//! Tracks the places of a document whose content a patch determines.

use json_patch::PatchOperation;
use json_patch::jsonptr::{Pointer, PointerBuf, Token};

/// The places whose whole content follows from the patch alone, because it tested or wrote them.
///
/// They are derived from the paths, not from a document, so they are the same wherever the patch applies.
#[derive(Debug, Default)]
pub(super) struct CertainPlaces(Vec<PointerBuf>);

impl CertainPlaces {
    /// True if the patch determines the content at this path.
    pub(super) fn covers(&self, path: &Pointer) -> bool {
        self.0.iter().any(|known| path.starts_with(known))
    }

    /// Records a test that passed.
    pub(super) fn tested(&mut self, path: &Pointer) {
        if !self.covers(path) {
            self.0.push(path.to_buf());
        }
    }

    /// Records an operation that was applied.
    pub(super) fn applied(&mut self, op: &PatchOperation) {
        match op {
            PatchOperation::Test(test) => self.tested(&test.path),
            PatchOperation::Add(add) => self.arrived(&add.path, true),
            PatchOperation::Replace(replace) => self.written(&replace.path, true),
            PatchOperation::Remove(remove) => self.left(&remove.path),
            PatchOperation::Copy(copy) => {
                let certain = self.covers(&copy.from);
                self.arrived(&copy.path, certain);
            }
            PatchOperation::Move(relocation) => {
                let certain = self.covers(&relocation.from);
                self.left(&relocation.from);
                self.arrived(&relocation.path, certain);
            }
        }
    }

    fn written(&mut self, path: &Pointer, certain: bool) {
        self.0.retain(|known| !known.starts_with(path));
        if certain {
            self.tested(path);
        } else {
            // The enclosing values now contain an unknown value.
            self.0.retain(|known| !path.starts_with(known));
        }
    }

    fn arrived(&mut self, path: &Pointer, certain: bool) {
        self.shift(path);
        // Not recorded under an index: the same path inserts into a list but overwrites in an object.
        let placed = path.back().is_some_and(|last| last.is_next() || may_be_index(&last));
        if placed && certain {
            self.0.retain(|known| !known.starts_with(path));
        } else {
            self.written(path, certain);
        }
    }

    fn left(&mut self, path: &Pointer) {
        self.0.retain(|known| !known.starts_with(path));
        self.shift(path);
    }

    /// Drops the siblings of an inserted or removed element: their indices may have shifted.
    fn shift(&mut self, path: &Pointer) {
        let Some((parent, last)) = path.split_back() else { return };
        if may_be_index(&last) {
            self.0.retain(|known| known.len() <= parent.len() || !known.starts_with(parent));
        }
    }
}

fn may_be_index(token: &Token<'_>) -> bool {
    token.encoded().bytes().all(|byte| byte.is_ascii_digit())
}
