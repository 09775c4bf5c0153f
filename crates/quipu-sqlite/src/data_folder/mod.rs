//! Files without SQLite: durable file operations, locks between processes, the reserve for a full disk, and errors.

pub(crate) mod ballast;
pub(crate) mod disk;
pub(crate) mod fault;
pub(crate) mod lock;
pub(crate) mod stripe;
