//! Settings that are JSON, with what stands around values kept: spaces, order, and comments where the client allows them.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use quipu_engine::{Error, Result};
use serde_json::Value;

use super::refused;

/// What Quipu is called among the servers.
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

/// The file as it is written, and its outermost object.
fn read(text: &str, comments: bool, path: &Path) -> Result<(CstRootNode, CstObject)> {
    // The other reader is lenient about comments whatever it is told.
    if !comments && let Err(error) = serde_json::from_str::<Value>(text) {
        return Err(refused(path, format!("it is no JSON: {error}")));
    }
    let root = CstRootNode::parse(text, &options(comments))
        .map_err(|error| refused(path, format!("it is no JSON: {error}")))?;
    let object = match root.value() {
        None => root.object_value_or_set(),
        Some(_) => root.object_value().ok_or_else(|| refused(path, "it holds no object"))?,
    };
    let mut names: Vec<String> = object.properties().iter().filter_map(|member| member.decoded_name()).collect();
    names.sort();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(refused(path, "it has two members of one name"));
    }
    Ok((root, object))
}

/// The object that holds the servers, if there is one.
fn servers_of(object: &CstObject, servers: &str, path: &Path) -> Result<Option<CstObject>> {
    let Some(member) = object.get(servers) else { return Ok(None) };
    let held = member.object_value().ok_or_else(|| refused(path, format!("{servers} is no object")))?;
    let ours = |member: &CstObjectProp| member.decoded_name().as_deref() == Some(NAME);
    if held.properties().into_iter().filter(ours).count() > 1 {
        return Err(refused(path, format!("{servers} has {NAME} twice")));
    }
    Ok(Some(held))
}

/// The text with the entry, in the place of any that is there.
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

/// The entry as it stands in the text.
pub(super) fn entry(text: &str, servers: &str, comments: bool, path: &Path) -> Result<Option<Value>> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let (_, object) = read(text, comments, path)?;
    let member = servers_of(&object, servers, path)?.and_then(|held| held.get(NAME));
    Ok(member.and_then(|member| member.to_serde_value()))
}

/// The new text, if it says what was meant and everything else it said before.
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
        root.to_serde_value().ok_or_else(|| refused(path, "it holds no object"))
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
    if value(&new)? == wanted {
        Ok(new)
    } else {
        Err(Error::Bug(format!("{} would not say what it said before", path.display())))
    }
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
