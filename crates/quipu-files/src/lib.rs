//! Plain files on a local disk: implements the port `Vault` with a folder.
//!
//! Every folder on the path to a file is opened relative to its parent and never through a link, so that nothing
//! placed in a vault makes Quipu read or write elsewhere. Files are replaced atomically: written to a temporary file,
//! synced, and renamed. The crate also manages the key that signs exported data.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod fault;
#[cfg(unix)]
mod folder;
mod signing_key;
#[cfg(unix)]
mod tree;

#[cfg(not(unix))]
pub use elsewhere::FolderVault;
#[cfg(unix)]
pub use folder::FolderVault;
pub use signing_key::KeyFile;
