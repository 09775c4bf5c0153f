//! Plain files on a local disk: the port `Vault` over a folder.
//!
//! Every folder on the way to a file is opened from the one above it and never through a link, so that nothing a person or
//! a program puts into a vault makes Quipu read or write elsewhere. A file appears whole: it is written beside its place,
//! made durable, and renamed into it. Beside the folders, the key that vouches for what is handed on.

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
