//! Port for signing and verifying with a key pair.

use super::vault::VaultError;

/// A public key, 32 bytes (Ed25519).
pub type PublicKey = [u8; 32];
/// A signature, 64 bytes (Ed25519).
pub type Signature = [u8; 64];

/// Signs with its own key and verifies signatures of others.
pub trait Signer: Send + Sync {
    /// The public key. Creates the key pair at first use.
    ///
    /// # Errors
    /// `Refused` for a file that is not a key; `Unavailable` if it cannot be read or created.
    fn public_key(&self) -> Result<PublicKey, VaultError>;

    /// Signs bytes.
    ///
    /// # Errors
    /// As [`Signer::public_key`].
    fn sign(&self, bytes: &[u8]) -> Result<Signature, VaultError>;

    /// Returns true if `signature` is valid for these bytes and this key.
    fn vouches(&self, key: &PublicKey, bytes: &[u8], signature: &Signature) -> bool;
}
