//! Master keys, which wrap the keys of users.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use data_encoding::HEXLOWER_PERMISSIVE;
use quipu_core::id::UserId;
use quipu_engine::ports::{Entropy, StoreError, UserKeyId, WrappedKey};
use zeroize::Zeroizing;

use crate::pieces::{KEY_BYTES, NONCE_BYTES, Secret};
use crate::seal::{decrypt, encrypt, fresh_nonce};

/// The master keys of this run: the first wraps new keys, the others only open what they wrapped.
///
/// A text of master keys has one key on each line, 64 hexadecimal digits. Empty lines and lines that start with `#` are
/// ignored.
pub struct MasterKeys {
    /// The file that is read again when an unknown master key is met.
    file: Option<PathBuf>,
    keys: RwLock<Vec<MasterKey>>,
}

#[derive(Clone)]
struct MasterKey {
    id: [u8; 8],
    secret: Secret,
}

impl fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MasterKeys").field("file", &self.file).finish_non_exhaustive()
    }
}

/// The text of a new random master key, for a file or the environment.
pub fn new_master_key(entropy: &dyn Entropy) -> Zeroizing<String> {
    let mut secret: Secret = Zeroizing::new([0; KEY_BYTES]);
    entropy.fill(secret.as_mut_slice());
    Zeroizing::new(HEXLOWER_PERMISSIVE.encode(secret.as_slice()))
}

impl MasterKeys {
    /// Reads master keys from a file. It is read again when a key is met that another master key wraps, so a rotation needs
    /// no restart.
    ///
    /// # Errors
    /// `Unavailable` if the file cannot be read, is readable by other users of the machine, or has no key.
    pub fn from_file(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { keys: RwLock::new(read(path)?), file: Some(path.to_owned()) })
    }

    /// Reads master keys from a text. `source` says in messages where it is from.
    ///
    /// # Errors
    /// `Unavailable` if it has no key, or something else.
    pub fn from_text(text: &str, source: &str) -> Result<Self, StoreError> {
        Ok(Self { keys: RwLock::new(parse(text, source)?), file: None })
    }

    /// The id of the key that wraps new keys, in hexadecimal. It can be shown: it is a hash.
    pub fn current(&self) -> String {
        self.keys().first().map(|key| HEXLOWER_PERMISSIVE.encode(&key.id)).unwrap_or_default()
    }

    /// Whether a key is wrapped by the current master key.
    pub(crate) fn is_current(&self, key: &WrappedKey) -> bool {
        self.keys().first().is_some_and(|master| master.id == key.master)
    }

    fn keys(&self) -> Vec<MasterKey> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Wraps a user's key with the current master key. Returns the id of the master key with it.
    pub(crate) fn wrap(
        &self,
        user: &UserId,
        id: &UserKeyId,
        secret: &Secret,
        entropy: &dyn Entropy,
    ) -> Result<([u8; 8], Vec<u8>), StoreError> {
        if let Some(path) = &self.file {
            // Keys are made rarely, and one wrapped by a master key that was removed from the file would be lost.
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = read(path)?;
        }
        let keys = self.keys();
        let master = keys.first().ok_or_else(|| StoreError::Unavailable("there is no master key".to_owned()))?;
        let nonce = fresh_nonce(entropy);
        let sealed = encrypt(&master.secret, &nonce, &bound(user, id, &master.id), secret.as_slice())?;
        Ok((master.id, [nonce.as_slice(), &sealed].concat()))
    }

    /// Opens a wrapped key.
    ///
    /// # Errors
    /// `Unavailable` if the master key is not among these; `Corrupt` if the wrapped key was changed.
    pub(crate) fn unwrap(&self, key: &WrappedKey) -> Result<Secret, StoreError> {
        let find = || self.keys().into_iter().find(|master| master.id == key.master);
        let mut master = find();
        if let (None, Some(path)) = (&master, &self.file) {
            let again = read(path)?;
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = again;
            master = find();
        }
        let master = master.ok_or_else(|| self.unknown(key))?;
        let opened = key.wrapped.split_first_chunk::<NONCE_BYTES>().and_then(|(nonce, sealed)| {
            let plain = decrypt(&master.secret, nonce, &bound(&key.user, &key.id, &master.id), sealed)?;
            Some(Zeroizing::new(plain.as_slice().try_into().ok()?))
        });
        opened.ok_or_else(|| {
            StoreError::Corrupt(format!(
                "the key {} of user {} is damaged in the key store. Nothing was changed. Put a backup of the key store in its \
                 place",
                HEXLOWER_PERMISSIVE.encode(&key.id),
                key.user
            ))
        })
    }

    fn unknown(&self, key: &WrappedKey) -> StoreError {
        let known: Vec<String> = self.keys().iter().map(|master| HEXLOWER_PERMISSIVE.encode(&master.id)).collect();
        StoreError::Unavailable(format!(
            "the key of user {} is wrapped by the master key {}, and only {} is given here. Nothing was changed. Add that \
             master key as another line of the master key file (`master_key_file`), or of QUIPU_MASTER_KEY",
            key.user,
            HEXLOWER_PERMISSIVE.encode(&key.master),
            known.join(", ")
        ))
    }
}

