//! Where ledgers and access keys are stored.

use std::fmt;

use quipu_engine::{Error, Result};

/// The store of the ledgers. Everything else, such as plain files and the signing key, is in the data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreSetting {
    /// The data folder.
    Folder,
    /// A PostgreSQL database.
    Postgres(StoreUrl),
}

/// The URL of a database, whose password is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoreUrl(String);

impl StoreUrl {
    /// The URL of a database; `None` if it is no URL.
    pub(super) fn parse(address: &str) -> Option<Self> {
        quipu_postgres::is_url(address).then(|| Self(address.to_owned()))
    }

    /// The URL with its password, to connect with.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quipu_postgres::shown_url(&self.0))
    }
}

impl StoreSetting {
    /// Reads `QUIPU_STORE`, else the setting of the file.
    pub(crate) fn read(set: Option<String>) -> Result<Self> {
        let named = std::env::var("QUIPU_STORE").ok().filter(|value| !value.is_empty());
        Self::parse(named.or(set).as_deref())
    }

    /// The database of an address, or a folder if it is no URL.
    pub(crate) fn of_address(address: &str) -> Self {
        StoreUrl::parse(address).map_or(Self::Folder, Self::Postgres)
    }

    pub(super) fn parse(set: Option<&str>) -> Result<Self> {
        match set {
            None | Some("folder") => Ok(Self::Folder),
            Some(url) if quipu_postgres::is_url(url) => Ok(Self::Postgres(StoreUrl(url.to_owned()))),
            // The value may contain a password.
            Some(_) => Err(Error::Invalid(
                "store (QUIPU_STORE) must be `folder` or the URL of a PostgreSQL database: \
                 postgres://USER:PASSWORD@HOST:PORT/DATABASE"
                    .to_owned(),
            )),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_the_folder_or_a_database() {
        assert_eq!(StoreSetting::parse(None).unwrap(), StoreSetting::Folder);
        assert_eq!(StoreSetting::parse(Some("folder")).unwrap(), StoreSetting::Folder);
        let set = StoreSetting::parse(Some("postgres://me:s3cret@db/memory")).unwrap();
        assert_eq!(format!("{set:?}"), "Postgres(postgres://me@db:5432/memory)");
        let told = StoreSetting::parse(Some("me:s3cret@db")).unwrap_err().to_string();
        assert!(told.contains("QUIPU_STORE") && !told.contains("s3cret"), "{told}");
    }
}
