//! Plans the event of a promotion: the category, and the patches that move its members.
//!
//! Values are moved, never copied or rewritten, so an erasure finds no second copy and reverting one value leaves the
//! others in place. Each patch is independent.

use std::collections::{BTreeMap, BTreeSet};

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, MoveOperation, PatchOperation, RemoveOperation, TestOperation};
use serde::Serialize;
use serde_json::{Value, json};

use super::fields::{self, Field};
use super::mine::{Candidate, named};
use super::name::{DESCRIPTION_BYTES_MAX, ProposedCategory, check_name, propose};
use super::written::{name_of, pointer, token};
use crate::core_document::{Categories, DYNAMIC, Patch, UNCATEGORIZED, replay};
use crate::event::Change;
use crate::item::{DerivedChange, Promotion};
use crate::limit;
use crate::memory::Memory;
use crate::refusal::Refusal;

/// One move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "MovedPath"))]
pub struct Moved {
    /// The old pointer.
    pub from: String,
    /// The new pointer.
    pub to: String,
}

/// A planned promotion.
#[derive(Debug, Clone, PartialEq)]
pub struct PromotionPlan {
    /// The promotion.
    pub promotion: Promotion,
    /// The patches; on replay each applies or is skipped.
    pub patches: Vec<Patch>,
    /// The moves.
    pub moves: Vec<Moved>,
    /// The resulting category.
    pub category: Value,
}

impl PromotionPlan {
    /// The changes of the event.
    pub fn changes(self) -> Vec<Change> {
        let promoted = Change::Drawn(DerivedChange::SchemaPromoted(Box::new(self.promotion)));
        std::iter::once(promoted).chain(self.patches.into_iter().map(Change::CorePatched)).collect()
    }
}

/// The options of a promotion; missing ones follow by rule.
#[derive(Debug, Clone, Copy, Default)]
pub struct PromotionRequest<'a> {
    /// The name of the category.
    pub name: Option<&'a str>,
    /// The description of a new category.
    pub description: Option<&'a str>,
    /// The reason.
    pub rationale: Option<&'a str>,
    /// Fields of members by pointer, used where the members' words support them.
    pub fields: Option<&'a BTreeMap<String, String>>,
}

impl<'a> PromotionRequest<'a> {
    /// Only a name; the rest by rule.
    pub fn named(name: Option<&'a str>) -> Self {
        Self { name, ..Self::default() }
    }
}

/// Plans the promotion of a pattern, regardless of its support.
///
/// # Errors
/// `NotFound`: there is no such pattern. `Invalid`: the name is malformed. `Refused`: the name is taken, the memory has
/// too many promoted categories, or the document would exceed its limits.
pub fn plan(
    memory: &Memory,
    categories: Categories<'_>,
    candidate: &str,
    asked: PromotionRequest<'_>,
) -> Result<PromotionPlan, Refusal> {
    let missing = || {
        Refusal::not_found(format!(
            "nothing in uncategorized or dynamicCategories is called {candidate:?}; `quipu evolve --dry-run` lists what recurs"
        ))
    };
    let found = named(memory, candidate).filter(|found| !found.members.is_empty()).ok_or_else(missing)?;
    let proposed = proposed(memory, categories, &found, asked)?;
    let rationale = asked.rationale.map_or_else(|| super::due::reason(&found.support), str::to_owned);
    let (name, description) = (proposed.name, proposed.description);
    let promotion = Promotion {
        candidate: found.key.clone(),
        name,
        description,
        rationale,
        support: found.support.clone(),
        // The moves follow from the patches.
        fields: BTreeMap::new(),
    };
    let none = BTreeMap::new();
    let fields = asked.fields.unwrap_or(&none);
    Draft::new(memory, &promotion.name).carry_out(&found, fields, categories, promotion)
}

fn proposed(
    memory: &Memory,
    categories: Categories<'_>,
    found: &Candidate,
    asked: PromotionRequest<'_>,
) -> Result<ProposedCategory, Refusal> {
    let by_rule = propose(memory, categories, found);
    let Some(name) = asked.name else {
        return by_rule.ok_or_else(|| {
            Refusal::refused(format!("no name is free for {}; give it one: `quipu schema promote {0} NAME`", found.key))
        });
    };
    check_name(memory, categories, name)?;
    let known = memory.schema().category(name).map(|category| category.description().to_owned());
    let said = asked.description.map(str::to_owned).or(by_rule.map(|rule| rule.description));
    let mut description = known.or(said).unwrap_or_else(|| format!("User's {}", found.key));
    description.truncate(description.floor_char_boundary(DESCRIPTION_BYTES_MAX));
    Ok(ProposedCategory { name: name.to_owned(), description })
}