/// What a wrapped key is bound to.
fn bound<'a>(user: &'a UserId, id: &'a UserKeyId, master: &'a [u8; 8]) -> [&'a [u8]; 4] {
    [b"quipu wrapped user key v1", user.as_str().as_bytes(), id, master]
}

fn read(path: &Path) -> Result<Vec<MasterKey>, StoreError> {
    let fail = |why: String| {
        StoreError::Unavailable(format!("cannot read the master key in {}: {why}. Nothing was changed", path.display()))
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let found = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?;
        if found.permissions().mode() & 0o077 != 0 {
            return Err(fail("other users of this machine may read it. Run `chmod 600` on it".to_owned()));
        }
    }
    let text = Zeroizing::new(std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?);
    parse(&text, &path.display().to_string())
}

fn parse(text: &str, source: &str) -> Result<Vec<MasterKey>, StoreError> {
    let mut keys = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let bytes = HEXLOWER_PERMISSIVE.decode(line.as_bytes()).map(Zeroizing::new);
        let secret = bytes.ok().and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).ok());
        let secret = Zeroizing::new(secret.ok_or_else(|| {
            // The line is not shown: it may be a key with a typing error.
            StoreError::Unavailable(format!(
                "{source} has a line that is no master key: a key is 64 hexadecimal digits. Nothing was changed. `quipu \
                 user-keys new FILE` makes one"
            ))
        })?);
        let mut id = [0; 8];
        id.copy_from_slice(&blake3::derive_key("quipu master key id v1", secret.as_slice())[..8]);
        keys.push(MasterKey { id, secret });
    }
    if keys.is_empty() {
        return Err(StoreError::Unavailable(format!(
            "{source} has no master key. Nothing was changed. `quipu user-keys new FILE` makes one"
        )));
    }
    Ok(keys)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use jiff::Timestamp;
    use quipu_engine::ports::UserKeyState;
    use quipu_testkit::SeededEntropy;

    use super::*;

    fn wrapped(masters: &MasterKeys, secret: &Secret) -> WrappedKey {
        let (user, id) = (UserId::parse("me").unwrap(), [5; 8]);
        let (master, wrapped) = masters.wrap(&user, &id, secret, &SeededEntropy::new(8)).unwrap();
        WrappedKey {
            user,
            id,
            state: UserKeyState::Active,
            retired_by: Vec::new(),
            made_at: Timestamp::UNIX_EPOCH,
            master,
            wrapped,
        }
    }

    #[test]
    fn a_wrapped_key_opens_for_its_user_and_id_only() {
        let text = new_master_key(&SeededEntropy::new(1));
        let masters = MasterKeys::from_text(&text, "test").unwrap();
        let secret = Zeroizing::new([7; 32]);
        let key = wrapped(&masters, &secret);
        assert_eq!(key.wrapped.len(), 72);
        assert_eq!(masters.unwrap(&key).unwrap(), secret);
        let mut flipped = key.clone();
        flipped.wrapped[40] ^= 1;
        for wrong in [
            WrappedKey { user: UserId::parse("you").unwrap(), ..key.clone() },
            WrappedKey { id: [6; 8], ..key.clone() },
            WrappedKey { wrapped: vec![1; 10], ..key.clone() },
            flipped,
        ] {
            assert!(matches!(masters.unwrap(&wrong), Err(StoreError::Corrupt(_))));
        }
        let other = MasterKeys::from_text(&new_master_key(&SeededEntropy::new(2)), "test").unwrap();
        let told = other.unwrap(&key).unwrap_err();
        assert!(matches!(&told, StoreError::Unavailable(text) if text.contains(&masters.current())), "{told}");
        // Both are accepted during a rotation.
        let both = format!("# new, then old\n{}\n\n{}\n", *new_master_key(&SeededEntropy::new(2)), *text);
        let both = MasterKeys::from_text(&both, "test").unwrap();
        assert_eq!(both.unwrap(&key).unwrap(), secret);
        assert!(!both.is_current(&key) && both.current() == other.current());
    }

    #[test]
    fn a_text_without_a_key_is_refused_and_not_shown() {
        for text in ["", "# comment\n", "abc", &"5ec3e7".repeat(11)] {
            let told = MasterKeys::from_text(text, "here").unwrap_err().to_string();
            assert!(told.contains("here has") && !told.contains("5ec3e7"), "{told}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_read_again_when_an_unknown_master_key_is_met_and_others_may_not_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master");
        let (old, new) = (new_master_key(&SeededEntropy::new(1)), new_master_key(&SeededEntropy::new(2)));
        std::fs::write(&path, old.as_bytes()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let told = MasterKeys::from_file(&path).unwrap_err().to_string();
        assert!(told.contains("chmod 600"), "{told}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let masters = MasterKeys::from_file(&path).unwrap();
        let key = wrapped(&MasterKeys::from_text(&new, "test").unwrap(), &Zeroizing::new([7; 32]));
        assert!(matches!(masters.unwrap(&key), Err(StoreError::Unavailable(_))));
        std::fs::write(&path, format!("{}\n{}\n", *new, *old)).unwrap();
        assert_eq!(masters.unwrap(&key).unwrap(), Zeroizing::new([7; 32]));
        assert!(masters.is_current(&key));
    }
}
