//! Names categories.

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

/// The category proposed for a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProposedCategory {
    /// Its name; that of an earlier promoted category if the pattern belongs there.
    pub name: String,
    /// Its description.
    pub description: String,
}

/// The proposed name and description of a pattern's category, by rule; `None` if no name is free.
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

/// A model's suggestion for a pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// The name of the category.
    pub name: String,
    /// The description.
    pub description: String,
    /// Fields of members, by pointer.
    pub fields: BTreeMap<String, String>,
}

/// Normalises a model's suggestion. Fields that the members' words do not support are left to the rules.
///
/// # Errors
/// As [`check_name`]; also `Invalid` for an empty description or one of several lines.
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

/// The proposed fields that the members support, by pointer. Empty for a dynamic category, which moves as it is.
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
    // An existing category keeps its description.
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

/// Checks whether a category may have this name.
///
/// # Errors
/// `Invalid`: not 1 to 64 bytes of letters, digits, `_` and `-` starting with a letter. `Refused`: the name belongs to
/// a category of the registry or is reserved, or the document already has an unpromoted value there.
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
        return Err(Refusal::refused(format!("there is already a value at /{name}; choose another name")));
    }
    memory.schema().may_promote(name)
}
