//! Settings of plain files.

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

/// Whether plain files are kept, and where.
#[derive(Debug, Clone, Default)]
pub(crate) struct Artifacts {
    /// Update plain files after every command.
    pub(crate) on: bool,
    /// Their folder. Defaults to one in the data folder.
    pub(crate) folder: Option<PathBuf>,
}

impl Artifacts {
    /// Reads the settings; the environment overrides the settings file.
    pub(super) fn read(file: Option<Switch>, folder: Option<PathBuf>) -> Result<Self> {
        let set = file.is_some_and(|switch| matches!(switch, Switch::Bool(true) | Switch::Word(ArtifactsSetting::On)));
        let on = match std::env::var("QUIPU_ARTIFACTS").as_deref() {
            Ok("on" | "true") => true,
            Ok("off" | "false") => false,
            Ok(other) => return Err(Error::Invalid(format!("QUIPU_ARTIFACTS must be on or off, not {other:?}"))),
            Err(_) => set,
        };
        let folder = std::env::var_os("QUIPU_ARTIFACTS_DIR").map(PathBuf::from).or(folder);
        Ok(Self { on, folder })
    }
}
