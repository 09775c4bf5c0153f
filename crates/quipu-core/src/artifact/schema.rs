//! File schemas: every file names its version, and older versions are upgraded on reading.
//!
//! A file is never rewritten because of a new version; only the value read from it is upgraded, and files built from it
//! are rebuilt.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::refusal::Refusal;

/// Upgrades a value from one version to the next.
pub type SchemaUpgrade = fn(&mut Value);

/// One kind of file and the upgrades from its older versions.
#[derive(Debug, Clone, Copy)]
pub struct FileSchema {
    /// The name of the kind.
    pub family: &'static str,
    /// The version that is written.
    pub version: u32,
    /// The upgrades from version 1 to 2, 2 to 3 and so on: one fewer than there are versions.
    pub steps: &'static [SchemaUpgrade],
}

/// `meta.json` of an entry.
pub const ENTRY_META: FileSchema = FileSchema::first("entry_meta");
/// `summary.json` of an entry.
pub const ENTRY_SUMMARY: FileSchema = FileSchema::first("entry_summary");
/// `topic_memory.json`.
pub const TOPIC_MEMORY: FileSchema = FileSchema::first("topic_memory");
/// `GLOBAL_MEMORY.json`.
pub const GLOBAL_MEMORY: FileSchema = FileSchema::first("global_memory");
/// `index/vault.json`.
pub const VAULT: FileSchema = FileSchema::first("vault");

/// The versions a folder is written in.
#[derive(Debug, Clone, Copy)]
pub struct Schemas {
    /// `meta.json` of an entry.
    pub entry_meta: FileSchema,
    /// `summary.json` of an entry.
    pub entry_summary: FileSchema,
    /// `topic_memory.json`.
    pub topic_memory: FileSchema,
    /// `GLOBAL_MEMORY.json`.
    pub global_memory: FileSchema,
}

impl Schemas {
    /// The current versions.
    pub const NOW: Self = Self {
        entry_meta: ENTRY_META,
        entry_summary: ENTRY_SUMMARY,
        topic_memory: TOPIC_MEMORY,
        global_memory: GLOBAL_MEMORY,
    };

    /// Their ids.
    pub fn ids(&self) -> Vec<String> {
        [self.entry_meta, self.entry_summary, self.topic_memory, self.global_memory]
            .iter()
            .map(FileSchema::id)
            .collect()
    }
}

impl FileSchema {
    /// True if a file of an older version, once upgraded, equals one of this version.
    pub fn says_the_same(&self, older: &[u8], new: &[u8]) -> bool {
        let is_older = |value: &Value| value.get("schema").and_then(Value::as_str).is_some_and(|id| id != self.id());
        let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        let older_says = || self.read::<Value>(older).ok();
        read(older).is_some_and(|value| is_older(&value)) && older_says().is_some_and(|says| read(new) == Some(says))
    }

    /// A kind of file in version 1.
    const fn first(family: &'static str) -> Self {
        Self { family, version: 1, steps: &[] }
    }

    /// The schema id in a file: `topic_memory.v1`.
    pub fn id(&self) -> String {
        format!("{}.v{}", self.family, self.version)
    }

    /// Reads a file of this kind, of this version or an older one.
    ///
    /// # Errors
    /// `Invalid` if the file is of another kind or a newer version, or does not match its version.
    pub fn read<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, Refusal> {
        let wrong = |error: serde_json::Error| Refusal::invalid(format!("not a {}: {error}", self.family));
        let mut value: Value = serde_json::from_slice(bytes).map_err(wrong)?;
        let found = value.get("schema").and_then(Value::as_str).unwrap_or("nothing").to_owned();
        let number = found.strip_prefix(self.family).and_then(|rest| rest.strip_prefix(".v")).map(str::parse::<u32>);
        let from = match number {
            Some(Ok(from @ 1..)) if from <= self.version => from,
            Some(Ok(newer)) if newer > self.version => {
                let reads = self.id();
                return Err(Refusal::invalid(format!("{found} is newer than {reads}; a newer Quipu wrote it")));
            }
            _ => return Err(Refusal::invalid(format!("a {} is expected, the file says {found:?}", self.family))),
        };
        for step in self.steps.iter().skip(from as usize - 1) {
            step(&mut value);
        }
        if let Some(members) = value.as_object_mut() {
            members.insert("schema".to_owned(), self.id().into());
        }
        serde_json::from_value(value).map_err(wrong)
    }
}

/// Serialises a value as indented JSON with a final line break.
///
/// # Errors
/// `Invalid` if the value cannot be written as JSON.
pub fn to_page<T: Serialize>(value: &T) -> Result<Vec<u8>, Refusal> {
    let mut page = serde_json::to_vec_pretty(value).map_err(|error| Refusal::invalid(error.to_string()))?;
    page.push(b'\n');
    Ok(page)
}
