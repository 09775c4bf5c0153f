//! Differences between two documents, as a patch and as a readable list.

use json_patch::jsonptr::{Pointer, PointerBuf, Token};
use json_patch::{AddOperation, PatchOperation, RemoveOperation, ReplaceOperation};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Patch;
use super::align::{Pair, align};
use super::guard::identity;
use super::patch::apply;
use crate::limit;

/// The patch that turns one document into the other. Members are matched by name and list elements by equality or by
/// their `id` or `name`, so removing the first of three elements is one operation.
///
/// If both documents are within the limits of the core document, so is every intermediate step, and the patch has at
/// most [`limit::PATCH_OPS_MAX`] operations; if more are needed, the parts that differ most are replaced whole. It
/// contains no tests; see [`guarded`](super::guarded).
pub fn diff(from: &Value, to: &Value) -> Patch {
    let root = Pointer::root();
    let patch = Patch(changes(root, from, to));
    // Additions that precede removals can exceed a limit on the way.
    if apply(from, &patch).is_ok_and(|result| result == *to) {
        return patch;
    }
    Patch(vec![replace(root, to)])
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathChange {
    /// JSON Pointer in the later document, or in the earlier one for a removal.
    pub path: String,
    /// The value before; omitted if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after; omitted if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// Lists the differences in document order, for people to read.
pub fn describe(from: &Value, to: &Value) -> Vec<PathChange> {
    let mut found = Vec::new();
    describe_at(Pointer::root(), from, to, &mut found);
    found
}

fn describe_at(path: &Pointer, from: &Value, to: &Value, found: &mut Vec<PathChange>) {
    match (from, to) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, part) in members(old, new) {
                let path = path.with_trailing_token(name);
                match part {
                    ChildDiff::Both(before, after) => describe_at(&path, before, after, found),
                    ChildDiff::Gone(before) => note(found, path, Some(before), None),
                    ChildDiff::New(after) => note(found, path, None, Some(after)),
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for pair in align(old, new) {
                match pair {
                    Pair::Same => {}
                    Pair::Changed(i, j) if related(&old[i], &new[j]) => {
                        describe_at(&path.with_trailing_token(j), &old[i], &new[j], found);
                    }
                    Pair::Changed(i, j) => note(found, path.with_trailing_token(j), Some(&old[i]), Some(&new[j])),
                    Pair::Gone(i) => note(found, path.with_trailing_token(i), Some(&old[i]), None),
                    Pair::New(j) => note(found, path.with_trailing_token(j), None, Some(&new[j])),
                }
            }
        }
        _ if from == to => {}
        _ => note(found, path.to_buf(), Some(from), Some(to)),
    }
}

fn note(found: &mut Vec<PathChange>, path: PointerBuf, before: Option<&Value>, after: Option<&Value>) {
    found.push(PathChange { path: path.to_string(), before: before.cloned(), after: after.cloned() });
}

/// The operations for one path; never more than a patch may have.
fn changes(path: &Pointer, from: &Value, to: &Value) -> Vec<PatchOperation> {
    match (from, to) {
        (Value::Object(old), Value::Object(new)) => settle(object_changes(path, old, new), path, to),
        (Value::Array(old), Value::Array(new)) => settle(array_changes(path, old, new), path, to),
        _ if from == to => Vec::new(),
        _ => vec![replace(path, to)],
    }
}

/// The operations of one child, and the single operation that can replace them.
struct Group {
    ops: Vec<PatchOperation>,
    whole: Option<PatchOperation>,
}

impl Group {
    fn of(op: PatchOperation) -> Self {
        Self { ops: vec![op], whole: None }
    }

    fn changed(path: &Pointer, from: &Value, to: &Value) -> Self {
        Self { ops: changes(path, from, to), whole: Some(replace(path, to)) }
    }
}

fn object_changes(path: &Pointer, old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<Group> {
    let mut groups: Vec<Group> = members(old, new)
        .map(|(name, part)| {
            let path = path.with_trailing_token(name);
            match part {
                ChildDiff::Gone(_) => Group::of(PatchOperation::Remove(RemoveOperation { path })),
                ChildDiff::Both(before, after) => Group::changed(&path, before, after),
                ChildDiff::New(after) => Group::of(add(path, after)),
            }
        })
        .collect();
    // Removals first, to make room for additions.
    groups.sort_by_key(|group| match group.ops.as_slice() {
        [PatchOperation::Remove(_)] => 0,
        [PatchOperation::Add(_)] => 2,
        _ => 1,
    });
    groups
}

fn array_changes(path: &Pointer, old: &[Value], new: &[Value]) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut at = 0;
    for pair in align(old, new) {
        let place = path.with_trailing_token(at);
        match pair {
            Pair::Same => {}
            Pair::Changed(i, j) if related(&old[i], &new[j]) => groups.push(Group::changed(&place, &old[i], &new[j])),
            Pair::Changed(_, j) => groups.push(Group::of(replace(&place, &new[j]))),
            Pair::New(j) => groups.push(Group::of(add(place, &new[j]))),
            Pair::Gone(_) => {
                groups.push(Group::of(PatchOperation::Remove(RemoveOperation { path: place })));
                continue;
            }
        }
        at += 1;
    }
    groups
}

/// Replaces whole children, largest difference first, then the parent, until the operations fit into one patch.
fn settle(mut groups: Vec<Group>, path: &Pointer, to: &Value) -> Vec<PatchOperation> {
    groups.retain(|group| !group.ops.is_empty());
    let mut total: usize = groups.iter().map(|group| group.ops.len()).sum();
    if groups.len() > limit::PATCH_OPS_MAX {
        return vec![replace(path, to)];
    }
    while total > limit::PATCH_OPS_MAX {
        let largest = groups.iter_mut().filter(|group| group.whole.is_some()).max_by_key(|group| group.ops.len());
        let Some((group, whole)) = largest.and_then(|group| group.whole.take().map(|whole| (group, whole))) else {
            return vec![replace(path, to)];
        };
        total = total - group.ops.len() + 1;
        group.ops = vec![whole];
    }
    groups.into_iter().flat_map(|group| group.ops).collect()
}

enum ChildDiff<'v> {
    Gone(&'v Value),
    Both(&'v Value, &'v Value),
    New(&'v Value),
}

/// The members of both objects: those of the first in its order, then those only in the second.
fn members<'v>(
    old: &'v Map<String, Value>,
    new: &'v Map<String, Value>,
) -> impl Iterator<Item = (Token<'v>, ChildDiff<'v>)> {
    let kept = old.iter().map(|(name, before)| match new.get(name) {
        Some(after) => (name, ChildDiff::Both(before, after)),
        None => (name, ChildDiff::Gone(before)),
    });
    let added =
        new.iter().filter(|(name, _)| !old.contains_key(*name)).map(|(name, after)| (name, ChildDiff::New(after)));
    kept.chain(added).map(|(name, part)| (Token::new(name.as_str()), part))
}

/// True if an element is better described as changed than as replaced.
fn related(from: &Value, to: &Value) -> bool {
    match (from, to) {
        (Value::Object(old), Value::Object(new)) => {
            identity(from) == identity(to) && old.keys().any(|name| new.contains_key(name))
        }
        (Value::Array(_), Value::Array(_)) => true,
        _ => false,
    }
}

fn add(path: PointerBuf, value: &Value) -> PatchOperation {
    PatchOperation::Add(AddOperation { path, value: value.clone() })
}

fn replace(path: &Pointer, value: &Value) -> PatchOperation {
    PatchOperation::Replace(ReplaceOperation { path: path.to_buf(), value: value.clone() })
}