/// A promotion being planned on a copy of the document.
struct Draft {
    root: String,
    document: Value,
    patches: Vec<Patch>,
    moves: Vec<Moved>,
}

impl Draft {
    fn new(memory: &Memory, name: &str) -> Self {
        let root = format!("/{}", token(name));
        Self { root, document: memory.core().clone(), patches: Vec::new(), moves: Vec::new() }
    }

    fn carry_out(
        mut self,
        found: &Candidate,
        fields: &BTreeMap<String, String>,
        categories: Categories<'_>,
        promotion: Promotion,
    ) -> Result<PromotionPlan, Refusal> {
        if found.dynamic {
            self.dynamic(&found.key)?
        } else {
            self.uncategorized(found, fields)?
        }
        categories.with(&promotion.name).validate(&self.document).map_err(|faults| {
            let list = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            Refusal::refused(format!("the document would no longer be valid: {list}"))
        })?;
        let category = self.document.pointer(&self.root).cloned().unwrap_or_else(|| json!({}));
        Ok(PromotionPlan { promotion, patches: self.patches, moves: self.moves, category })
    }

    /// A dynamic category moves as a whole.
    fn dynamic(&mut self, key: &str) -> Result<(), Refusal> {
        let at = pointer(DYNAMIC, key);
        let data = format!("{at}/data");
        let whole = self.value(&data).is_some_and(Value::is_object) && self.value(&self.root).is_none();
        if whole {
            let root = self.root.clone();
            self.moved(&data, &root);
            self.apply(vec![step(&data, &root), remove(&at)])?;
            return self.sweep(DYNAMIC);
        }
        self.begin(BTreeSet::new())?;
        let members = self.value(&data).and_then(Value::as_object).map(|all| all.keys().cloned().collect::<Vec<_>>());
        match members {
            Some(names) => {
                for name in names.iter().take(limit::PLACES_PER_PROMOTION_MAX) {
                    self.member(&format!("{data}/{}", token(name)), name)?;
                }
                if names.len() <= limit::PLACES_PER_PROMOTION_MAX {
                    self.apply(vec![test(&data, json!({})), remove(&at)])?;
                }
            }
            None => {
                let to = self.free(fields::NOTES);
                self.moved(&data, &to);
                self.apply(vec![step(&data, &to), remove(&at)])?;
            }
        }
        self.sweep(DYNAMIC)
    }

    /// Moves a member into an existing category: under its name, or to the end of the list of that name.
    fn member(&mut self, from: &str, name: &str) -> Result<(), Refusal> {
        let to = format!("{}/{}", self.root, token(name));
        let many = match (self.value(from), self.value(&to)) {
            (Some(Value::Array(own)), Some(Value::Array(_))) => own.len(),
            (_, None) => return self.one(from, &to),
            _ => {
                let to = self.free(name);
                return self.one(from, &to);
            }
        };
        self.moved(from, &to);
        for _ in 0..many {
            self.apply(vec![step(&format!("{from}/0"), &format!("{to}/-"))])?;
        }
        self.apply(vec![test(from, json!([])), remove(from)])
    }

