//! API keys of the form `qp_<id>_<secret>`. The id is public; only a hash of the secret is stored.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use quipu_core::id::{UserId, check_name};
use quipu_core::limit;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::ports::{Clock, Entropy, KeyStore, Scope, StoredKey};

/// Prefix of every key.
pub const PREFIX: &str = "qp_";
/// Bytes of the id and of the secret; a key has two hexadecimal digits per byte.
const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;

/// The API keys in a store.
pub struct Keys {
    store: Arc<dyn KeyStore>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

/// A key without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Key"))]
pub struct KeyShown {
    /// The public part of the key.
    pub id: String,
    /// The name given at creation.
    pub name: String,
    /// Operations the key permits.
    pub scopes: Vec<Scope>,
    /// The only user whose data the key gives access to. `None` means all users.
    pub user_id: Option<UserId>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of revocation, if revoked.
    pub revoked_at: Option<Timestamp>,
}

impl From<StoredKey> for KeyShown {
    fn from(key: StoredKey) -> Self {
        let StoredKey { id, name, digest: _, scopes, user, created_at, revoked_at } = key;
        Self { id, name, scopes, user_id: user, created_at, revoked_at }
    }
}

/// A new key. The secret is not stored anywhere else.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewKey {
    /// The complete key, to be shown once.
    pub key: String,
    /// The key without its secret.
    #[serde(flatten)]
    pub shown: KeyShown,
}

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// The holder of a valid key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The id of the key.
    pub key_id: String,
    /// Operations the key permits.
    pub scopes: Vec<Scope>,
    /// The only user whose data the key gives access to. `None` means all users.
    pub user: Option<UserId>,
}

impl Holder {
    /// Returns true if the key permits `scope`; [`Scope::Admin`] permits everything.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|held| *held == scope || *held == Scope::Admin)
    }
}

impl Keys {
    /// Manages the keys in `store`.
    pub fn new(store: Arc<dyn KeyStore>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { store, clock, entropy }
    }

    /// Creates a key. The secret is returned here and stored nowhere.
    ///
    /// # Errors
    /// `Invalid` without a scope, or for a name that is empty or too long; `Refused` with `limit::KEYS_MAX` keys.
    pub fn create(&self, name: &str, scopes: &[Scope], user: Option<&UserId>) -> Result<NewKey> {
        check_name("a key's name", name)?;
        if scopes.is_empty() {
            return Err(Error::Invalid("a key needs a scope: read, write, review or admin".to_owned()));
        }
        if self.store.all()?.len() >= limit::KEYS_MAX {
            return Err(Error::Refused(format!("there are {} keys already, revoked ones included", limit::KEYS_MAX)));
        }
        let mut scopes = scopes.to_vec();
        scopes.sort_unstable();
        scopes.dedup();
        let (mut id, mut secret) = ([0u8; ID_BYTES], [0u8; SECRET_BYTES]);
        self.entropy.fill(&mut id);
        self.entropy.fill(&mut secret);
        let (id, secret) = (hex(&id), hex(&secret));
        let stored = StoredKey {
            digest: *digest(&id, &secret).as_bytes(),
            name: name.to_owned(),
            scopes,
            user: user.cloned(),
            created_at: quipu_core::calendar::to_micros(self.clock.now()),
            revoked_at: None,
            id,
        };
        self.store.put(&stored)?;
        Ok(NewKey { key: format!("{PREFIX}{}_{secret}", stored.id), shown: stored.into() })
    }

    /// Every key, oldest first, without secrets.
    ///
    /// # Errors
    /// Any error of the store.
    pub fn list(&self) -> Result<Vec<KeyShown>> {
        Ok(self.store.all()?.into_iter().map(KeyShown::from).collect())
    }

    /// Revokes a key: it permits nothing from now on, but stays in the list.
    ///
    /// # Errors
    /// `NotFound` if there is no such key.
    pub fn revoke(&self, id: &str) -> Result<KeyShown> {
        Ok(self.store.revoke(id, quipu_core::calendar::to_micros(self.clock.now()))?.into())
    }

    /// Revokes every key of a deleted user, so that they do not open the memory of a later user of the same name.
    /// Returns the ids.
    ///
    /// # Errors
    /// Any error of the store; the keys before the failing one are revoked.
    pub fn revoke_of(&self, user: &UserId) -> Result<Vec<String>> {
        let held =
            self.store.all()?.into_iter().filter(|key| key.revoked_at.is_none() && key.user.as_ref() == Some(user));
        held.map(|key| Ok(self.revoke(&key.id)?.id)).collect()
    }

    /// Returns true if there is a key that is not revoked.
    ///
    /// # Errors
    /// Any error of the store.
    pub fn has_any(&self) -> Result<bool> {
        Ok(self.store.all()?.iter().any(|key| key.revoked_at.is_none()))
    }

    /// Finds the holder of a key by the key's id. `None` if the key is unknown or revoked.
    ///
    /// # Errors
    /// Any error of the store.
    pub fn holder_of(&self, id: &str) -> Result<Option<Holder>> {
        let Some(stored) = self.store.find(id)? else { return Ok(None) };
        let StoredKey { id, scopes, user, revoked_at, .. } = stored;
        Ok(revoked_at.is_none().then_some(Holder { key_id: id, scopes, user }))
    }

    /// Finds the holder of a complete key. `None` if the key is unknown, wrong or revoked.
    ///
    /// The key is looked up by its id; the hash of the secret is compared in constant time.
    ///
    /// # Errors
    /// Any error of the store.
    pub fn holder(&self, key: &str) -> Result<Option<Holder>> {
        let Some((id, secret)) = parts(key) else { return Ok(None) };
        let Some(stored) = self.store.find(id)? else { return Ok(None) };
        // `Hash` compares in constant time.
        let is_right = blake3::Hash::from_bytes(stored.digest) == digest(id, secret);
        let StoredKey { id, scopes, user, revoked_at, .. } = stored;
        Ok((is_right && revoked_at.is_none()).then_some(Holder { key_id: id, scopes, user }))
    }
}

/// Splits a well-formed key into id and secret.
fn parts(key: &str) -> Option<(&str, &str)> {
    let (id, secret) = key.strip_prefix(PREFIX)?.split_once('_')?;
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let fits = id.len() == 2 * ID_BYTES && secret.len() == 2 * SECRET_BYTES && is_hex(id) && is_hex(secret);
    fits.then_some((id, secret))
}

/// Hashes the secret together with the id, so that a digest is valid for one key only. The secret has 256 random bits,
/// so a fast hash is enough.
fn digest(id: &str, secret: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("quipu key v1");
    hasher.update(id.as_bytes());
    hasher.update(secret.as_bytes());
    hasher.finalize()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
