//! Edits by hand that do not depend on the events that created their parents. Part of the stored format.
//!
//! A patch adds to objects and lists that earlier events created. An edit names these containers; one that is missing
//! on replay, because its event was reverted, is created first.

use json_patch::jsonptr::{Pointer, PointerBuf};
use json_patch::{AddOperation, PatchOperation, ReplaceOperation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::edit::{first_missing, nested, parse_pointer};
use super::patch::{GUARDED_OPS_MAX, too_many_ops};
use super::{Patch, replay};
use crate::Refusal;
use crate::limit;

/// An object or list that a patch adds to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Its path, as a JSON Pointer.
    pub at: String,
    /// True for a list, false for an object.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub list: bool,
}

/// The document with its missing containers added. A container whose parent is not an object is skipped.
pub fn with_containers(document: &Value, containers: &[Container]) -> Value {
    let mut made = document.clone();
    for container in containers {
        let Ok(path) = PointerBuf::parse(container.at.as_str()) else { continue };
        let Some((parent, last)) = path.split_back() else { continue };
        let parent = made.pointer_mut(parent.as_str()).and_then(Value::as_object_mut);
        if let Some(members) = parent.filter(|_| path.count() <= limit::CORE_DEPTH_MAX) {
            let empty = || if container.list { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
            members.entry(last.decoded()).or_insert_with(empty);
        }
    }
    made
}

/// Replays a recorded edit: adds its containers and applies its patch as [`replay`] does; all or nothing.
///
/// # Errors
/// As [`replay`]; `Invalid` with more than 1,600 containers.
pub fn replay_within(document: &Value, containers: &[Container], patch: &Patch) -> Result<Value, Refusal> {
    if containers.len() > GUARDED_OPS_MAX {
        return Err(too_many_ops(GUARDED_OPS_MAX).at(0).into());
    }
    Ok(replay(&with_containers(document, containers), patch)?)
}

/// The containers that a patch adds to but does not create.
pub fn containers(document: &Value, patch: &Patch) -> Vec<Container> {
    let mut found: Vec<Container> = Vec::new();
    for op in patch.iter() {
        let target = match op {
            PatchOperation::Add(add) => &add.path,
            PatchOperation::Copy(copy) => &copy.path,
            PatchOperation::Move(relocation) => &relocation.path,
            PatchOperation::Remove(_) | PatchOperation::Replace(_) | PatchOperation::Test(_) => continue,
        };
        for container in on_the_way(document, target) {
            if !found.contains(&container) {
                found.push(container);
            }
        }
    }
    found
}

/// The objects above a path, and the list it appends to. Elements of lists are left out, because they cannot be
/// recreated.
fn on_the_way(document: &Value, path: &Pointer) -> Vec<Container> {
    let tokens: Vec<_> = path.tokens().collect();
    let (mut at, mut here, mut found) = (PointerBuf::new(), Some(document), Vec::new());
    for (depth, token) in tokens.iter().enumerate() {
        let list = match here {
            Some(Value::Object(_)) => false,
            Some(Value::Array(_)) if depth + 1 == tokens.len() && token.is_next() => true,
            _ => break,
        };
        if !at.is_root() {
            found.push(Container { at: at.to_string(), list });
        }
        at.push_back(token.clone());
        here = document.pointer(at.as_str());
    }
    found
}

/// The edit that sets the value at the pointer; an empty patch if it is already there.
///
/// Missing parents become containers: objects, or a list where the path continues with `-`. On replay a replaced value
/// must be unchanged, and an added one must be missing.
///
/// # Errors
/// `Invalid`: not a JSON Pointer, or the empty one. `Refused`: the path leads through a value without members or past
/// the end of a list.
pub fn set_within(document: &Value, pointer: &str, value: Value) -> Result<(Vec<Container>, Patch), Refusal> {
    let path = parse_pointer(pointer)?;
    match document.pointer(path.as_str()) {
        Some(current) if *current == value => return Ok((Vec::new(), Patch::default())),
        Some(_) => {
            let replace = PatchOperation::Replace(ReplaceOperation { path, value });
            return Ok((Vec::new(), Patch(vec![replace])));
        }
        None => {}
    }
    let (mut at, depth) = first_missing(document, &path)?;
    let mut found = on_the_way(document, &at);
    let tokens: Vec<_> = path.tokens().collect();
    let mut below = &tokens[depth..];
    // A new list element is not a container: it is added whole.
    while let Some((next, rest)) = below.split_first()
        && !at.back().is_some_and(|last| last.is_next())
    {
        if !next.is_next() && next.to_index().is_ok() {
            break;
        }
        found.push(Container { at: at.to_string(), list: next.is_next() });
        at.push_back(next.clone());
        below = rest;
    }
    let value = nested(below, value, &path)?;
    Ok((found, Patch(vec![PatchOperation::Add(AddOperation { path: at, value })])))
}
