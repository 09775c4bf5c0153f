//! Whether ledgers are encrypted, and with which keys.

use std::fmt;
use std::path::PathBuf;

use quipu_engine::{Error, Result};

use super::store::StoreUrl;

/// Settings of encryption.
#[derive(Debug, Default)]
pub(crate) struct EncryptionSettings {
    /// On or off; `None` if it is not set.
    pub(crate) switch: Option<bool>,
    /// Where the master key is, if one is set.
    pub(crate) master: Option<MasterKeySource>,
    /// Where the keys of users are, if it is set.
    pub(crate) user_keys: Option<UserKeysPlace>,
}

/// Where the master key is.
#[derive(Clone)]
pub(crate) enum MasterKeySource {
    /// A file.
    File(PathBuf),
    /// The text of the environment variable.
    Text(String),
}

impl fmt::Debug for MasterKeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Text(_) => f.write_str("Text"),
        }
    }
}

/// Where the keys of users are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UserKeysPlace {
    /// A file.
    File(PathBuf),
    /// The schema `quipu_keys` of a database.
    Database(StoreUrl),
}

impl UserKeysPlace {
    /// The database of a URL, or else a file.
    pub(crate) fn of_address(address: &str) -> Self {
        match StoreUrl::parse(address) {
            Some(url) => Self::Database(url),
            None => Self::File(PathBuf::from(address)),
        }
    }
}

/// The settings of the file.
#[derive(Debug, Default)]
pub(super) struct FileSettings {
    pub(super) encryption: Option<String>,
    pub(super) master_key_file: Option<PathBuf>,
    pub(super) user_keys: Option<String>,
}

impl EncryptionSettings {
    /// Reads the settings; the environment overrides the settings file.
    pub(super) fn read(file: FileSettings) -> Result<Self> {
        Self::read_from(file, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn read_from(file: FileSettings, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let switch = variable("QUIPU_ENCRYPTION").or(file.encryption).map(|word| parse(&word)).transpose()?;
        let in_variables = match (variable("QUIPU_MASTER_KEY"), variable("QUIPU_MASTER_KEY_FILE")) {
            (Some(_), Some(_)) => {
                return Err(Error::Invalid(
                    "QUIPU_MASTER_KEY and QUIPU_MASTER_KEY_FILE are both set: unset one".to_owned(),
                ));
            }
            (Some(text), None) => Some(MasterKeySource::Text(text)),
            (None, path) => path.map(|path| MasterKeySource::File(PathBuf::from(path))),
        };
        let user_keys = variable("QUIPU_USER_KEYS").or(file.user_keys);
        Ok(Self {
            switch,
            master: in_variables.or(file.master_key_file.map(MasterKeySource::File)),
            user_keys: user_keys.as_deref().map(UserKeysPlace::of_address),
        })
    }
}

fn parse(word: &str) -> Result<bool> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(Error::Invalid(format!("encryption (QUIPU_ENCRYPTION) must be on or off, not {other:?}"))),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(file: FileSettings, set: &[(&str, &str)]) -> Result<EncryptionSettings> {
        EncryptionSettings::read_from(file, &|name| {
            set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_overrides_the_file_and_keys_are_never_shown() {
        let file = || FileSettings {
            encryption: Some("on".to_owned()),
            master_key_file: Some(PathBuf::from("/file")),
            user_keys: Some("postgres://me:s3cret@db/keys".to_owned()),
        };
        let settings = read(file(), &[]).unwrap();
        assert_eq!(settings.switch, Some(true));
        assert!(matches!(&settings.master, Some(MasterKeySource::File(path)) if path.ends_with("file")));
        assert!(!format!("{settings:?}").contains("s3cret"));
        let set = [("QUIPU_ENCRYPTION", "off"), ("QUIPU_MASTER_KEY", "5ec3e7"), ("QUIPU_USER_KEYS", "/keys.db")];
        let settings = read(file(), &set).unwrap();
        assert_eq!(settings.switch, Some(false));
        assert_eq!(settings.user_keys, Some(UserKeysPlace::File(PathBuf::from("/keys.db"))));
        assert!(!format!("{settings:?}").contains("5ec3e7"));
        assert!(read(FileSettings::default(), &[("QUIPU_ENCRYPTION", "yes")]).is_err());
        let both = [("QUIPU_MASTER_KEY", "a"), ("QUIPU_MASTER_KEY_FILE", "b")];
        assert!(read(FileSettings::default(), &both).unwrap_err().to_string().contains("unset one"));
        assert_eq!(read(FileSettings::default(), &[]).unwrap().switch, None);
    }
}
