//! Fields of the core document that match a question.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Serialize;
use serde_json::Value;

use crate::item::Fact;
use crate::memory::Memory;
use crate::predicate::{Predicates, normal};
use crate::recall::index::derived::{asked_by, terms};
use crate::recall::query::plan::QueryPlan;
use crate::recall::query::validity::Validity;

/// A field of the core document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoreField {
    /// Its path (RFC 6901).
    pub path: String,
    /// Its value.
    pub value: Value,
    /// Share of the question's terms, weighted by rarity among the fields, that occur in its path, its value or the
    /// wording of its predicate.
    pub score: f32,
}

impl CoreField {
    /// The value in words: an entry such as a person is its values, "Marta, sister"; anything else is JSON.
    pub fn text(&self) -> String {
        let Value::Object(members) = &self.value else { return self.value.to_string() };
        let told = members.values().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        told.collect::<Vec<_>>().join(", ")
    }
}

/// Maximum number of fields returned.
const FIELDS_MAX: usize = 5;

/// Minimum share of the question's terms.
const SHARE_MIN: f32 = 0.5;

/// The fields that match the question, best first. The document is the user's: in a question about someone else, only
/// fields that name them count.
pub fn core_fields(memory: &Memory, plan: &QueryPlan) -> Vec<CoreField> {
    let mut leaves = Vec::new();
    collect(memory.core(), &mut String::new(), &mut leaves);
    // The document states what holds now. For another time, a field counts if the fact behind it held then and states
    // its value.
    if matches!(plan.validity, Validity::Within(..) | Validity::Now(Some(_))) {
        let items = memory.items();
        let held: Vec<(&str, &Fact)> = items
            .facts()
            .filter(|fact| plan.admits(items, fact.id))
            .filter_map(|fact| Some((fact.core_path.as_deref()?, fact)))
            .collect();
        leaves.retain(|(path, value)| {
            let says = |fact: &Fact| fact.is_active() || normal(&value.to_string()).contains(&normal(&fact.object));
            held.iter().any(|(place, fact)| is_at(path, place) && says(fact))
        });
    }
    let of_others = plan.about.as_ref().filter(|about| !about.is_user());
    let fields: Vec<(String, &Value, Vec<String>)> = leaves
        .into_iter()
        .filter(|(_, value)| of_others.is_none_or(|about| about.is_named_in(&value.to_string())))
        .map(|(path, value)| {
            let mut own = terms(&in_words(&path));
            own.extend(terms(&value.to_string()));
            let origin = memory.schema().origin(&path);
            let at = |place: &str| is_at(&path, place) || origin.as_deref().is_some_and(|origin| is_at(origin, place));
            let told = WRITTEN_AT.iter().filter(|(place, _)| at(place));
            own.extend(told.flat_map(|(_, asked)| asked.iter().cloned()));
            (path, value, own)
        })
        .collect();
    let having = |term: &String| fields.iter().filter(|(_, _, own)| own.contains(term)).count();
    let weighed: Vec<(&String, f32)> =
        plan.asked.iter().map(|term| (term, 1.0 / (1.0 + having(term) as f32).sqrt())).collect();
    let all: f32 = weighed.iter().map(|(_, weight)| weight).sum();
    let share =
        |own: &[String]| weighed.iter().filter(|(term, _)| own.contains(term)).map(|(_, w)| w).sum::<f32>() / all;
    let scored = fields.iter().map(|(path, value, own)| (share(own), path, *value));
    let mut found: Vec<_> = scored.filter(|(score, ..)| *score >= SHARE_MIN).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let field =
        |(score, path, value): (f32, &String, &Value)| CoreField { path: path.clone(), value: value.clone(), score };
    let mut fields: Vec<CoreField> = found.into_iter().take(FIELDS_MAX).map(field).collect();
    if !fields.is_empty() {
        // The document learns only with the next source that a value's last day is over.
        let written = memory.items().facts().filter_map(|fact| Some((fact.core_path.as_deref()?, fact)));
        let over: Vec<(&str, &Fact)> = written.filter(|(_, fact)| plan.is_over(fact)).collect();
        let says = |field: &CoreField, fact: &Fact| {
            field.value.as_str().is_some_and(|value| normal(value).contains(&normal(&fact.object)))
        };
        fields.retain(|field| !over.iter().any(|(place, fact)| is_at(&field.path, place) && says(field, fact)));
    }
    fields
}

/// Core document path of each predicate's facts, with the terms of the predicate.
static WRITTEN_AT: LazyLock<Vec<(String, Cow<'static, BTreeSet<String>>)>> = LazyLock::new(|| {
    let registry = Predicates::default_registry();
    let written = registry.names().filter_map(|name| Some((registry.get(name).core.as_ref()?.path(), asked_by(name))));
    written.map(|(path, asked)| (path.to_owned(), asked)).collect()
});

fn is_at(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Every leaf with its path, without `_meta`; a list of plain values is one leaf, and so is an entry of a list that has plain
/// values only: a relation says nothing without its name.
fn collect<'a>(value: &'a Value, path: &mut String, leaves: &mut Vec<(String, &'a Value)>) {
    let mut below = |key: &str, value: &'a Value, path: &mut String| {
        let length = path.len();
        path.push('/');
        path.push_str(&key.replace('~', "~0").replace('/', "~1"));
        collect(value, path, leaves);
        path.truncate(length);
    };
    let is_plain = |value: &Value| !value.is_object() && !value.is_array();
    match value {
        Value::Object(members) if is_entry(path) && !members.is_empty() && members.values().all(is_plain) => {
            leaves.push((path.clone(), value))
        }
        Value::Object(members) => {
            let is_root = path.is_empty();
            for (key, member) in members.iter().filter(|(key, _)| !is_root || *key != "_meta") {
                below(key, member, path);
            }
        }
        Value::Array(entries) if entries.iter().any(|entry| entry.is_object() || entry.is_array()) => {
            entries.iter().enumerate().for_each(|(at, entry)| below(&at.to_string(), entry, path));
        }
        Value::Null => {}
        leaf => leaves.push((path.clone(), leaf)),
    }
}

/// True for the path of an entry of a list: `/relationships/family/0`.
fn is_entry(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|last| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Turns `/location/currentCity` into "location current City".
fn in_words(path: &str) -> String {
    let mut words = String::new();
    for c in path.chars() {
        match c {
            '/' | '_' => words.push(' '),
            _ if c.is_uppercase() => words.extend([' ', c]),
            _ => words.push(c),
        }
    }
    words
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_read_as_words_and_leaves_have_their_pointers() {
        let core = json!({
            "_meta": {"version": 3},
            "location": {"current": "Porto"},
            "workTools": {"e/ditor": "helix", "empty": {}, "none": null},
            "relationships": {"family": [{"name": "Marta", "relation": "sister"}]},
            "likes": ["tea", "jazz"],
        });
        let mut leaves = Vec::new();
        collect(&core, &mut String::new(), &mut leaves);
        for (path, value) in &leaves {
            assert_eq!(core.pointer(path).unwrap(), *value, "{path}");
        }
        let paths: Vec<&str> = leaves.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["/likes", "/location/current", "/relationships/family/0", "/workTools/e~1ditor"]);
        let entry = CoreField { path: paths[2].to_owned(), value: leaves[2].1.clone(), score: 1.0 };
        assert_eq!(entry.text(), "Marta, sister");
        assert_eq!(in_words("/workTools/e~1ditor").trim(), "work Tools e~1ditor");
    }
}
