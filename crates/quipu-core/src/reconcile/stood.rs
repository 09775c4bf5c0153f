//! Reads facts from the core document.

use std::collections::BTreeMap;

use serde_json::Value;

use super::core_map;
use crate::evolve::GrownSchema;
use crate::predicate::{Cardinality, CorePlace, Predicates, normal};

/// A value of the core document that corresponds to a fact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CoreFieldFact {
    pub(super) predicate: String,
    pub(super) single: bool,
    /// False if several predicates share the path, so that the predicate of a manual value is ambiguous.
    pub(super) sole: bool,
    pub(super) object: String,
    pub(super) qualifiers: BTreeMap<String, String>,
}

pub(super) fn has(all: &[CoreFieldFact], value: &CoreFieldFact) -> bool {
    all.iter().any(|other| other.predicate == value.predicate && normal(&other.object) == normal(&value.object))
}

/// Every value of a document at a path that a predicate uses, by path.
pub(super) fn values(
    predicates: &Predicates,
    schema: &GrownSchema,
    document: &Value,
) -> BTreeMap<String, Vec<CoreFieldFact>> {
    let mut found: BTreeMap<String, Vec<CoreFieldFact>> = BTreeMap::new();
    let named =
        |element: &Value| element.as_str().or_else(|| element.get("name").and_then(Value::as_str)).map(str::to_owned);
    for name in predicates.names() {
        let predicate = predicates.get(name);
        let Some(place) = &predicate.core else { continue };
        let (path, shape) = match place {
            CorePlace::Set(path) | CorePlace::List(path) | CorePlace::Named(path) | CorePlace::Entry(path) => {
                (path, place)
            }
        };
        let paths = match path.strip_suffix("{kind}") {
            Some(stem) => core_map::ALLERGY_KINDS.map(|kind| (format!("{stem}{kind}"), Some(kind))).to_vec(),
            None => vec![(path.clone(), None)],
        };
        for (path, kind) in paths {
            let place = schema.place(&path);
            let Some(value) = document.pointer(&place) else { continue };
            let kind: BTreeMap<String, String> =
                kind.map(|kind| ("kind".to_owned(), kind.to_owned())).into_iter().collect();
            let sharing = sharing(predicates, &path);
            let stood = |object: String, qualifiers: BTreeMap<String, String>| CoreFieldFact {
                predicate: name.to_owned(),
                sole: sharing.len() <= 1,
                single: predicate.cardinality == Cardinality::One,
                object,
                qualifiers,
            };
            match (shape, value) {
                (CorePlace::Set(_), value) => {
                    let named = value.get("city").or_else(|| value.get("name")).unwrap_or(value);
                    let text = named.as_str().map(str::to_owned);
                    found.entry(place).or_default().extend(text.map(|text| stood(text, kind)));
                }
                (CorePlace::List(_) | CorePlace::Named(_), Value::Array(list))
                    if sharing.first().is_none_or(|first| first == name) =>
                {
                    let all = list.iter().filter_map(named).map(|object| stood(object, kind.clone()));
                    found.entry(place).or_default().extend(all);
                }
                (CorePlace::Entry(_), Value::Object(members)) => {
                    for (key, value) in members {
                        let (object, qualifiers) = match (&predicate.named_by, value.as_str()) {
                            (Some(by), Some(text)) => (text.to_owned(), [(by.clone(), key.replace('_', " "))].into()),
                            (None, text) => {
                                let frequency = predicate.qualifiers.iter().find(|(_, member)| *member == "value");
                                let said = frequency.zip(text).map(|((name, _), text)| (name.clone(), text.to_owned()));
                                (key.replace('_', " "), said.into_iter().collect())
                            }
                            _ => continue,
                        };
                        found.entry(format!("{place}/{key}")).or_default().push(stood(object, qualifiers));
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// The predicates that share this list: a parent and a sibling are both family.
fn sharing(predicates: &Predicates, path: &str) -> Vec<String> {
    let shares = |name: &&str| matches!(&predicates.get(name).core, Some(CorePlace::List(place) | CorePlace::Named(place)) if place == path);
    predicates.names().filter(shares).map(str::to_owned).collect()
}
