//! From facts about the user to the core document, and back out of it.
//!
//! An active fact about the user with a place in the registry stands there, and nothing stands there without such a fact:
//! both change in one event.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::CoreChange;
use crate::core_document::{self, Categories, Registry, UNCATEGORIZED};
use crate::evolve::Schema;
use crate::extract::USER;
use crate::item::Fact;
use crate::limit;
use crate::predicate::{CorePlace, Predicate, Predicates, Spelling, normal, slug};

/// The core document while an event is being decided.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    schema: &'a Schema,
    before: Value,
    after: Value,
    paths: BTreeSet<String>,
}

impl<'a> Draft<'a> {
    pub(super) fn of(core: &Value, schema: &'a Schema) -> Self {
        Self { schema, before: core.clone(), after: core.clone(), paths: BTreeSet::new() }
    }

    /// True if a fact could be written in.
    pub(super) fn fits(&self, predicates: &Predicates, registry: &Registry, fact: &Fact) -> bool {
        place_of(predicates, fact).is_none() || {
            let (before, after) = (Value::Null, self.after.clone());
            let mut tried = Self { schema: self.schema, before, after, paths: BTreeSet::new() };
            tried.put(predicates, registry, fact)
        }
    }

    /// True if a fact's value stands in its place.
    pub(super) fn holds(&self, predicates: &Predicates, fact: &Fact) -> bool {
        stands(&self.after, predicates, self.schema, fact)
    }

    /// Writes a fact in. False, and nothing is changed, if the document would not be valid with it.
    pub(super) fn put(&mut self, predicates: &Predicates, registry: &Registry, fact: &Fact) -> bool {
        let Some(place) = place_in(predicates, self.schema, fact) else { return true };
        let kept = self.after.clone();
        let predicate = predicates.get(&fact.predicate);
        let done = write(&mut self.after, &place, predicate, fact);
        let changed = self.after != kept;
        let large = || serde_json::to_string(&self.after).map_or(usize::MAX, |text| text.len()) > limit::CORE_BYTES_MAX;
        if done.is_none()
            || (changed && (Categories::of(registry, self.schema).validate(&self.after).is_err() || large()))
        {
            self.after = kept;
            return false;
        }
        self.paths.insert(place.pointer);
        true
    }

    /// Takes a fact out. What does not count does not stand there; the same value may, for another fact.
    pub(super) fn take(&mut self, predicates: &Predicates, fact: &Fact) {
        if !fact.is_active() {
            return;
        }
        let Some(place) = place_in(predicates, self.schema, fact) else { return };
        if erase(&mut self.after, &place, fact).is_some() {
            self.paths.insert(place.pointer);
        }
    }

    /// Takes a fact out of where it stands under another schema: what a promotion did not find stayed where it was, and what
    /// came after a promotion that counts no longer stands where the category was.
    pub(super) fn take_stray(&mut self, predicates: &Predicates, schema: &Schema, fact: &Fact) {
        let Some(place) = place_in(predicates, schema, fact) else { return };
        let own = place_in(predicates, self.schema, fact);
        if own.as_ref() == Some(&place) || !stands(&self.after, predicates, schema, fact) {
            return;
        }
        if erase(&mut self.after, &place, fact).is_some() {
            self.paths.insert(place.pointer);
        }
    }

    /// Moves a category that is none any more below `uncategorized`, under a name that is free.
    pub(super) fn bring_home(&mut self, category: &str) {
        let Some(document) = self.after.as_object_mut() else { return };
        let Some(value) = document.remove(category) else { return };
        let homes = document.entry(UNCATEGORIZED).or_insert_with(|| Value::Object(Map::new()));
        let Some(homes) = homes.as_object_mut() else { return };
        let free = std::iter::once(category.to_owned()).chain((2..).map(|n| format!("{category}{n}")));
        if let Some(name) = free.into_iter().find(|name| !homes.contains_key(name)) {
            homes.insert(name, value);
        }
    }

