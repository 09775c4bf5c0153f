//! Who vouches for what is handed on: a key pair, and the check of a signature.

use super::vault::VaultError;

/// A public key, 32 bytes (Ed25519).
pub type PublicKey = [u8; 32];
/// A signature, 64 bytes (Ed25519).
pub type Signature = [u8; 64];

/// Signs with a key of its own, and checks what others signed.
pub trait Signer: Send + Sync {
    /// The key others check with. Makes one the first time.
    ///
    /// # Errors
    /// `Refused` for a file that is no key; `Unavailable` if it cannot be read or made.
    fn public_key(&self) -> Result<PublicKey, VaultError>;

    /// Signs bytes.
    ///
    /// # Errors
    /// As [`Signer::public_key`].
    fn sign(&self, bytes: &[u8]) -> Result<Signature, VaultError>;

    /// True if the key made this signature over these bytes.
    fn vouches(&self, key: &PublicKey, bytes: &[u8], signature: &Signature) -> bool;
}
