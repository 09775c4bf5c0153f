//! The key of a data folder.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::path::PathBuf;
use std::sync::Arc;

use quipu_engine::ports::{Entropy, Signer, VaultError};

/// Entropy that depends only on the name of the key file.
struct Named(Vec<u8>);

impl Entropy for Named {
    fn fill(&self, bytes: &mut [u8]) {
        let length = self.0.len();
        bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = self.0[at % length]);
    }
}

fn key_file(path: PathBuf) -> quipu_files::KeyFile {
    let name = path.to_string_lossy().into_owned().into_bytes();
    quipu_files::KeyFile::new(path, Arc::new(Named(name.into_iter().rev().collect())))
}

#[test]
fn a_key_is_made_once_and_vouches_for_its_bytes_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signing.key");
    let key = key_file(path.clone());
    let public = key.public_key().unwrap();
    let signature = key.sign(b"a ledger").unwrap();
    assert!(key.vouches(&public, b"a ledger", &signature));
    assert!(!key.vouches(&public, b"a ledger!", &signature));
    let other = key_file(folder.path().join("other.key"));
    assert!(!key.vouches(&other.public_key().unwrap(), b"a ledger", &signature));
    assert_eq!(key_file(path).public_key().unwrap(), public);
}

#[cfg(unix)]
#[test]
fn a_key_is_its_owners_alone() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signing.key");
    key_file(path.clone()).public_key().unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let link = folder.path().join("link.key");
    symlink(&path, &link).unwrap();
    assert!(matches!(key_file(link).public_key(), Err(VaultError::Refused(_))));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(key_file(path).public_key(), Err(VaultError::Refused(_))));
}
