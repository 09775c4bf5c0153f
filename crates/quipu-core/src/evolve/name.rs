//! How a category is named.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::fields;
use super::mine::Candidate;
use super::schema::CATEGORY_NAME_BYTES_MAX;
use super::words::{camel, english, key_words};
use super::written::name_of;
use crate::core_document::{Categories, DYNAMIC, UNCATEGORIZED};
use crate::memory::Memory;
use crate::refusal::Refusal;

/// Longest description of a category, in bytes.
pub(super) const DESCRIPTION_BYTES_MAX: usize = 1024;

/// What a pattern would become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProposedCategory {
    /// The category's name; that of one that was promoted before, if the pattern belongs there.
    pub name: String,
    /// What it is about.
    pub description: String,
}

/// The name and description of a pattern's category, by rule; `None` if the rules find no name that is free.
pub fn propose(memory: &Memory, categories: Categories<'_>, candidate: &Candidate) -> Option<ProposedCategory> {
    let schema = memory.schema();
    if let Some(name) = schema.promoted_from(&candidate.key) {
        return Some(known(memory, name));
    }
    let words = key_words(&candidate.key);
    let said = if words.is_empty() { candidate.key.clone() } else { words.join(" ") };
    let (name, description) = if candidate.dynamic {
        let described =
            memory.core().get(DYNAMIC).and_then(|all| all.get(&candidate.key)?.get("description")?.as_str());
        (camel(&words), described.map_or_else(|| format!("User's {said}"), cut))
    } else if let Some(named) = words.iter().find_map(|word| english().named(word)) {
        (named.name.clone(), named.about.clone())
    } else if let [pointer] = candidate.members.as_slice()
        && pointer.ends_with(&format!("/{}", super::written::token(&candidate.key)))
    {
        (camel(&words), format!("User's {said}"))
    } else {
        (format!("{}Notes", camel(&words)), format!("User's notes on {said}"))
    };
    if schema.category(&name).is_some() {
        return Some(known(memory, &name));
    }
    let tries = [name.clone(), format!("{name}Notes"), format!("{name}2"), format!("{name}3")];
    let name = tries.into_iter().find(|name| check_name(memory, categories, name).is_ok())?;
    Some(ProposedCategory { name, description })
}

/// What somebody who is no person makes of a pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// What the category is called.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// The fields of members, by where they stand.
    pub fields: BTreeMap<String, String>,
}

/// What somebody who is no person calls a category and its fields, brought into the form names have. A field that the words of
/// its member do not bear out is left to the rules.
///
/// # Errors
/// As [`check_name`]; `Invalid` too for a description of several lines or none.
pub fn suggested(
    memory: &Memory,
    categories: Categories<'_>,
    candidate: &Candidate,
    said: &Suggestion,
) -> Result<Suggestion, Refusal> {
    let name = camel(&key_words(&said.name));
    check_name(memory, categories, &name)?;
    let fields = borne_out(memory, candidate, &said.fields);
    let ProposedCategory { name, description } = described(memory, name, &said.description)?;
    Ok(Suggestion { name, description, fields })
}

/// What of proposed fields the members bear out, by where they stand. A dynamic category moves as it is and has no say.
fn borne_out(memory: &Memory, candidate: &Candidate, said: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let field = |pointer: &String| {
        let sentence = memory.core().pointer(pointer)?.as_str()?;
        let key = name_of(pointer.rsplit('/').next()?);
        let field = fields::borne_out(candidate, &key, sentence, said.get(pointer)?)?;
        Some((pointer.clone(), field.name))
    };
    if candidate.dynamic { BTreeMap::new() } else { candidate.members.iter().filter_map(field).collect() }
}

fn described(memory: &Memory, name: String, description: &str) -> Result<ProposedCategory, Refusal> {
    let description = description.trim();
    if description.is_empty() || description.chars().any(char::is_control) {
        return Err(Refusal::invalid("a category is described in one line"));
    }
    // One that is there keeps what it is about.
    Ok(match memory.schema().category(&name) {
        Some(_) => known(memory, &name),
        None => ProposedCategory { name, description: cut(description) },
    })
}

fn known(memory: &Memory, name: &str) -> ProposedCategory {
    let description = memory.schema().category(name).map_or("", |category| category.description()).to_owned();
    ProposedCategory { name: name.to_owned(), description }
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(DESCRIPTION_BYTES_MAX)].to_owned()
}

/// True words for why a category cannot be called so.
///
/// # Errors
/// `Invalid`: not 1 to 64 bytes of letters, digits, `_` and `-` starting with a letter. `Refused`: a category of the
/// registry or a place with a meaning of its own has that name, or something stands there that was never promoted.
pub fn check_name(memory: &Memory, categories: Categories<'_>, name: &str) -> Result<(), Refusal> {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if name.is_empty() || name.len() > CATEGORY_NAME_BYTES_MAX || !plain || !name.starts_with(char::is_alphabetic) {
        let shown: String = name.chars().take(80).collect();
        let rule = "1 to 64 bytes of letters, digits, _ and -, starting with a letter";
        return Err(Refusal::invalid(format!("{shown:?} cannot name a category: {rule}")));
    }
    if categories.registry().has(name) || [DYNAMIC, UNCATEGORIZED].contains(&name) {
        return Err(Refusal::refused(format!(
            "there is a category {name} with a schema of its own; choose another name"
        )));
    }
    if memory.schema().category(name).is_none() && memory.core().get(name).is_some_and(|value| *value != Value::Null) {
        return Err(Refusal::refused(format!("something stands at /{name} already; choose another name")));
    }
    memory.schema().may_promote(name)
}
