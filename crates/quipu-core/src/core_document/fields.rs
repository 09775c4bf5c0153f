//! Fields derived from facts. Part of the stored format: any change of behaviour changes how old ledgers replay.
//!
//! A change names a path and a value, never a list index nor the previous value, and creates the parents it needs. Its
//! effect depends on no earlier change, so reverting one leaves the others in place.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fault::{PatchFaultKind, Trouble, shown};
use super::measure::measure;
use super::patch::{GUARDED_OPS_MAX, POINTER_BYTES_MAX, too_many_ops};
use super::schemas::DYNAMIC;
use crate::Refusal;

/// A change of one field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    /// The field, as a JSON Pointer. Recorded as if no category had been promoted.
    pub at: String,
    /// The operation.
    #[serde(flatten)]
    pub op: FieldOp,
    /// The description of the dynamic category, if this change creates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What happens to a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum FieldOp {
    /// Sets the field to this value, whatever it held before.
    Set {
        /// The value.
        value: Value,
    },
    /// Removes the field if its value has this name, or any value without a name. Otherwise nothing changes.
    Unset {
        /// The name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// Ensures that the list has an element for this value: a string, or an object with a `name`. Other members are
    /// added to an existing element of the same name.
    Include {
        /// The value.
        value: Value,
    },
    /// Removes the element of this name. A list that becomes empty is removed.
    Exclude {
        /// The name.
        name: String,
    },
}

/// The document after the changes. `place` maps a recorded path to its current one.
///
/// # Errors
/// `Refused`: a path leads through a value without members or needs a list where there is none, or the document exceeds
/// its limits. `Invalid`: more than 1,600 changes.
pub fn change_fields(
    document: &Value,
    changes: &[FieldChange],
    place: &dyn Fn(&str) -> String,
) -> Result<Value, Refusal> {
    if changes.len() > GUARDED_OPS_MAX {
        return Err(too_many_ops(GUARDED_OPS_MAX).at(GUARDED_OPS_MAX).into());
    }
    let mut after = document.clone();
    for (at, change) in changes.iter().enumerate() {
        let pointer = place(&change.at);
        if apply(&mut after, &pointer, change).is_none() {
            let reason = format!("`{}` cannot hold the value: something else is in the way", shown(&pointer));
            return Err(Trouble::new(PatchFaultKind::Missing, reason).at(at).into());
        }
    }
    measure(&after).map_err(|trouble| trouble.at(changes.len().saturating_sub(1)))?;
    Ok(after)
}

fn apply(document: &mut Value, pointer: &str, change: &FieldChange) -> Option<()> {
    if pointer.len() > POINTER_BYTES_MAX {
        return None;
    }
    let description = change.description.as_deref();
    match &change.op {
        FieldOp::Set { value } => *reach(document, pointer, description, Value::Null)? = value.clone(),
        FieldOp::Include { value } => {
            let list = reach(document, pointer, description, Value::Array(Vec::new()))?.as_array_mut()?;
            include(list, value);
        }
        FieldOp::Unset { name } => {
            let stands = |value: &Value| name.as_deref().is_none_or(|name| stands_for(value, name));
            if document.pointer(pointer).is_some_and(stands) {
                remove_member(document, pointer);
                prune(document, pointer);
            }
        }
        FieldOp::Exclude { name } => {
            let Some(list) = document.pointer_mut(pointer).and_then(Value::as_array_mut) else { return Some(()) };
            let Some(at) = list.iter().position(|element| names(element, name)) else { return Some(()) };
            list.remove(at);
            if list.is_empty() {
                remove_member(document, pointer);
            }
            prune(document, pointer);
        }
    }
    Some(())
}

fn include(list: &mut Vec<Value>, value: &Value) {
    let name = name_of(value).unwrap_or_default();
    let Some(element) = list.iter_mut().find(|element| names(element, name)) else {
        return list.push(value.clone());
    };
    if let (Value::Object(element), Value::Object(members)) = (element, value) {
        let further = members.iter().filter(|(member, _)| *member != "name");
        element.extend(further.map(|(member, value)| (member.clone(), value.clone())));
    }
}

fn name_of(element: &Value) -> Option<&str> {
    element.as_str().or_else(|| element.get("name").and_then(Value::as_str))
}

/// True if a list element has this name.
pub(crate) fn names(element: &Value, name: &str) -> bool {
    name_of(element).is_some_and(|own| is_same_name(own, name))
}

/// True if a field has this name: itself, or as a place with this city.
pub(crate) fn stands_for(value: &Value, name: &str) -> bool {
    names(value, name) || value.get("city").is_some_and(|city| names(city, name))
}

/// True if two names are equal, ignoring case, punctuation at word edges and a leading article.
fn is_same_name(one: &str, other: &str) -> bool {
    let plain = |name: &str| {
        let lower = name.to_lowercase();
        let edge =
            |c: char| c.is_whitespace() || (c.is_ascii_punctuation() && !"+#%&".contains(c)) || "’“”‘…".contains(c);
        let mut words: Vec<&str> = lower.split_whitespace().map(|word| word.trim_matches(edge)).collect();
        words.retain(|word| !word.is_empty());
        while words.len() > 1 && matches!(words[0], "a" | "an" | "the" | "my" | "some") {
            words.remove(0);
        }
        words.join(" ")
    };
    plain(one) == plain(other)
}

/// The value at a pointer; missing parents are created. `None` if another value is in the way.
fn reach<'a>(document: &'a mut Value, pointer: &str, description: Option<&str>, last: Value) -> Option<&'a mut Value> {
    let tokens: Vec<String> =
        pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect();
    let mut here = document;
    for (depth, token) in tokens.iter().enumerate() {
        here = here.as_object_mut()?.entry(token.as_str()).or_insert_with(|| {
            if depth + 1 == tokens.len() {
                return last.clone();
            }
            let mut made = Map::new();
            if depth == 1 && tokens[0] == DYNAMIC {
                made.extend(description.map(|text| ("description".to_owned(), text.into())));
            }
            Value::Object(made)
        });
    }
    (!tokens.is_empty()).then_some(here)
}

fn remove_member(document: &mut Value, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else { return };
    let last = last.replace("~1", "/").replace("~0", "~");
    if let Some(members) = document.pointer_mut(parent).and_then(Value::as_object_mut) {
        members.remove(&last);
    }
}

/// Removes empty parents of a path, up to and including the category.
fn prune(document: &mut Value, pointer: &str) {
    let is_bare =
        |value: &Value| value.as_object().is_some_and(|members| members.keys().all(|name| name == "description"));
    let mut path = pointer;
    while let Some((parent, _)) = path.rsplit_once('/') {
        if parent.is_empty() || !document.pointer(parent).is_some_and(is_bare) {
            return;
        }
        remove_member(document, parent);
        path = parent;
    }
}
