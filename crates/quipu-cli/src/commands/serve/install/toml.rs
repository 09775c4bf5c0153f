//! Edits TOML settings; comments, order and white space are preserved.

use std::path::Path;

use quipu_engine::{Error, Result};
use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::refused;

const SERVERS: &str = "mcp_servers";
/// Name of the entry.
const NAME: &str = "quipu";

fn read(text: &str, path: &Path) -> Result<DocumentMut> {
    text.parse().map_err(|error| refused(path, format!("it is not TOML: {error}")))
}

fn servers<'a>(file: &'a DocumentMut, path: &Path) -> Result<Option<&'a dyn TableLike>> {
    match file.get(SERVERS) {
        None => Ok(None),
        Some(item) => item.as_table_like().map(Some).ok_or_else(|| refused(path, format!("{SERVERS} is not a table"))),
    }
}

/// The text with the entry; it replaces an earlier one.
pub(super) fn with(text: Option<&str>, entry: &Value, path: &Path) -> Result<String> {
    let mut file = read(text.unwrap_or_default(), path)?;
    servers(&file, path)?;
    let mut table = Table::new();
    for (name, member) in entry.as_object().into_iter().flatten() {
        let item = match member {
            Value::String(text) => value(text),
            Value::Array(texts) => value(texts.iter().filter_map(Value::as_str).collect::<Array>()),
            Value::Bool(is) => value(*is),
            Value::Number(number) if number.is_i64() => value(number.as_i64().unwrap_or_default()),
            other => return Err(refused(path, format!("{NAME} holds {other}, which is not from Quipu"))),
        };
        table.insert(name, item);
    }
    let held = file.entry(SERVERS).or_insert_with(|| {
        let mut held = Table::new();
        held.set_implicit(true);
        Item::Table(held)
    });
    let missing = || refused(path, format!("{SERVERS} is not a table"));
    if let Some(inline) = held.as_inline_table_mut() {
        inline.insert(NAME, table.into_inline_table().into());
    } else {
        held.as_table_mut().ok_or_else(missing)?.insert(NAME, Item::Table(table));
    }
    checked(text.unwrap_or_default(), file.to_string(), Some(entry), path)
}

/// The text without the entry.
pub(super) fn without(text: &str, path: &Path) -> Result<String> {
    let mut file = read(text, path)?;
    if servers(&file, path)?.is_none_or(|held| !held.contains_key(NAME)) {
        return Ok(text.to_owned());
    }
    if let Some(held) = file.get_mut(SERVERS).and_then(Item::as_table_like_mut) {
        held.remove(NAME);
    }
    checked(text, file.to_string(), None, path)
}

/// The entry in the text.
pub(super) fn entry(text: &str, path: &Path) -> Result<Option<Value>> {
    let file = read(text, path)?;
    let held = servers(&file, path)?;
    Ok(held.and_then(|held| held.get(NAME)).map(as_json))
}

fn as_json(item: &Item) -> Value {
    fn of(value: &toml_edit::Value) -> Value {
        match value {
            toml_edit::Value::String(text) => text.value().clone().into(),
            toml_edit::Value::Integer(number) => (*number.value()).into(),
            toml_edit::Value::Float(number) => (*number.value()).into(),
            toml_edit::Value::Boolean(is) => (*is.value()).into(),
            toml_edit::Value::Datetime(time) => time.value().to_string().into(),
            toml_edit::Value::Array(values) => values.iter().map(of).collect::<Vec<_>>().into(),
            toml_edit::Value::InlineTable(table) => {
                table.iter().map(|(name, value)| (name.to_owned(), of(value))).collect::<Map<_, _>>().into()
            }
        }
    }
    match item {
        Item::Value(value) => of(value),
        Item::Table(table) => {
            table.iter().map(|(name, item)| (name.to_owned(), as_json(item))).collect::<Map<_, _>>().into()
        }
        Item::ArrayOfTables(tables) => {
            let all = tables.iter().map(|table| as_json(&Item::Table(table.clone())));
            all.collect::<Vec<_>>().into()
        }
        Item::None => Value::Null,
    }
}

/// Returns the new text after checking that only the entry differs from the old one.
fn checked(old: &str, new: String, entry: Option<&Value>, path: &Path) -> Result<String> {
    let whole = |text: &str| read(text, path).map(|file| as_json(file.as_item()));
    let mut wanted = whole(old)?;
    let mut made = whole(&new)?;
    for side in [&mut wanted, &mut made] {
        if let Some(held) = side.get_mut(SERVERS).and_then(Value::as_object_mut) {
            held.remove(NAME);
            if held.is_empty() {
                side.as_object_mut().and_then(|whole| whole.remove(SERVERS));
            }
        }
    }
    let found = self::entry(&new, path)?;
    if made == wanted && found.as_ref() == entry {
        Ok(new)
    } else {
        Err(Error::Bug(format!("{} would lose settings", path.display())))
    }
}
