//! The categories of a core document and their schemas.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use jsonschema::{Draft, PatternOptions, Retrieve, Uri, Validator};
use serde::Serialize;
use serde_json::Value;

use super::fault::shown;
use super::schemas::{DEFAULT, DYNAMIC, META, UNCATEGORIZED};
use crate::evolve::GrownSchema;
use crate::{Refusal, limit};

/// Most faults that one validation lists.
const FAULTS_MAX: usize = 20;

/// The categories by name, their JSON Schemas compiled.
#[derive(Debug)]
pub struct Registry {
    categories: BTreeMap<String, Category>,
}

#[derive(Debug)]
struct Category {
    description: String,
    validator: Validator,
}

/// A mismatch between a document and its category.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SchemaFault {
    /// JSON Pointer of the place.
    pub path: String,
    /// What the schema expects.
    pub reason: String,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

impl Registry {
    /// The built-in categories.
    pub fn default_registry() -> Self {
        let none: [(&str, &str); 0] = [];
        #[expect(clippy::expect_used, reason = "the schemas are part of the program and a test compiles them all")]
        Self::with_schemas(none).expect("the built-in schemas compile")
    }

    /// The built-in categories and the given (name, JSON Schema) pairs; a given category replaces a built-in one of the
    /// same name. A schema without `$schema` is read as draft 2020-12.
    ///
    /// # Errors
    /// `Invalid`: the name is not 1 to 64 ASCII letters, digits, `_` and `-` starting with a letter, or is
    /// `dynamicCategories` or `uncategorized`; the schema is longer than 256 KiB, not JSON, not a valid schema, or
    /// refers to another file or address, which is never fetched.
    pub fn with_schemas<N, S>(schemas: impl IntoIterator<Item = (N, S)>) -> Result<Self, Refusal>
    where
        N: AsRef<str>,
        S: AsRef<str>,
    {
        let mut categories = BTreeMap::new();
        for (name, schema) in DEFAULT {
            categories.insert(name.to_owned(), Category::compile(name, schema)?);
        }
        for (name, schema) in schemas {
            let name = name.as_ref();
            check_name(name)?;
            categories.insert(name.to_owned(), Category::compile(name, schema.as_ref())?);
        }
        Ok(Self { categories })
    }

    /// Name and description of each category, ordered by name.
    pub fn categories(&self) -> impl Iterator<Item = (&str, &str)> {
        self.categories.iter().map(|(name, category)| (name.as_str(), category.description.as_str()))
    }

    /// Validates a whole stored document of a memory without promoted categories.
    ///
    /// # Errors
    /// At most 20 faults, ordered by path.
    pub fn validate(&self, document: &Value) -> Result<(), Vec<SchemaFault>> {
        Categories::from(self).validate(document)
    }

    /// True if the registry has this category.
    pub fn has(&self, name: &str) -> bool {
        self.categories.contains_key(name)
    }
}

/// The categories of one memory: those of the registry and those it promoted.
#[derive(Debug, Clone, Copy)]
pub struct Categories<'a> {
    registry: &'a Registry,
    promoted: Option<&'a GrownSchema>,
    /// A category that is about to be promoted.
    coming: Option<&'a str>,
}

impl<'a> From<&'a Registry> for Categories<'a> {
    fn from(registry: &'a Registry) -> Self {
        Self { registry, promoted: None, coming: None }
    }
}

impl<'a> Categories<'a> {
    /// The categories of the registry and of a memory.
    pub fn of(registry: &'a Registry, promoted: &'a GrownSchema) -> Self {
        Self { registry, promoted: Some(promoted), coming: None }
    }

    /// Adds a category that is about to be promoted.
    pub fn with(self, coming: &'a str) -> Self {
        Self { coming: Some(coming), ..self }
    }

