//! Reads settings. Later ones override earlier ones: defaults, the settings file, `QUIPU_*` in the environment, flags.

mod artifacts;
mod encryption;
mod maintenance;
mod models;
mod serving;
mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::tz::Offset;
use quipu::system::{SystemClock, machine_zone};
use quipu_core::calendar::TimeExpression;
use quipu_core::id::UserId;
use quipu_core::limit;
use quipu_core::recall::Profiles;
use quipu_core::session::SessionOptions;
use quipu_engine::import::Zone;
use quipu_engine::ports::Clock;
use quipu_engine::{Error, Result};
use serde::Deserialize;

use crate::global::Global;
use crate::shell::CommandPrefix;

pub(crate) use artifacts::Artifacts;
pub(crate) use encryption::{EncryptionSettings, MasterKeySource, UserKeysPlace};
pub(crate) use models::{ModelRole, ModelSettings};
pub(crate) use serving::{TlsArgs, TlsSetting};
pub(crate) use store::StoreSetting;

/// The settings file: `quipu/config.toml` in the platform's configuration folder.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    user: Option<String>,
    data_dir: Option<PathBuf>,
    store: Option<String>,
    encryption: Option<String>,
    master_key_file: Option<PathBuf>,
    user_keys: Option<String>,
    model_dir: Option<PathBuf>,
    reranker_dir: Option<PathBuf>,
    keep_sensitive: Option<bool>,
    timezone: Option<String>,
    remarks: Option<bool>,
    open_memories_mib: Option<usize>,
    weights: Option<PathBuf>,
    artifacts: Option<artifacts::Switch>,
    artifacts_dir: Option<PathBuf>,
    #[serde(default)]
    sessions: SessionOptions,
    #[serde(default)]
    models: BTreeMap<ModelRole, models::Table>,
    #[serde(default)]
    mcp: serving::Mcp,
    #[serde(default)]
    serve: serving::Serving,
    #[serde(default)]
    maintenance: maintenance::Maintenance,
    #[serde(default)]
    upstream: Vec<serving::UpstreamSetting>,
}

/// The settings of this run.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The user named by a flag or the environment, if any.
    pub(crate) user_named: Option<UserId>,
    /// The user to use.
    pub(crate) user: UserId,
    pub(crate) data_dir: PathBuf,
    /// The start of a command line for the same data.
    pub(crate) command: CommandPrefix,
    /// True if the folder was named by a flag or the environment.
    pub(crate) data_dir_named: bool,
    /// Where the ledgers and access keys of the data folder's users are stored.
    pub(crate) store: StoreSetting,
    /// Whether the ledgers are encrypted, and with which keys.
    pub(crate) encryption: EncryptionSettings,
    /// True if the environment names another store than the settings file.
    pub(crate) store_only_in_environment: bool,
    /// Folder with another embedding model.
    pub(crate) model_dir: Option<PathBuf>,
    pub(crate) reranker_dir: Option<PathBuf>,
    /// Keep sensitive statements, such as those about religion.
    pub(crate) keep_sensitive: bool,
    /// Keep statements worth remembering verbatim if no rule reads them.
    pub(crate) remarks: bool,
    /// Estimated size of the memories that are kept open, in MiB.
    pub(crate) open_memories_mib: usize,
    /// Profiles of weights for recall.
    pub(crate) profiles: Profiles,
    /// Plain files: whether they are kept, and where.
    pub(crate) artifacts: Artifacts,
    /// Options of session memory.
    pub(crate) sessions: SessionOptions,
    /// The configured language models.
    pub(crate) models: Vec<ModelSettings>,
    /// The clock of the user, with the time of `--now` if it is given.
    pub(crate) clock: SystemClock,
    /// Options of MCP.
    pub(crate) mcp: quipu_server::McpOptions,
    /// Options of background maintenance in the server.
    pub(crate) maintenance: quipu_server::MaintenanceOptions,
    serve: serving::Serving,
    upstream: Vec<serving::UpstreamSetting>,
}

/// Most MiB of open memories that can be set: 16 TiB.
const OPEN_MEMORIES_MIB_MAX: usize = 16 << 20;

/// Default user.
const DEFAULT_USER: &str = "me";

impl Settings {
    pub(crate) fn read(global: &Global) -> Result<Self> {
        let file = read_file()?;
        let named = global.user.clone();
        let user = UserId::parse(named.as_deref().or(file.user.as_deref()).unwrap_or(DEFAULT_USER))?;
        let data_dir = match global.data_dir.clone().or(file.data_dir) {
            Some(folder) => folder,
            None => default_folder()?,
        };
        let in_file = StoreSetting::parse(file.store.as_deref()).ok();
        let store = StoreSetting::read(file.store)?;
        let store_only_in_environment = in_file.as_ref() != Some(&store);
        Ok(Self {
            command: CommandPrefix::new(global),
            data_dir_named: global.data_dir.is_some(),
            user_named: named.is_some().then(|| user.clone()),
            user,
            data_dir,
            store_only_in_environment,
            store,
            encryption: EncryptionSettings::read(encryption::FileSettings {
                encryption: file.encryption,
                master_key_file: file.master_key_file,
                user_keys: file.user_keys,
            })?,
            model_dir: std::env::var_os("QUIPU_MODEL_DIR").map(PathBuf::from).or(file.model_dir),
            reranker_dir: std::env::var_os("QUIPU_RERANKER_DIR").map(PathBuf::from).or(file.reranker_dir),
            profiles: profiles(file.weights, global.profile.as_deref())?,
            keep_sensitive: switch("QUIPU_KEEP_SENSITIVE")?.or(file.keep_sensitive).unwrap_or(false),
            remarks: switch("QUIPU_REMARKS")?.or(file.remarks).unwrap_or(true),
            open_memories_mib: open_memories_mib(file.open_memories_mib)?,
            artifacts: Artifacts::read(file.artifacts, file.artifacts_dir)?,
            sessions: file.sessions.checked().map_err(|refusal| Error::Invalid(format!("[sessions]: {refusal}")))?,
            models: models::read(&file.models, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))?,
            clock: clock(file.timezone, global.now)?,
            mcp: file.mcp.into(),
            maintenance: file.maintenance.checked()?,
            serve: file.serve,
            upstream: file.upstream,
        })
    }
}

