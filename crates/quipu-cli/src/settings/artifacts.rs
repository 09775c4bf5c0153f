//! Plain files: whether they are kept, and where.

use std::path::PathBuf;

use quipu_engine::{Error, Result};
use serde::Deserialize;

/// `artifacts = "on"`, `"off"`, `true` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Switch {
    Bool(bool),
    Word(ArtifactsSetting),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ArtifactsSetting {
    On,
    Off,
}

/// What holds for this run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Artifacts {
    /// Keep plain files level after every command.
    pub(crate) on: bool,
    /// Where; in the data folder unless set.
    pub(crate) folder: Option<PathBuf>,
}

impl Artifacts {
    /// The environment goes over the settings file.
    pub(super) fn read(file: Option<Switch>, folder: Option<PathBuf>) -> Result<Self> {
        let set = file.is_some_and(|switch| matches!(switch, Switch::Bool(true) | Switch::Word(ArtifactsSetting::On)));
        let on = match std::env::var("QUIPU_ARTIFACTS").as_deref() {
            Ok("on" | "true") => true,
            Ok("off" | "false") => false,
            Ok(other) => return Err(Error::Invalid(format!("QUIPU_ARTIFACTS is on or off, not {other:?}"))),
            Err(_) => set,
        };
        let folder = std::env::var_os("QUIPU_ARTIFACTS_DIR").map(PathBuf::from).or(folder);
        Ok(Self { on, folder })
    }
}
