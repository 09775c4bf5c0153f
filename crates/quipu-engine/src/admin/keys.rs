//! Keys: who may ask a server, and for what. `qp_<id>_<secret>`: the id is public, of the secret only a hash is kept.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use quipu_core::id::{UserId, check_name};
use quipu_core::limit;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::ports::{Clock, Entropy, KeyStore, Scope, StoredKey};

/// How every key begins.
pub const PREFIX: &str = "qp_";
/// Bytes of the id and of the secret; each is two hexadecimal digits in a key.
const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;

/// The keys of a store.
pub struct Keys {
    store: Arc<dyn KeyStore>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

/// A key without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyShown {
    /// Its public part.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it opens.
    pub scopes: Vec<Scope>,
    /// The only user it opens anything of; without one it opens all.
    pub user_id: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when it opens nothing.
    pub revoked_at: Option<Timestamp>,
}

impl From<StoredKey> for KeyShown {
    fn from(key: StoredKey) -> Self {
        let StoredKey { id, name, digest: _, scopes, user, created_at, revoked_at } = key;
        Self { id, name, scopes, user_id: user, created_at, revoked_at }
    }
}

/// A key that was just made. Its secret is nowhere else.
#[derive(Clone, Serialize)]
pub struct NewKey {
    /// The whole key, to be handed over once.
    pub key: String,
    /// The rest of it.
    #[serde(flatten)]
    pub shown: KeyShown,
}

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// Who asks, by a key that is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The id of the key.
    pub key_id: String,
    /// What it opens.
    pub scopes: Vec<Scope>,
    /// The only user it opens anything of; without one it opens all.
    pub user: Option<UserId>,
}

impl Holder {
    /// True if the key opens this; one for everything opens all.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|held| *held == scope || *held == Scope::Admin)
    }
}

impl Keys {
    /// The keys of a store.
    pub fn new(store: Arc<dyn KeyStore>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { store, clock, entropy }
    }

    /// Makes a key. Its secret is in the answer and nowhere else.
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
            created_at: quipu_core::time::to_micros(self.clock.now()),
            revoked_at: None,
            id,
        };
        self.store.put(&stored)?;
        Ok(NewKey { key: format!("{PREFIX}{}_{secret}", stored.id), shown: stored.into() })
    }

    /// Every key, oldest first, without secrets.
    ///
    /// # Errors
    /// What the store said.
    pub fn list(&self) -> Result<Vec<KeyShown>> {
        Ok(self.store.all()?.into_iter().map(KeyShown::from).collect())
    }

    /// Takes a key back: from now on it opens nothing. It stays in the list.
    ///
    /// # Errors
    /// `NotFound` without such a key.
    pub fn revoke(&self, id: &str) -> Result<KeyShown> {
        Ok(self.store.revoke(id, quipu_core::time::to_micros(self.clock.now()))?.into())
    }

    /// Takes back every key of one user, who is gone: one who comes later by the same name is somebody else. Gives the ids.
    ///
    /// # Errors
    /// What the store said; the keys before it are taken back then.
    pub fn revoke_of(&self, user: &UserId) -> Result<Vec<String>> {
        let held =
            self.store.all()?.into_iter().filter(|key| key.revoked_at.is_none() && key.user.as_ref() == Some(user));
        held.map(|key| Ok(self.revoke(&key.id)?.id)).collect()
    }

    /// True if there is a key that opens something.
    ///
    /// # Errors
    /// What the store said.
    pub fn has_any(&self) -> Result<bool> {
        Ok(self.store.all()?.iter().any(|key| key.revoked_at.is_none()))
    }

    /// Who holds a key that was shown before, by its public part; nobody once it was taken back.
    ///
    /// # Errors
    /// What the store said.
    pub fn holder_of(&self, id: &str) -> Result<Option<Holder>> {
        let Some(stored) = self.store.find(id)? else { return Ok(None) };
        let StoredKey { id, scopes, user, revoked_at, .. } = stored;
        Ok(revoked_at.is_none().then_some(Holder { key_id: id, scopes, user }))
    }

    /// Who holds a key; nobody if it is none of these, or was taken back.
    ///
    /// The key is looked up by its public part; the secret is compared by its hash, in the same time wherever it differs.
    ///
    /// # Errors
    /// What the store said.
    pub fn holder(&self, key: &str) -> Result<Option<Holder>> {
        let Some((id, secret)) = parts(key) else { return Ok(None) };
        let Some(stored) = self.store.find(id)? else { return Ok(None) };
        // `Hash` compares in constant time.
        let is_right = blake3::Hash::from_bytes(stored.digest) == digest(id, secret);
        let StoredKey { id, scopes, user, revoked_at, .. } = stored;
        Ok((is_right && revoked_at.is_none()).then_some(Holder { key_id: id, scopes, user }))
    }
}

/// Id and secret of what has the form of a key.
fn parts(key: &str) -> Option<(&str, &str)> {
    let (id, secret) = key.strip_prefix(PREFIX)?.split_once('_')?;
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let fits = id.len() == 2 * ID_BYTES && secret.len() == 2 * SECRET_BYTES && is_hex(id) && is_hex(secret);
    fits.then_some((id, secret))
}

/// The secret has 256 random bits, so a plain hash cannot be guessed back; the id keeps one digest from serving another key.
fn digest(id: &str, secret: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("quipu key v1");
    hasher.update(id.as_bytes());
    hasher.update(secret.as_bytes());
    hasher.finalize()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
