//! Edits JSON settings; white space, order and comments (where the client allows them) are preserved.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use quipu_engine::{Error, Result};
use serde_json::Value;

use super::refused;

/// Name of the entry.
const NAME: &str = "quipu";

fn options(comments: bool) -> ParseOptions {
    ParseOptions {
        allow_comments: comments,
        allow_trailing_commas: comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Parses a file into its syntax tree and its root object.
fn read(text: &str, comments: bool, path: &Path) -> Result<(CstRootNode, CstObject)> {
    // The parser below accepts comments in any case.
    if !comments && let Err(error) = serde_json::from_str::<Value>(text) {
        return Err(refused(path, format!("it is not JSON: {error}")));
    }
    let root = CstRootNode::parse(text, &options(comments))
        .map_err(|error| refused(path, format!("it is not JSON: {error}")))?;
    let object = match root.value() {
        None => root.object_value_or_set(),
        Some(_) => root.object_value().ok_or_else(|| refused(path, "its root is not an object"))?,
    };
    let mut names: Vec<String> = object.properties().iter().filter_map(|member| member.decoded_name()).collect();
    names.sort();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(refused(path, "it has two members with the same name"));
    }
    Ok((root, object))
}

/// The object with the servers, if there is one.
fn servers_of(object: &CstObject, servers: &str, path: &Path) -> Result<Option<CstObject>> {
    let Some(member) = object.get(servers) else { return Ok(None) };
    let held = member.object_value().ok_or_else(|| refused(path, format!("{servers} is not an object")))?;
    let ours = |member: &CstObjectProp| member.decoded_name().as_deref() == Some(NAME);
    if held.properties().into_iter().filter(ours).count() > 1 {
        return Err(refused(path, format!("{servers} has {NAME} twice")));
    }
    Ok(Some(held))
}

/// The text with the entry; it replaces an earlier one.
pub(super) fn with(text: Option<&str>, servers: &str, entry: &Value, comments: bool, path: &Path) -> Result<String> {
    let text = text.filter(|text| !text.trim().is_empty());
    let Some(text) = text else {
        let mut whole = Value::Object(serde_json::Map::new());
        whole[servers] = serde_json::json!({ NAME: entry });
        let text = serde_json::to_string_pretty(&whole).map_err(|error| Error::Bug(error.to_string()))?;
        return Ok(text + "\n");
    };
    let (root, object) = read(text, comments, path)?;
    let held = match servers_of(&object, servers, path)? {
        Some(held) => held,
        None => object.object_value_or_set(servers),
    };
    match held.get(NAME) {
        Some(member) => member.set_value(input(entry)),
        None => {
            held.append(NAME, input(entry));
        }
    }
    checked(text, root.to_string(), servers, Some(entry), comments, path)
}

/// The text without the entry.
pub(super) fn without(text: &str, servers: &str, comments: bool, path: &Path) -> Result<String> {
    let (root, object) = read(text, comments, path)?;
    let member = servers_of(&object, servers, path)?.and_then(|held| held.get(NAME));
    let Some(member) = member else { return Ok(text.to_owned()) };
    member.remove();
    checked(text, root.to_string(), servers, None, comments, path)
}

/// The entry in the text.
pub(super) fn entry(text: &str, servers: &str, comments: bool, path: &Path) -> Result<Option<Value>> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let (_, object) = read(text, comments, path)?;
    let member = servers_of(&object, servers, path)?.and_then(|held| held.get(NAME));
    Ok(member.and_then(|member| member.to_serde_value()))
}

/// Returns the new text after checking that only the entry differs from the old one.
fn checked(
    old: &str,
    new: String,
    servers: &str,
    entry: Option<&Value>,
    comments: bool,
    path: &Path,
) -> Result<String> {
    let value = |text: &str| -> Result<Value> {
        let (root, _) = read(text, comments, path)?;
        root.to_serde_value().ok_or_else(|| refused(path, "its root is not an object"))
    };
    let mut wanted = value(old)?;
    match entry {
        Some(entry) => {
            if wanted.get(servers).is_none() {
                wanted[servers] = Value::Object(serde_json::Map::new());
            }
            wanted[servers][NAME] = entry.clone();
        }
        None => {
            if let Some(held) = wanted.get_mut(servers).and_then(Value::as_object_mut) {
                held.remove(NAME);
            }
        }
    }
    if value(&new)? == wanted { Ok(new) } else { Err(Error::Bug(format!("{} would lose settings", path.display()))) }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(*is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