    /// Takes a fact out if what stands in its place is its own value.
    pub(super) fn take_value(&mut self, predicates: &Predicates, fact: &Fact) {
        let Some(place) = place_in(predicates, self.schema, fact) else { return };
        let other = !stands(&self.after, predicates, self.schema, fact);
        if !other && erase(&mut self.after, &place, fact).is_some() {
            self.paths.insert(place.pointer);
        }
    }

    /// The document as it is now.
    #[cfg(test)]
    pub(super) fn document(&self) -> &Value {
        &self.after
    }

    /// The patch, if anything changed.
    pub(super) fn finish(&self, registry: &Registry) -> Option<CoreChange> {
        if self.before == self.after {
            return None;
        }
        let patch = core_document::diff(&self.before, &self.after);
        let (guarded, _) = core_document::check(Categories::of(registry, self.schema), &self.before, &patch).ok()?;
        Some((guarded, self.paths.iter().cloned().collect()))
    }
}

/// True if a fact's value stands in its place of a document.
pub(super) fn stands(document: &Value, predicates: &Predicates, schema: &Schema, fact: &Fact) -> bool {
    let Some(place) = place_in(predicates, schema, fact) else { return false };
    let Some(value) = document.pointer(&place.pointer) else { return false };
    match place.shape {
        Shape::Set => names(value, &fact.object) || value.get("city").is_some_and(|city| names(city, &fact.object)),
        Shape::Entry => predicates.get(&fact.predicate).named_by.is_none() || names(value, &fact.object),
        Shape::List | Shape::Named => {
            value.as_array().is_some_and(|list| list.iter().any(|element| names(element, &fact.object)))
        }
    }
}

/// The lists of allergies; the first is for those of which nobody said more.
pub(super) const ALLERGY_KINDS: [&str; 3] = ["food", "medication", "environmental"];

/// Where a fact stands.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    pub(super) pointer: String,
    shape: Shape,
}

#[derive(Debug, PartialEq)]
enum Shape {
    Set,
    List,
    Named,
    Entry,
}

/// The place of a fact in a memory that promoted categories.
pub(super) fn place_in(predicates: &Predicates, schema: &Schema, fact: &Fact) -> Option<Place> {
    let place = place_of(predicates, fact)?;
    Some(Place { pointer: schema.place(&place.pointer), ..place })
}

/// The place of a fact by its relation alone; this is what is recorded of it. `None` if it has none: it is not about the user, or its relation stands nowhere.
pub(super) fn place_of(predicates: &Predicates, fact: &Fact) -> Option<Place> {
    if fact.subject != USER {
        return None;
    }
    let predicate = predicates.get(&fact.predicate);
    if !predicates.has(&fact.predicate) {
        let name = slug(&fact.predicate);
        let pointer = match &fact.topic {
            Some(topic) => format!("/dynamicCategories/{}/data/{name}", slug(topic)),
            None => format!("/uncategorized/{name}"),
        };
        return Some(Place { pointer, shape: Shape::List });
    }
    let (path, shape) = match predicate.core.as_ref()? {
        CorePlace::Set(path) => (path.clone(), Shape::Set),
        CorePlace::List(path) => (path.clone(), Shape::List),
        CorePlace::Named(path) => (path.clone(), Shape::Named),
        CorePlace::Entry(path) => {
            let key = predicate.named_by.as_ref().and_then(|by| fact.qualifiers.get(by)).unwrap_or(&fact.object);
            (format!("{path}/{}", slug(key)), Shape::Entry)
        }
    };
    // The one placeholder: which list of allergies.
    let kind = fact.qualifiers.get("kind").map(String::as_str).filter(|kind| ALLERGY_KINDS.contains(kind));
    Some(Place { pointer: path.replace("{kind}", kind.unwrap_or(ALLERGY_KINDS[0])), shape })
}

/// The object as it is written.
fn spelled(predicate: &Predicate, object: &str) -> String {
    match predicate.spelling {
        Spelling::AsSaid => object.to_owned(),
        Spelling::Lower => object.to_lowercase(),
        Spelling::Title => {
            let title = |word: &str| {
                let mut letters = word.chars();
                letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
            };
            object.split(' ').map(title).collect::<Vec<_>>().join(" ")
        }
    }
}

