//! Maps facts about the user to the core document, and removes them from it.
//!
//! An active fact about the user with a place in the registry is in the document, and no value is there without such a
//! fact: both change in one event.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::CoreChange;
use crate::core_document::{self, Categories, DYNAMIC, FieldChange, FieldOp, Registry, UNCATEGORIZED};
use crate::event::Change;
use crate::evolve::GrownSchema;
use crate::extract::USER;
use crate::item::{DerivedChange, Fact};
use crate::predicate::{CorePlace, Predicate, Predicates, Spelling, slug};

/// The core document during a decision.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    schema: &'a GrownSchema,
    before: Value,
    after: Value,
    paths: BTreeSet<String>,
    fields: Vec<FieldChange>,
    done: Vec<Change>,
}

impl<'a> Draft<'a> {
    pub(super) fn of(core: &Value, schema: &'a GrownSchema) -> Self {
        let (before, after) = (core.clone(), core.clone());
        Self { schema, before, after, paths: BTreeSet::new(), fields: Vec::new(), done: Vec::new() }
    }

    /// True if a fact can be written.
    pub(super) fn fits(&self, predicates: &Predicates, registry: &Registry, fact: &Fact) -> bool {
        place_of(predicates, fact).is_none() || Self::of(&self.after, self.schema).put(predicates, registry, fact)
    }

    /// True if the document has the fact's value at its path.
    pub(super) fn holds(&self, predicates: &Predicates, fact: &Fact) -> bool {
        stands(&self.after, predicates, self.schema, fact)
    }

    /// Writes a fact. Returns false and changes nothing if the document would become invalid.
    ///
    /// The change is recorded even if the value is already there, so that the value stays when the event that set it is
    /// reverted.
    pub(super) fn put(&mut self, predicates: &Predicates, registry: &Registry, fact: &Fact) -> bool {
        let Some(place) = place_of(predicates, fact) else { return true };
        let change = written(&place, predicates.get(&fact.predicate), fact);
        let place_now = |at: &str| self.schema.place(at);
        let Ok(after) = core_document::change_fields(&self.after, std::slice::from_ref(&change), &place_now) else {
            return false;
        };
        if after != self.after && Categories::of(registry, self.schema).validate(&after).is_err() {
            return false;
        }
        self.after = after;
        self.paths.insert(self.schema.place(&place.pointer));
        self.fields.push(change);
        true
    }

    /// Removes an active fact. For another fact the value is left in place, since a different fact may have set it.
    pub(super) fn take(&mut self, predicates: &Predicates, fact: &Fact) {
        if fact.is_active() {
            self.take_value(predicates, fact);
        }
    }

    /// Removes a fact's value if the document has it at the fact's path.
    pub(super) fn take_value(&mut self, predicates: &Predicates, fact: &Fact) {
        let Some(place) = place_of(predicates, fact) else { return };
        let change = removed(&place, predicates.get(&fact.predicate), fact);
        let place_now = |at: &str| self.schema.place(at);
        let Ok(after) = core_document::change_fields(&self.after, std::slice::from_ref(&change), &place_now) else {
            return;
        };
        if after != self.after {
            self.after = after;
            self.paths.insert(self.schema.place(&place.pointer));
            self.fields.push(change);
        }
    }

    /// Removes a fact from its path under another schema: a value that a promotion did not move, or one added to a
    /// category that is no longer promoted.
    pub(super) fn take_stray(&mut self, predicates: &Predicates, schema: &GrownSchema, fact: &Fact) {
        let Some(place) = place_in(predicates, schema, fact) else { return };
        let own = place_in(predicates, self.schema, fact);
        if own.as_ref() == Some(&place) || !stands(&self.after, predicates, schema, fact) {
            return;
        }
        let change = removed(&place, predicates.get(&fact.predicate), fact);
        let as_is = |at: &str| at.to_owned();
        if let Ok(after) = core_document::change_fields(&self.after, &[change], &as_is) {
            self.restructured(after);
            self.paths.insert(place.pointer);
        }
    }

    /// Moves a category that is no longer promoted to a free name below `uncategorized`.
    pub(super) fn bring_home(&mut self, category: &str) {
        let mut moved = self.after.clone();
        let Some(document) = moved.as_object_mut() else { return };
        let Some(value) = document.remove(category) else { return };
        let homes = document.entry(UNCATEGORIZED).or_insert_with(|| Value::Object(Map::new()));
        let Some(homes) = homes.as_object_mut() else { return };
        let free = std::iter::once(category.to_owned()).chain((2..).map(|n| format!("{category}{n}")));
        if let Some(name) = free.into_iter().find(|name| !homes.contains_key(name)) {
            homes.insert(name, value);
            self.restructured(moved);
        }
    }

    /// Records a change that does not follow from a fact as a guarded patch.
    fn restructured(&mut self, after: Value) {
        let patch = core_document::diff(&self.after, &after);
        if let Ok(guarded) = core_document::guarded(&self.after, &patch) {
            self.flush();
            self.done.push(Change::CorePatched(guarded));
            self.after = after;
        }
    }

