//! Seals what a store keeps with keys that can be destroyed.
//!
//! [`EncryptedStore`] wraps any [`LedgerStore`](quipu_engine::ports::LedgerStore). Payload and salt of each change,
//! snapshots, projections and vectors are sealed with a random key of the user (XChaCha20-Poly1305) before the store
//! receives them. The user's keys are in a [`UserKeyStore`](quipu_engine::ports::UserKeyStore), wrapped by a master key.
//! Headers, and with them the hash chain, idempotency keys and times, are not sealed.
//!
//! Deleting a user destroys the keys. An erasure of single changes makes a new key, seals with it what remains, and destroys
//! the previous one, so that copies of the erased payloads which the store cannot reach become unreadable.

mod keyring;
mod ledger;
mod master;
mod pieces;
mod rotation;
mod seal;
mod store;
mod user_keys;

pub use master::{MasterKeys, new_master_key};
pub use rotation::{Rewrapped, rewrap};
pub use store::EncryptedStore;
pub use user_keys::UserKeys;