fn write(document: &mut Value, place: &Place, predicate: &Predicate, fact: &Fact) -> Option<()> {
    let value = spelled(predicate, &fact.object);
    match place.shape {
        Shape::Set => *reach(document, &place.pointer, predicate, Value::Null)? = Value::String(value),
        Shape::Entry => {
            let value = if predicate.named_by.is_some() {
                Value::String(value)
            } else {
                let said = predicate.qualifiers.iter().find(|(_, member)| member.as_str() == "value");
                said.and_then(|(name, _)| fact.qualifiers.get(name)).map_or(Value::Bool(true), |text| json!(text))
            };
            *reach(document, &place.pointer, predicate, Value::Null)? = value;
        }
        Shape::List => {
            let list = reach(document, &place.pointer, predicate, json!([]))?.as_array_mut()?;
            if !list.iter().any(|element| names(element, &fact.object)) {
                list.push(Value::String(value));
            }
        }
        Shape::Named => {
            let list = reach(document, &place.pointer, predicate, json!([]))?.as_array_mut()?;
            let at = match list.iter().position(|element| names(element, &fact.object)) {
                Some(at) => at,
                None => {
                    list.push(json!({"name": value}));
                    list.len() - 1
                }
            };
            if let Some(Value::Object(element)) = list.get_mut(at) {
                for (name, member) in &predicate.qualifiers {
                    if let Some(said) = fact.qualifiers.get(name) {
                        element.insert(member.clone(), Value::String(said.clone()));
                    }
                }
            }
        }
    }
    Some(())
}

/// The value at a pointer; what is missing on the way is made. `None` if something else is in the way.
fn reach<'a>(document: &'a mut Value, pointer: &str, predicate: &Predicate, last: Value) -> Option<&'a mut Value> {
    let mut here = document;
    let tokens: Vec<&str> = pointer.split('/').skip(1).collect();
    for (depth, token) in tokens.iter().enumerate() {
        let members = here.as_object_mut()?;
        let is_last = depth + 1 == tokens.len();
        here = members.entry((*token).to_owned()).or_insert_with(|| {
            if is_last {
                return last.clone();
            }
            let mut made = Map::new();
            if depth == 1 && tokens[0] == "dynamicCategories" {
                let about = predicate.about.clone().unwrap_or_else(|| token.replace('_', " "));
                made.insert("description".to_owned(), Value::String(format!("User's {about}")));
            }
            Value::Object(made)
        });
    }
    Some(here)
}

/// True if an element of a list stands for this object.
fn names(element: &Value, object: &str) -> bool {
    let name = element.as_str().or_else(|| element.get("name").and_then(Value::as_str));
    name.is_some_and(|name| normal(name) == normal(object))
}

fn erase(document: &mut Value, place: &Place, fact: &Fact) -> Option<()> {
    match place.shape {
        Shape::Set | Shape::Entry => {
            let (parent, last) = place.pointer.rsplit_once('/')?;
            let members = document.pointer_mut(parent)?.as_object_mut()?;
            members.remove(last)?;
        }
        Shape::List | Shape::Named => {
            let list = document.pointer_mut(&place.pointer)?.as_array_mut()?;
            let at = list.iter().position(|element| names(element, &fact.object))?;
            list.remove(at);
            if list.is_empty() {
                let (parent, last) = place.pointer.rsplit_once('/')?;
                document.pointer_mut(parent)?.as_object_mut()?.remove(last);
            }
        }
    }
    prune(document, &place.pointer);
    Some(())
}

/// Removes what was left empty on the way to a place, the categories included.
fn prune(document: &mut Value, pointer: &str) {
    let mut path = pointer;
    while let Some((parent, _)) = path.rsplit_once('/') {
        let is_bare =
            |value: &Value| value.as_object().is_some_and(|members| members.keys().all(|name| name == "description"));
        let Some((above, last)) = parent.rsplit_once('/') else { return };
        if !document.pointer(parent).is_some_and(is_bare) {
            return;
        }
        if let Some(members) = document.pointer_mut(above).and_then(Value::as_object_mut) {
            members.remove(last);
        }
        path = parent;
    }
}
