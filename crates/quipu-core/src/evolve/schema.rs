//! What evolution made of one memory's schema: the categories that were promoted, and where places went.

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

/// The part of a memory that grew: folded from promotions, and from when places were written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrownSchema {
    categories: BTreeMap<String, Category>,
    /// Places that stand elsewhere now, with all below them.
    moved: BTreeMap<String, String>,
    written: Written,
}

/// A category that was promoted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// What made it and what it took in later, in the order of the ledger; never empty.
    pub promotions: Vec<Promoted>,
}

/// A promotion and the event that recorded it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promoted {
    /// What was promoted, and why.
    pub promotion: Promotion,
    /// The event.
    pub seq: Seq,
    /// When it was recorded.
    pub at: Timestamp,
}

impl Category {
    /// What it is about.
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

    /// The category a pattern was promoted to, if it was.
    pub fn promoted_from(&self, candidate: &str) -> Option<&str> {
        let from = |category: &Category| category.promotions.iter().any(|one| one.promotion.candidate == candidate);
        self.categories.iter().find(|(_, category)| from(category)).map(|(name, _)| name.as_str())
    }

    /// Says whether a category may be promoted under this name, whatever the registry has.
    ///
    /// # Errors
    /// `Refused`: the name has no or more than 64 bytes or a meaning of its own, or the memory has grown as many categories as
    /// it may.
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

    /// True if the schema is as it came.
    pub fn is_empty(&self) -> bool {
        self.categories.is_empty()
    }

    /// Where a place stands now.
    pub fn place(&self, pointer: &str) -> String {
        self.elsewhere(pointer).unwrap_or_else(|| pointer.to_owned())
    }

    /// Where a place that moved stands now; the longest place it is at or below decides.
    pub(crate) fn elsewhere(&self, pointer: &str) -> Option<String> {
        if self.moved.is_empty() {
            return None;
        }
        relocated(&self.moved, pointer)
    }

    /// Where a place that stands here now stood before.
    pub(crate) fn origin(&self, pointer: &str) -> Option<String> {
        let homes = self.moved.iter().map(|(from, to)| (to, from));
        let found = homes.filter(|(to, _)| is_at(pointer, to)).max_by_key(|(to, _)| to.len());
        found.map(|(to, from)| format!("{from}{}", &pointer[to.len()..]))
    }

    /// What `_meta.schemaEvolution` shows, oldest first.
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

    /// When a place without a schema was written.
    pub(super) fn written(&self) -> &Written {
        &self.written
    }

    /// Takes note of a change of the document.
    pub(crate) fn note_written(&mut self, before: &Value, after: &Value, at: Timestamp) {
        self.written.note(before, after, at);
    }

    /// Folds a promotion in, with the places that moved.
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

/// Where facts would stand that the promotion moves, as far as the event tells: what its patches move, and the dynamic
/// category named after the pattern.
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

/// What a patch moves out of the places without a schema.
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

/// Where a place stands after moves; the longest one it is at or below decides.
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
