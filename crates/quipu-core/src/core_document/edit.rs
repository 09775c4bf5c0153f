//! Patches for the two edits people make: set a value and unset it.

use json_patch::jsonptr::{Pointer, PointerBuf, Token};
use json_patch::{AddOperation, PatchOperation, RemoveOperation, ReplaceOperation};
use serde_json::{Map, Value};

use super::Patch;
use super::fault::shown;
use super::guard::guarded;
use crate::Refusal;

/// A guarded patch that sets the value at the pointer; empty if it is already there.
///
/// Missing parents are created as objects, or as a list where the path continues with `-`. On replay the patch applies
/// only if it has the same effect: values it replaces must be unchanged, and values it creates must be missing (see
/// [`replay`](super::replay)).
///
/// # Errors
/// `Invalid`: not a JSON Pointer, or the empty one. `Refused`: the path leads through a value without members or past
/// the end of a list, or the document would exceed its limits.
pub fn set(document: &Value, pointer: &str, value: Value) -> Result<Patch, Refusal> {
    let path = parse_pointer(pointer)?;
    let op = match document.pointer(path.as_str()) {
        Some(current) if *current == value => return Ok(Patch::default()),
        Some(_) => PatchOperation::Replace(ReplaceOperation { path, value }),
        None => addition(document, &path, value)?,
    };
    Ok(guarded(document, &Patch(vec![op]))?)
}

/// A guarded patch that removes the value at the pointer.
///
/// # Errors
/// `Invalid`: not a JSON Pointer, or the empty one. `NotFound`: there is no value.
pub fn unset(document: &Value, pointer: &str) -> Result<Patch, Refusal> {
    let path = parse_pointer(pointer)?;
    if document.pointer(path.as_str()).is_none() {
        return Err(Refusal::not_found(format!("there is nothing at `{}`", shown(pointer))));
    }
    Ok(guarded(document, &Patch(vec![PatchOperation::Remove(RemoveOperation { path })]))?)
}

pub(super) fn parse_pointer(pointer: &str) -> Result<PointerBuf, Refusal> {
    let path = PointerBuf::parse(pointer).map_err(|_| {
        let hint = "it starts with / and writes ~ as ~0 and / as ~1, like /location/city";
        Refusal::invalid(format!("`{}` is not a path: {hint}", shown(pointer)))
    })?;
    if path.is_root() {
        return Err(Refusal::invalid("name a path such as /location/city: the whole document cannot be set at once"));
    }
    Ok(path)
}

/// Adds the value and its missing parents in one operation.
fn addition(document: &Value, path: &Pointer, value: Value) -> Result<PatchOperation, Refusal> {
    let (at, depth) = first_missing(document, path)?;
    let tokens: Vec<Token<'_>> = path.tokens().collect();
    let value = nested(&tokens[depth..], value, path)?;
    Ok(PatchOperation::Add(AddOperation { path: at, value }))
}

/// The first missing place on a path, as a pointer for an `add`, and the number of tokens that lead to it.
pub(super) fn first_missing(document: &Value, path: &Pointer) -> Result<(PointerBuf, usize), Refusal> {
    let mut at = PointerBuf::new();
    let mut here = document;
    for (depth, token) in path.tokens().enumerate() {
        let place = at.with_trailing_token(token.clone());
        if let Some(next) = document.pointer(place.as_str()) {
            (at, here) = (place, next);
            continue;
        }
        let last = landing(here, &token, &at)?;
        return Ok((at.with_trailing_token(last), depth + 1));
    }
    Err(Refusal::refused(format!("`{}` is already there", shown(path.as_str()))))
}

/// The token under which a new value can be added to a parent.
fn landing<'t>(parent: &Value, token: &Token<'t>, at: &Pointer) -> Result<Token<'t>, Refusal> {
    let at = shown(at.as_str());
    match parent {
        Value::Object(_) => Ok(token.clone()),
        Value::Array(items) => match token.to_index().ok().and_then(|index| index.for_len_incl(items.len()).ok()) {
            Some(_) => Ok(Token::new("-")),
            None => {
                Err(Refusal::refused(format!("the list `{at}` has {} elements; use {at}/- to add one", items.len())))
            }
        },
        _ => Err(Refusal::refused(format!("`{at}` holds a plain value, nothing can be put below it"))),
    }
}

/// Wraps a value in its missing parents.
pub(super) fn nested(tokens: &[Token<'_>], value: Value, path: &Pointer) -> Result<Value, Refusal> {
    tokens.iter().rev().try_fold(value, |inner, token| {
        if token.is_next() {
            return Ok(Value::Array(vec![inner]));
        }
        if token.to_index().is_ok() {
            let hint = "there is no list yet; start one with - instead of a number";
            return Err(Refusal::refused(format!("`{}`: {hint}", shown(path.as_str()))));
        }
        Ok(Value::Object(Map::from_iter([(token.decoded().into_owned(), inner)])))
    })
}
