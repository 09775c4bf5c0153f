//! The wordings of every relation.

use std::collections::BTreeMap;

use quipu_engine::{Error, Result};
use serde::Deserialize;

const ENGLISH: &str = include_str!("english.toml");

#[derive(Debug, Deserialize)]
pub(super) struct Language {
    pub(super) people: Vec<String>,
    /// A person without a role in the story, as a speaker.
    pub(super) stranger: String,
    pub(super) chatter: Vec<String>,
    pub(super) idle: Vec<String>,
    #[serde(flatten)]
    pub(super) relations: BTreeMap<String, Relation>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Relation {
    pub(super) single: bool,
    /// What a value of this kind is called, where that is part of the relation.
    pub(super) of: Option<String>,
    pub(super) opposite: Option<String>,
    pub(super) values: Vec<String>,
    #[serde(default)]
    pub(super) if_user: Vec<String>,
    #[serde(default)]
    pub(super) if_other: Vec<String>,
    #[serde(default)]
    pub(super) weak_user: Vec<String>,
    #[serde(default)]
    pub(super) weak_other: Vec<String>,
    #[serde(default)]
    pub(super) aside: Vec<String>,
    pub(super) user: Wordings,
    pub(super) other: Option<Wordings>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wordings {
    pub(super) first: Vec<String>,
    pub(super) since: Vec<String>,
    pub(super) again: Vec<String>,
    pub(super) changed: Vec<String>,
    pub(super) week: Vec<String>,
    pub(super) day: Vec<String>,
    pub(super) month: Vec<String>,
    pub(super) late: Vec<String>,
    pub(super) before: Vec<String>,
    pub(super) corrected: Vec<String>,
    pub(super) ended: Vec<String>,
    pub(super) opposite: Vec<String>,
}

impl Language {
    pub(super) fn english() -> Result<Self> {
        toml::from_str(ENGLISH).map_err(|error| Error::Bug(format!("the language of the worlds: {error}")))
    }
}
