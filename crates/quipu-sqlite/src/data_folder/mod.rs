//! The data folder: which file belongs to whom, locks between processes, and steps that move databases.

pub(crate) mod ballast;
pub(crate) mod copies;
pub(crate) mod disk;
pub(crate) mod folder;
pub(crate) mod lock;
pub(crate) mod mark;
pub(crate) mod steps;
pub(crate) mod stripe;