/// The clock, in the time zone of the environment, else of the settings file, else of the machine.
fn clock(in_file: Option<String>, now: Option<TimeExpression>) -> Result<SystemClock> {
    let zone = match std::env::var("QUIPU_TIMEZONE").ok().filter(|text| !text.is_empty()).or(in_file) {
        Some(text) => {
            let wrong = |refusal| Error::Invalid(format!("QUIPU_TIMEZONE or timezone: {refusal}"));
            Some(text.parse::<Zone>().map_err(wrong)?.into())
        }
        None => machine_zone(),
    };
    let clock = SystemClock { fixed: None, zone };
    let offset = |at| clock.utc_offset(at).unwrap_or(Offset::UTC);
    let fixed = now.map(|now| now.moment(clock.now(), &offset)).transpose().map_err(Error::Invalid)?;
    Ok(SystemClock { fixed, ..clock })
}

/// The size of the memories that are kept open: from the environment, else from the file, else the default.
fn open_memories_mib(in_file: Option<usize>) -> Result<usize> {
    let wrong = |given: &dyn std::fmt::Display| {
        Error::Invalid(format!(
            "QUIPU_OPEN_MEMORIES_MIB and open_memories_mib are a number from 1 to {OPEN_MEMORIES_MIB_MAX}, not {given}"
        ))
    };
    let in_environment = match std::env::var("QUIPU_OPEN_MEMORIES_MIB") {
        Ok(text) => Some(text.parse().map_err(|_| wrong(&text))?),
        Err(_) => None,
    };
    let chosen = in_environment.or(in_file).unwrap_or(limit::ACTIVE_BYTES_MAX >> 20);
    if (1..=OPEN_MEMORIES_MIB_MAX).contains(&chosen) { Ok(chosen) } else { Err(wrong(&chosen)) }
}

/// Reads a boolean environment variable: `true` or `false`.
fn switch(variable: &str) -> Result<Option<bool>> {
    match std::env::var(variable) {
        Ok(text) => text
            .parse()
            .map(Some)
            .map_err(|_| Error::Invalid(format!("{variable} must be true or false, not {text:?}"))),
        Err(_) => Ok(None),
    }
}

/// Reads the profiles from the named file of weights, else from `quipu/weights.yaml` in the configuration folder if it
/// exists. `chosen` overrides the profile selected in the file.
fn profiles(named: Option<PathBuf>, chosen: Option<&str>) -> Result<Profiles> {
    let named = std::env::var_os("QUIPU_WEIGHTS").map(PathBuf::from).or(named);
    let usual = || base("XDG_CONFIG_HOME", ".config").ok().map(|folder| folder.join("quipu/weights.yaml"));
    let profiles = match (named.as_ref(), usual()) {
        (Some(path), _) => read_weights(path)?,
        (None, Some(path)) if path.exists() => read_weights(&path)?,
        (None, _) => Profiles::default(),
    };
    match chosen {
        Some(name) => Ok(profiles.using(name)?),
        None => Ok(profiles),
    }
}

fn read_weights(path: &Path) -> Result<Profiles> {
    let place = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::Unavailable(format!("cannot read the weights in {place}: {error}")))?;
    let value = serde_saphyr::from_str(&text).map_err(|error| Error::Invalid(format!("{place}: {error}")))?;
    Profiles::parse(value).map_err(|refusal| Error::Invalid(format!("{place}: {refusal}")))
}

/// The path of the settings file.
pub(crate) fn path() -> Result<PathBuf> {
    Ok(base("XDG_CONFIG_HOME", ".config")?.join("quipu/config.toml"))
}

/// The data folder if nothing names another one.
pub(crate) fn default_folder() -> Result<PathBuf> {
    Ok(base("XDG_DATA_HOME", ".local/share")?.join("quipu"))
}

/// True if there is a settings file.
pub(crate) fn is_there() -> bool {
    path().is_ok_and(|path| path.is_file())
}

fn read_file() -> Result<File> {
    let Ok(path) = path() else { return Ok(File::default()) };
    match std::fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text).map_err(|error| Error::Invalid(format!("{}: {error}", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(File::default()),
        Err(error) => Err(Error::Unavailable(format!("cannot read {}: {error}", path.display()))),
    }
}

/// A base folder of the XDG specification, which treats a relative value as unset.
fn base(variable: &str, under_home: &str) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute()) {
        return Ok(folder);
    }
    Ok(home()?.join(under_home))
}

/// The home folder.
pub(crate) fn home() -> Result<PathBuf> {
    // Windows sets USERPROFILE only.
    let mut homes = ["HOME", "USERPROFILE"].into_iter().filter_map(std::env::var_os);
    match homes.find(|home| !home.is_empty()) {
        Some(home) => Ok(PathBuf::from(home)),
        None => Err(Error::Invalid("HOME is not set; give --data-dir".to_owned())),
    }
}