    /// Moves each member of a pattern to its field: the requested one if the member's words support it.
    fn uncategorized(&mut self, found: &Candidate, asked: &BTreeMap<String, String>) -> Result<(), Refusal> {
        let mut sentences: BTreeMap<Field, Vec<&str>> = BTreeMap::new();
        let mut values: Vec<(&str, String)> = Vec::new();
        for from in found.members.iter().take(limit::PLACES_PER_PROMOTION_MAX) {
            let key = name_of(from.rsplit('/').next().unwrap_or_default());
            match self.value(from) {
                Some(Value::String(text)) => {
                    let own = asked.get(from).and_then(|name| fields::borne_out(found, &key, text, name));
                    let field = own.unwrap_or_else(|| fields::of_sentence(found, &key, text));
                    sentences.entry(field).or_default().push(from);
                }
                Some(_) => values.push((from, fields::of_value(found, &key))),
                None => {}
            }
        }
        let is_list = |field: &Field, own: &[&str]| field.list || own.len() > 1;
        let lists = sentences.iter().filter(|(field, own)| is_list(field, own)).map(|(field, _)| field.name.clone());
        self.begin(lists.collect())?;
        for (field, own) in &sentences {
            let to = format!("{}/{}", self.root, token(&field.name));
            for from in own {
                match self.value(&to) {
                    None => self.one(from, &to)?,
                    Some(Value::Array(_)) => self.one(from, &format!("{to}/-"))?,
                    Some(Value::String(_)) => {
                        self.widen(&to)?;
                        self.one(from, &format!("{to}/-"))?;
                    }
                    Some(_) => {
                        let to = self.free(&field.name);
                        self.one(from, &to)?;
                    }
                }
            }
        }
        for (from, name) in values {
            self.member(from, &name)?;
        }
        self.sweep(UNCATEGORIZED)
    }

    /// Creates the category with the lists to be filled.
    fn begin(&mut self, lists: BTreeSet<String>) -> Result<(), Refusal> {
        if self.value(&self.root).is_none() {
            let empty: serde_json::Map<String, Value> = lists.into_iter().map(|name| (name, json!([]))).collect();
            return self.apply(vec![add(&self.root, Value::Object(empty))]);
        }
        for name in lists {
            let at = format!("{}/{}", self.root, token(&name));
            if self.value(&at).is_none() {
                self.apply(vec![add(&at, json!([]))])?;
            }
        }
        Ok(())
    }

    /// Turns a field with one sentence into a list.
    fn widen(&mut self, at: &str) -> Result<(), Refusal> {
        let aside = self.free("aside");
        self.apply(vec![step(at, &aside), add(at, json!([])), step(&aside, &format!("{at}/-"))])
    }

    fn one(&mut self, from: &str, to: &str) -> Result<(), Refusal> {
        self.moved(from, to);
        self.apply(vec![step(from, to)])
    }

    /// Removes the root if it is empty.
    fn sweep(&mut self, root: &str) -> Result<(), Refusal> {
        let at = format!("/{root}");
        if self.value(&at).and_then(Value::as_object).is_some_and(serde_json::Map::is_empty) {
            self.apply(vec![test(&at, json!({})), remove(&at)])?;
        }
        Ok(())
    }

    fn moved(&mut self, from: &str, to: &str) {
        self.moves.push(Moved { from: from.to_owned(), to: to.to_owned() });
    }

    fn apply(&mut self, ops: Vec<PatchOperation>) -> Result<(), Refusal> {
        let patch = Patch(ops);
        self.document = replay(&self.document, &patch)?;
        self.patches.push(patch);
        if self.patches.len() >= limit::CHANGES_PER_EVENT_MAX - 2 {
            let most = limit::CHANGES_PER_EVENT_MAX;
            return Err(Refusal::refused(format!("more would move than the {most} changes of one event can say")));
        }
        Ok(())
    }

    fn value(&self, at: &str) -> Option<&Value> {
        self.document.pointer(at)
    }

    /// A pointer in the category that is not in use.
    fn free(&self, name: &str) -> String {
        let names = std::iter::once(name.to_owned()).chain((2_u32..).map(|n| format!("{name}{n}")));
        let mut places = names.map(|name| format!("{}/{}", self.root, token(&name)));
        places.find(|place| self.value(place).is_none()).unwrap_or_default()
    }
}

fn path(pointer: &str) -> PointerBuf {
    // Every pointer here consists of escaped tokens.
    PointerBuf::parse(pointer).unwrap_or_default()
}

fn step(from: &str, to: &str) -> PatchOperation {
    PatchOperation::Move(MoveOperation { from: path(from), path: path(to) })
}

fn remove(at: &str) -> PatchOperation {
    PatchOperation::Remove(RemoveOperation { path: path(at) })
}

fn add(at: &str, value: Value) -> PatchOperation {
    PatchOperation::Add(AddOperation { path: path(at), value })
}

fn test(at: &str, value: Value) -> PatchOperation {
    PatchOperation::Test(TestOperation { path: path(at), value })
}
