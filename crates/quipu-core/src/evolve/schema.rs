//! The promoted categories of one memory, and the places that moved.

use std::collections::BTreeMap;

use jiff::Timestamp;
use json_patch::PatchOperation;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::written::{Written, token};
use crate::core_document::{DYNAMIC, META, Patch, UNCATEGORIZED};
use crate::id::Seq;
use crate::item::Promotion;
use crate::limit;
use crate::predicate::slug;
use crate::refusal::Refusal;

/// Longest name of a category, in bytes.
pub(super) const CATEGORY_NAME_BYTES_MAX: usize = 64;

/// Schema folded from promotions and from the times at which members were written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrownSchema {
    categories: BTreeMap<String, Category>,
    /// Moved places, old pointer to new, including everything below.
    moved: BTreeMap<String, String>,
    written: Written,
}

/// A promoted category.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// The promotions that created and extended it, in ledger order; never empty.
    pub promotions: Vec<Promoted>,
}

/// A promotion and the event that recorded it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promoted {
    /// The promotion.
    pub promotion: Promotion,
    /// The event.
    pub seq: Seq,
    /// When it was recorded.
    pub at: Timestamp,
}

impl Category {
    /// Its description.
    pub fn description(&self) -> &str {
        self.promotions.first().map_or("", |first| first.promotion.description.as_str())
    }
}

impl GrownSchema {
    /// The promoted categories by name.
    pub fn categories(&self) -> impl Iterator<Item = (&str, &Category)> {
        self.categories.iter().map(|(name, category)| (name.as_str(), category))
    }

    /// One promoted category.
    pub fn category(&self, name: &str) -> Option<&Category> {
        self.categories.get(name)
    }

    /// The category a pattern was promoted to, if any.
    pub fn promoted_from(&self, candidate: &str) -> Option<&str> {
        let from = |category: &Category| category.promotions.iter().any(|one| one.promotion.candidate == candidate);
        self.categories.iter().find(|(_, category)| from(category)).map(|(name, _)| name.as_str())
    }

    /// Checks whether a category may be promoted under this name, regardless of the registry.
    ///
    /// # Errors
    /// `Refused`: the name is empty, longer than 64 bytes or reserved, or the memory has reached its limit of promoted
    /// categories.
    pub(crate) fn may_promote(&self, name: &str) -> Result<(), Refusal> {
        if name.is_empty() || name.len() > CATEGORY_NAME_BYTES_MAX || [DYNAMIC, UNCATEGORIZED, META].contains(&name) {
            return Err(Refusal::refused("a category cannot have this name"));
        }
        if self.category(name).is_none() && self.categories.len() >= limit::CATEGORIES_PROMOTED_MAX {
            let most = limit::CATEGORIES_PROMOTED_MAX;
            return Err(Refusal::refused(format!(
                "a memory grows at most {most} categories; promote into one of them"
            )));
        }
        Ok(())
    }

    /// True if nothing was promoted.
    pub fn is_empty(&self) -> bool {
        self.categories.is_empty()
    }

    /// The current pointer of a place.
    pub fn place(&self, pointer: &str) -> String {
        self.elsewhere(pointer).unwrap_or_else(|| pointer.to_owned())
    }

    /// The current pointer of a moved place; the longest moved prefix decides.
    pub(crate) fn elsewhere(&self, pointer: &str) -> Option<String> {
        if self.moved.is_empty() {
            return None;
        }
        relocated(&self.moved, pointer)
    }

    /// The original pointer of a moved place.
    pub(crate) fn origin(&self, pointer: &str) -> Option<String> {
        let homes = self.moved.iter().map(|(from, to)| (to, from));
        let found = homes.filter(|(to, _)| is_at(pointer, to)).max_by_key(|(to, _)| to.len());
        found.map(|(to, from)| format!("{from}{}", &pointer[to.len()..]))
    }

    /// The content of `_meta.schemaEvolution`, oldest first.
    pub(crate) fn evolution(&self) -> Vec<Value> {
        let mut all: Vec<(&str, &Promoted)> = self
            .categories
            .iter()
            .flat_map(|(name, category)| category.promotions.iter().map(move |one| (name.as_str(), one)))
            .collect();
        all.sort_by_key(|(_, one)| one.seq);
        let shown = |(name, one): (&str, &Promoted)| {
            let first = self.categories.get(name).and_then(|category| category.promotions.first());
            let verb = if first.is_some_and(|first| first.seq == one.seq) { "promoted" } else { "moved" };
            json!({
                "timestamp": one.at.to_string(),
                "change": format!("{verb} {} to {name}", one.promotion.candidate),
                "newCategory": name,
                "reason": one.promotion.rationale,
            })
        };
        all.into_iter().map(shown).collect()
    }

    /// When members without a schema were written.
    pub(super) fn written(&self) -> &Written {
        &self.written
    }

    /// Records a change of the document.
    pub(crate) fn note_written(&mut self, before: &Value, after: &Value, at: Timestamp) {
        self.written.note(before, after, at);
    }

    /// Folds in a promotion with the places it moved.
    pub(crate) fn promote(&mut self, promotion: Promotion, moved: Vec<(String, String)>, seq: Seq, at: Timestamp) {
        self.moved.extend(moved);
        let category = self.categories.entry(promotion.name.clone()).or_default();
        category.promotions.push(Promoted { promotion, seq, at });
    }

    /// Bytes in memory, estimated.
    pub(crate) fn bytes(&self) -> usize {
        let moved: usize = self.moved.iter().map(|(from, to)| from.len() + to.len() + 64).sum();
        moved + self.categories.len() * 512
    }
}

/// The moves of facts that a promotion implies: those of its patches, and the dynamic category named after the pattern.
pub fn relocations<'a>(promotion: &Promotion, patches: impl Iterator<Item = &'a Patch>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = patches.flat_map(moves).collect();
    let name = format!("/{}", token(&promotion.name));
    for from in [promotion.candidate.clone(), slug(&promotion.candidate)] {
        let data = format!("/{DYNAMIC}/{}/data", token(&from));
        if !from.is_empty() && !found.iter().any(|(moved, _)| *moved == data) {
            found.push((data, name.clone()));
        }
    }
    found
}

/// The moves of a patch out of the parts without a schema.
pub(crate) fn moves(patch: &Patch) -> impl Iterator<Item = (String, String)> {
    let out = |from: &str| {
        [UNCATEGORIZED, DYNAMIC].iter().any(|root| from.strip_prefix('/').is_some_and(|rest| is_at(rest, root)))
    };
    patch.0.iter().filter_map(move |op| match op {
        PatchOperation::Move(step) if out(step.from.as_str()) && !out(step.path.as_str()) => {
            Some((step.from.to_string(), step.path.to_string()))
        }
        _ => None,
    })
}

/// The pointer of a place after moves; the longest moved prefix decides.
pub(crate) fn relocated(moved: &BTreeMap<String, String>, pointer: &str) -> Option<String> {
    let mut at = pointer;
    loop {
        if let Some(to) = moved.get(at) {
            return Some(format!("{to}{}", &pointer[at.len()..]));
        }
        at = &at[..at.rfind('/')?];
    }
}

fn is_at(pointer: &str, place: &str) -> bool {
    pointer.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
