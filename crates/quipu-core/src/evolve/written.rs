//! Records when the parts without a schema were written.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::core_document::{DYNAMIC, UNCATEGORIZED};
use crate::limit;

/// Days since 1970-01-01 in UTC.
pub(super) type Day = i64;

pub(super) fn day_of(time: Timestamp) -> Day {
    time.as_second().div_euclid(24 * 60 * 60)
}

/// The current members of `uncategorized` and `dynamicCategories`, by pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Written(BTreeMap<String, WrittenAt>);

/// When a member was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenAt {
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// The days of writing, up to a limit.
    pub(super) days: BTreeSet<Day>,
}

impl Written {
    pub(super) fn at(&self, pointer: &str) -> Option<&WrittenAt> {
        self.0.get(pointer)
    }

    /// Records a change of the document.
    pub(super) fn note(&mut self, before: &Value, after: &Value, at: Timestamp) {
        for root in [UNCATEGORIZED, DYNAMIC] {
            let none = Map::new();
            let members = |document| member(document, root).unwrap_or(&none);
            let (old, new) = (members(before), members(after));
            for name in old.keys().filter(|name| !new.contains_key(*name)) {
                self.0.remove(&pointer(root, name));
            }
            for (name, _) in new.iter().filter(|(name, value)| old.get(*name) != Some(value)) {
                let place = self.0.entry(pointer(root, name)).or_insert_with(|| WrittenAt {
                    first: at,
                    last: at,
                    days: BTreeSet::new(),
                });
                place.first = place.first.min(at);
                place.last = place.last.max(at);
                if place.days.len() < limit::DAYS_PER_PLACE_MAX {
                    place.days.insert(day_of(at));
                }
            }
        }
    }
}

fn member<'a>(document: &'a Value, root: &str) -> Option<&'a Map<String, Value>> {
    document.get(root)?.as_object()
}

/// The pointer of a member below a root.
pub(super) fn pointer(root: &str, name: &str) -> String {
    format!("/{root}/{}", token(name))
}

/// Escapes a name as a pointer token.
pub(super) fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Unescapes a pointer token.
pub(super) fn name_of(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