    fn flush(&mut self) {
        // Keeps each change within the size limit.
        while !self.fields.is_empty() {
            let rest = self.fields.split_off(self.fields.len().min(FIELDS_PER_CHANGE));
            let changes = std::mem::replace(&mut self.fields, rest);
            self.done.push(Change::Drawn(DerivedChange::CoreFieldsChanged { changes }));
        }
    }

    /// The current document.
    pub(super) fn document(&self) -> &Value {
        &self.after
    }

    /// The changes to record and the paths that changed, if any.
    pub(super) fn finish(mut self, registry: &Registry) -> Option<CoreChange> {
        self.flush();
        if self.done.is_empty() || Categories::of(registry, self.schema).validate(&self.after).is_err() {
            return None;
        }
        let paths = if self.before == self.after { Vec::new() } else { self.paths.into_iter().collect() };
        Some((self.done, paths))
    }
}

/// Most field changes in one recorded change.
const FIELDS_PER_CHANGE: usize = 100;

/// True if a document has the fact's value at its path.
pub(super) fn stands(document: &Value, predicates: &Predicates, schema: &GrownSchema, fact: &Fact) -> bool {
    let Some(place) = place_in(predicates, schema, fact) else { return false };
    let Some(value) = document.pointer(&place.pointer) else { return false };
    match place.shape {
        Shape::Set => core_document::stands_for(value, &fact.object),
        Shape::Entry => predicates.get(&fact.predicate).named_by.is_none() || core_document::names(value, &fact.object),
        Shape::List | Shape::Named => {
            value.as_array().is_some_and(|list| list.iter().any(|element| core_document::names(element, &fact.object)))
        }
    }
}

/// The lists of allergies; the first is the default.
pub(super) const ALLERGY_KINDS: [&str; 3] = ["food", "medication", "environmental"];

/// The path of a fact.
#[derive(Debug, PartialEq)]
pub(super) struct CorePath {
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

/// The path of a fact in a memory with promoted categories.
pub(super) fn place_in(predicates: &Predicates, schema: &GrownSchema, fact: &Fact) -> Option<CorePath> {
    let place = place_of(predicates, fact)?;
    Some(CorePath { pointer: schema.place(&place.pointer), ..place })
}

/// The path of a fact by its predicate alone, as recorded. `None` if it is not about the user or its predicate has no
/// place.
pub(super) fn place_of(predicates: &Predicates, fact: &Fact) -> Option<CorePath> {
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
        return Some(CorePath { pointer, shape: Shape::List });
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
    // The only placeholder: the list of allergies.
    let kind = fact.qualifiers.get("kind").map(String::as_str).filter(|kind| ALLERGY_KINDS.contains(kind));
    Some(CorePath { pointer: path.replace("{kind}", kind.unwrap_or(ALLERGY_KINDS[0])), shape })
}

/// The object as spelled in the document.
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

/// The change that writes a fact.
fn written(place: &CorePath, predicate: &Predicate, fact: &Fact) -> FieldChange {
    let value = spelled(predicate, &fact.object);
    let op = match place.shape {
        Shape::Set => FieldOp::Set { value: Value::String(value) },
        Shape::Entry if predicate.named_by.is_some() => FieldOp::Set { value: Value::String(value) },
        Shape::Entry => {
            let said = predicate.qualifiers.iter().find(|(_, member)| member.as_str() == "value");
            let said = said.and_then(|(name, _)| fact.qualifiers.get(name));
            FieldOp::Set { value: said.map_or(Value::Bool(true), |text| json!(text)) }
        }
        Shape::List => FieldOp::Include { value: Value::String(value) },
        Shape::Named => {
            let said = |(name, member): (&String, &String)| Some((member.clone(), json!(fact.qualifiers.get(name)?)));
            let mut element: Map<String, Value> = predicate.qualifiers.iter().filter_map(said).collect();
            element.insert("name".to_owned(), Value::String(value));
            FieldOp::Include { value: Value::Object(element) }
        }
    };
    FieldChange { at: place.pointer.clone(), op, description: description(place, predicate) }
}

/// The description of the dynamic category, if the path is in one.
fn description(place: &CorePath, predicate: &Predicate) -> Option<String> {
    let rest = place.pointer.strip_prefix('/')?.strip_prefix(DYNAMIC)?.strip_prefix('/')?;
    let name = rest.split('/').next().unwrap_or(rest);
    let about = predicate.about.clone().unwrap_or_else(|| name.replace('_', " "));
    Some(format!("User's {about}"))
}

/// The change that removes a fact.
fn removed(place: &CorePath, predicate: &Predicate, fact: &Fact) -> FieldChange {
    let name = fact.object.clone();
    let op = match place.shape {
        Shape::Entry if predicate.named_by.is_none() => FieldOp::Unset { name: None },
        Shape::Set | Shape::Entry => FieldOp::Unset { name: Some(name) },
        Shape::List | Shape::Named => FieldOp::Exclude { name },
    };
    FieldChange { at: place.pointer.clone(), op, description: None }
}