    /// The registry.
    pub fn registry(&self) -> &'a Registry {
        self.registry
    }

    /// True if this category exists.
    pub fn has(&self, name: &str) -> bool {
        self.registry.has(name) || self.grew(name)
    }

    fn grew(&self, name: &str) -> bool {
        self.coming == Some(name) || self.promoted.is_some_and(|schema| schema.category(name).is_some())
    }

    /// Validates a whole stored document. A promoted category must be an object.
    ///
    /// # Errors
    /// At most 20 faults, ordered by path.
    pub fn validate(&self, document: &Value) -> Result<(), Vec<SchemaFault>> {
        let Some(members) = document.as_object() else {
            let reason = "the core document is an object of categories".to_owned();
            return Err(vec![SchemaFault { path: String::new(), reason }]);
        };
        let mut faults = Vec::new();
        for (name, value) in members {
            let left = FAULTS_MAX - faults.len();
            match self.registry.categories.get(name) {
                Some(category) => faults.extend(category.faults(name, value).take(left)),
                None if self.grew(name) => faults.extend(fault_of_promoted(name, value)),
                None => faults.push(self.unknown(name)),
            }
            if faults.len() >= FAULTS_MAX {
                break;
            }
        }
        faults.sort();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn unknown(&self, name: &str) -> SchemaFault {
        let path = pointer_to(name);
        if name == META {
            return SchemaFault { path, reason: "_meta is kept by Quipu and not part of what is stored".to_owned() };
        }
        let promoted = self.promoted.into_iter().flat_map(|schema| schema.categories().map(|(name, _)| name));
        let known = self.registry.categories.keys().map(String::as_str).chain(promoted).collect::<Vec<_>>().join(", ");
        let reason = format!(
            "not a category; use one of {known}, or put it under /{DYNAMIC}{path}/data or /{UNCATEGORIZED}{path}"
        );
        SchemaFault { path, reason }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::default_registry()
    }
}

impl Category {
    fn compile(name: &str, schema: &str) -> Result<Self, Refusal> {
        let wrong = |reason: String| Refusal::invalid(format!("schema of category `{}`: {}", shown(name), reason));
        if schema.len() > limit::CORE_BYTES_MAX {
            return Err(wrong(format!("longer than {} bytes", limit::CORE_BYTES_MAX)));
        }
        let schema: Value = serde_json::from_str(schema).map_err(|error| wrong(format!("not JSON: {error}")))?;
        let mut options = jsonschema::options()
            // Without backtracking: otherwise one value could block the memory.
            .with_pattern_options(PatternOptions::regex())
            .with_retriever(FetchNothing);
        if schema.get("$schema").is_none() {
            options = options.with_draft(Draft::Draft202012);
        }
        let validator = options.build(&schema).map_err(|error| wrong(shown(&error.to_string())))?;
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Self { description, validator })
    }

    fn faults<'a>(&'a self, name: &str, value: &'a Value) -> impl Iterator<Item = SchemaFault> {
        let root = pointer_to(name);
        self.validator.iter_errors(value).map(move |error| SchemaFault {
            path: format!("{root}{}", error.instance_path()),
            reason: shown(&error.to_string()),
        })
    }
}

/// A promoted category has no schema; only its size and names are checked.
fn fault_of_promoted(name: &str, value: &Value) -> Option<SchemaFault> {
    let fault = |reason: String| Some(SchemaFault { path: pointer_to(name), reason });
    let Some(members) = value.as_object() else {
        return fault(format!(
            "{} is not an object: the category was promoted and has members",
            shown(&value.to_string())
        ));
    };
    if members.len() > limit::CATEGORY_MEMBERS_MAX {
        return fault(format!("{} members, at most {}", members.len(), limit::CATEGORY_MEMBERS_MAX));
    }
    let named = |member: &&String| !member.is_empty() && member.len() <= limit::NAME_BYTES_MAX;
    match members.keys().find(|member| !named(member)) {
        Some(member) => fault(format!("`{}`: a member's name has 1 to {} bytes", shown(member), limit::NAME_BYTES_MAX)),
        None => None,
    }
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if name.len() > 64 || !plain || !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        let rule = "1 to 64 letters, digits, _ and -, starting with a letter";
        return Err(Refusal::invalid(format!("`{}` cannot name a category: {rule}", shown(name))));
    }
    if name == DYNAMIC || name == UNCATEGORIZED {
        return Err(Refusal::invalid(format!("the shape of `{name}` is fixed")));
    }
    Ok(())
}

fn pointer_to(name: &str) -> String {
    json_patch::jsonptr::PointerBuf::from_tokens([name]).to_string()
}

/// Refuses external references: what a memory accepts must not depend on the network.
struct FetchNothing;

impl Retrieve for FetchNothing {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err(format!("{uri} is outside the schema and never fetched").into())
    }
}
