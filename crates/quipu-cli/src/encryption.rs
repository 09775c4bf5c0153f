//! Assembles the encryption of a store.

use std::path::Path;
use std::sync::Arc;

use quipu::system::{SystemClock, SystemEntropy};
use quipu_encryption::{EncryptedStore, MasterKeys, UserKeys};
use quipu_engine::ports::{LedgerStore, UserKeyStore};
use quipu_engine::{Error, Result};
use quipu_postgres::{PostgresOptions, PostgresStore, PostgresUserKeys};
use quipu_sqlite::{SqliteStore, SqliteUserKeys, StoreOptions};

use crate::settings::{EncryptionSettings, MasterKeySource, Settings, StoreSetting, UserKeysPlace};

/// The key file in a data folder.
const KEY_FILE: &str = "user-keys.db";

/// Opens the ledgers of a place, encrypted or not as the settings say.
///
/// # Errors
/// As the stores; `Invalid` if encryption is on and there is no master key, or if a new database would be used without
/// encryption although nobody said so.
pub(crate) fn open_store(
    place: &StoreSetting,
    folder: &Path,
    settings: &EncryptionSettings,
) -> Result<Box<dyn LedgerStore>> {
    let (inner, is_on): (Box<dyn LedgerStore>, bool) = match place {
        StoreSetting::Folder => (
            Box::new(SqliteStore::open(folder, StoreOptions::default())?),
            settings.switch.unwrap_or(settings.master.is_some()),
        ),
        StoreSetting::Postgres(url) => {
            let store = PostgresStore::open(url.secret(), PostgresOptions::default())?;
            let is_on = match settings.switch {
                Some(is_on) => is_on,
                // A master key or keys of users that are missing here must not make new users be stored in the clear.
                None => {
                    let has_keys = settings.user_keys.is_some() || store.has_user_keys()?;
                    settings.master.is_some() || has_keys || !is_in_use(&store)?
                }
            };
            (Box::new(store), is_on)
        }
    };
    if !is_on {
        return Ok(Box::new(EncryptedStore::off(inner)));
    }
    Ok(Box::new(EncryptedStore::new(inner, Arc::new(user_keys(place, folder, settings)?))?))
}

/// The ledgers of the settings as they are stored, sealed or not.
///
/// # Errors
/// As the stores.
pub(crate) fn raw_store(settings: &Settings) -> Result<Box<dyn LedgerStore>> {
    Ok(match &settings.store {
        StoreSetting::Folder => Box::new(SqliteStore::open(&settings.data_dir, StoreOptions::default())?),
        StoreSetting::Postgres(url) => Box::new(PostgresStore::open(url.secret(), PostgresOptions::default())?),
    })
}

/// Whether a database has ledgers. One that was filled before encryption was available stays as it is.
fn is_in_use(store: &PostgresStore) -> Result<bool> {
    Ok(store.has_users()?)
}

/// The keys of the users of a place.
///
/// # Errors
/// `Invalid` if there is no master key.
pub(crate) fn user_keys(place: &StoreSetting, folder: &Path, settings: &EncryptionSettings) -> Result<UserKeys> {
    let masters = match &settings.master {
        Some(MasterKeySource::File(path)) => MasterKeys::from_file(path)?,
        Some(MasterKeySource::Text(text)) => MasterKeys::from_text(text, "QUIPU_MASTER_KEY")?,
        None => return Err(no_master_key(place)),
    };
    let store: Box<dyn UserKeyStore> = match (&settings.user_keys, place) {
        (Some(UserKeysPlace::File(path)), _) => Box::new(SqliteUserKeys::open(path)?),
        (None, StoreSetting::Folder) => Box::new(SqliteUserKeys::open(&folder.join(KEY_FILE))?),
        (Some(UserKeysPlace::Database(url)), _) | (None, StoreSetting::Postgres(url)) => {
            Box::new(PostgresUserKeys::open(url.secret(), PostgresOptions::default())?)
        }
    };
    Ok(UserKeys { store, masters, clock: Arc::new(SystemClock::default()), entropy: Arc::new(SystemEntropy) })
}

fn no_master_key(place: &StoreSetting) -> Error {
    let why = match place {
        StoreSetting::Folder => "encryption is on",
        StoreSetting::Postgres(_) => {
            "a new PostgreSQL store is encrypted unless `encryption` (QUIPU_ENCRYPTION) is off"
        }
    };
    Error::Invalid(format!(
        "{why}, and there is no master key. `quipu user-keys new FILE` makes one; name it in `master_key_file` or \
         QUIPU_MASTER_KEY_FILE. Keep a copy elsewhere: without it nobody can read the memories"
    ))
}
