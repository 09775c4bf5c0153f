//! A key pair in a file, created on first use and readable by its owner only.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use quipu_engine::ports::{Entropy, PublicKey, Signature, Signer, VaultError};

/// Length of the secret in bytes. The file has it in hexadecimal, followed by a line feed.
const SECRET: usize = 32;
const FILE: u64 = 2 * SECRET as u64 + 1;

/// Signs with the key in a file.
pub struct KeyFile {
    path: PathBuf,
    entropy: Arc<dyn Entropy>,
}

impl KeyFile {
    /// Reads and creates nothing yet. A new key is generated from `entropy`.
    pub fn new(path: PathBuf, entropy: Arc<dyn Entropy>) -> Self {
        Self { path, entropy }
    }

    fn key(&self) -> Result<SigningKey, VaultError> {
        match self.read()? {
            Some(key) => Ok(key),
            None => self.make(),
        }
    }

    fn read(&self) -> Result<Option<SigningKey>, VaultError> {
        let place = self.path.display();
        let found = match fs::symlink_metadata(&self.path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(VaultError::Unavailable(format!("cannot read the key {place}: {error}"))),
        };
        if !found.is_file() || found.len() != FILE {
            return Err(VaultError::Refused(format!("{place} is no key of Quipu's; move it elsewhere")));
        }
        if is_shared(&found) {
            return Err(VaultError::Refused(format!(
                "{place} can be read by others; `chmod 600` it, or make a new one"
            )));
        }
        let mut text = String::new();
        let read = File::open(&self.path).and_then(|file| file.take(FILE).read_to_string(&mut text));
        read.map_err(|error| VaultError::Unavailable(format!("cannot read the key {place}: {error}")))?;
        let secret = unhex(text.trim()).ok_or_else(|| VaultError::Refused(format!("{place} holds no key")))?;
        Ok(Some(SigningKey::from_bytes(&secret)))
    }

    fn make(&self) -> Result<SigningKey, VaultError> {
        let wrong = |error: &dyn std::fmt::Display| {
            VaultError::Unavailable(format!("cannot make the key {}: {error}", self.path.display()))
        };
        let mut secret = [0; SECRET];
        self.entropy.fill(&mut secret);
        // It gets its name once it is complete: a file without a whole key would have to be removed by hand.
        let partial = self.path.with_extension(format!("{}.partial", std::process::id()));
        let placed = write_new(&partial, &secret).and_then(|()| place(&partial, &self.path));
        let removed = fs::remove_file(&partial);
        match placed {
            Ok(()) => {}
            // If another process has just created a key, that one is used; a key is never overwritten.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return self.read()?.ok_or_else(|| wrong(&error)),
            Err(error) => return Err(wrong(&error)),
        }
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(wrong(&error)),
            _ => {}
        }
        sync_folder(&self.path).map_err(|error| {
            // Nothing was signed with it. Otherwise the next attempt would take its name for durable.
            let _ = fs::remove_file(&self.path);
            wrong(&error)
        })?;
        Ok(SigningKey::from_bytes(&secret))
    }
}

/// Writes a secret to a new file, durably.
fn write_new(path: &Path, secret: &[u8; SECRET]) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
    file.write_all(format!("{}\n", hex(secret)).as_bytes())?;
    file.sync_all()
}

/// Gives a complete file its name, unless there is a file of this name.
fn place(partial: &Path, path: &Path) -> std::io::Result<()> {
    match fs::hard_link(partial, path) {
        // A file system without links.
        Err(error) if error.kind() != ErrorKind::AlreadyExists && fs::symlink_metadata(path).is_err() => {
            fs::rename(partial, path)
        }
        other => other,
    }
}

impl Signer for KeyFile {
    fn public_key(&self) -> Result<PublicKey, VaultError> {
        Ok(self.key()?.verifying_key().to_bytes())
    }

    fn sign(&self, bytes: &[u8]) -> Result<Signature, VaultError> {
        Ok(self.key()?.sign(bytes).to_bytes())
    }

    fn vouches(&self, key: &PublicKey, bytes: &[u8], signature: &Signature) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(signature);
        VerifyingKey::from_bytes(key).is_ok_and(|key| key.verify_strict(bytes, &signature).is_ok())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; SECRET]> {
    let mut bytes = [0; SECRET];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn is_shared(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_shared(_: &fs::Metadata) -> bool {
    false
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent().filter(|_| cfg!(unix)) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
